"""R20: requests that two programs read in two ways, each with another one hidden behind it: refused and closed directly; behind nginx and
HAProxy nothing is answered that the proxy did not send. Without either of them nothing is proven, and the row fails."""
import smuggling
from service import Service
from stress import check


def run(stress) -> str:
    with Service(header_time_max="1 s", body_grace="1 s", requests_per_address_max=0) as service:
        token = service.token("demo", "read")
        absent = [name for name in smuggling.PROXIES if not smuggling.program_of(name)]
        check(not absent, f"{' and '.join(absent)}: not installed; ./dev setup installs them")
        cases, every = len(smuggling.cases(token)), stress.count(1, 4)
        found = {"directly": (cases, smuggling.direct(service, token))}
        proxies = list(smuggling.PROXIES)
        for name in stress.count(proxies, proxies[:1]):
            found[f"behind {name}"] = (len(range(0, cases, every)), smuggling.behind(name, service, token, every))
        figures = ", ".join(f"{tried - len(wrong)} of {tried} {where}" for where, (tried, wrong) in found.items())
        wrong = {f"{where}: {case}": why for where, (_, failed) in found.items() for case, why in failed.items()}
        check(not wrong and cases >= 40, f"{figures}; {wrong}")
        return figures
