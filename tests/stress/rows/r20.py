"""R20: requests that two programs read in two ways, each with another one hidden behind it: refused and closed directly; behind nginx and
HAProxy, where they are installed, nothing is answered that the proxy did not send."""
import smuggling
from service import Service
from stress import check


def run(stress) -> str:
    with Service(header_time_max="1 s", body_grace="1 s", requests_per_address_max=0) as service:
        token = service.token("demo", "read")
        cases, every = len(smuggling.cases(token)), stress.count(1, 4)
        found = {"directly": (cases, smuggling.direct(service, token))}
        proxies = [name for name in smuggling.PROXIES if smuggling.program_of(name)]
        for name in stress.count(proxies, proxies[:1]):
            found[f"behind {name}"] = (len(range(0, cases, every)), smuggling.behind(name, service, token, every))
        figures = ", ".join(f"{tried - len(wrong)} of {tried} {where}" for where, (tried, wrong) in found.items())
        absent = [name for name in smuggling.PROXIES if name not in proxies]
        if absent:
            figures += f" ({' and '.join(absent)}: not installed)"
        wrong = {f"{where}: {case}": why for where, (_, failed) in found.items() for case, why in failed.items()}
        check(not wrong and cases >= 40, f"{figures}; {wrong}")
        return figures
