"""GitHub's expressions (`${{ a.b == 'c' && success() }}`), as far as our workflows use them; anything else is an error.

Source: GitHub's documentation of workflow expressions: `==` compares texts without regard to case, `&&` and `||` give an operand, a
context value that is missing is empty.
"""
import re

TOKEN = re.compile(r"\s*(?:('(?:[^']|'')*')|(&&|\|\||==|!=|!|\(|\)|,)|([A-Za-z_][\w-]*(?:\.[\w-]+)*)|(\d+))")


class Expression:
    """Evaluates one text with `contexts` (nested dicts) and `functions`."""

    def __init__(self, text: str, contexts: dict, functions: dict):
        self.contexts, self.functions, self.tokens, at = contexts, functions, [], 0
        while text[at:].strip():
            match = TOKEN.match(text, at)
            if not match:
                raise ValueError(f"not understood: {text[at:]!r}")
            self.tokens.append(match.groups())
            at = match.end()
        self.at = 0

    def value(self):
        result = self.either()
        if self.at != len(self.tokens):
            raise ValueError(f"not understood: {self.tokens[self.at:]}")
        return result

    def taken(self, *signs) -> str:
        if self.at < len(self.tokens) and self.tokens[self.at][1] in signs:
            self.at += 1
            return self.tokens[self.at - 1][1]
        return ""

    def either(self):
        left = self.both()
        while self.taken("||"):
            right = self.both()
            left = left or right
        return left

    def both(self):
        left = self.compared()
        while self.taken("&&"):
            right = self.compared()
            left = left and right
        return left

    def compared(self):
        left = self.single()
        while sign := self.taken("==", "!="):
            right = self.single()
            left = (plain(left) == plain(right)) == (sign == "==")
        return left

    def single(self):
        if self.taken("!"):
            return not self.single()
        if self.taken("("):
            inner = self.either()
            assert self.taken(")")
            return inner
        text, _, name, number = self.tokens[self.at]
        self.at += 1
        if text is not None:
            return text[1:-1].replace("''", "'")
        if number is not None:
            return int(number)
        if self.taken("("):
            assert self.taken(")"), "functions with arguments are not known here"
            return self.functions[name]()
        return {"true": True, "false": False, "null": None}.get(name) if name in ("true", "false", "null") else self.looked_up(name)

    def looked_up(self, name: str):
        value = self.contexts
        for number, part in enumerate(name.split(".")):
            if number == 0 and part not in value:
                raise ValueError(f"no such context: {name}")
            value = value.get(part) if isinstance(value, dict) else None
        return value


def plain(value):
    """As the comparison sees it."""
    return "" if value is None else value.lower() if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


def text_of(value) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
