"""Rule options: what a game can be told, checked where it is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cardenvs.core.errors import OptionError


@dataclass(frozen=True)
class Option:
    """An option of a game; in the row, the field of the same name holds its code.

    Attributes:
        name: the keyword.
        default: its value when not given.
        allowed: a range of ints, or the values that it takes.
        description: for the docs.
    """

    name: str
    default: int | str | bool
    allowed: range | tuple[int | str | bool, ...]
    description: str

    def code(self, value: Any) -> int:
        """Return what the row holds for a value: a number itself, else its place in `allowed`.

        Raises:
            OptionError: if the option does not take the value.
        """
        for place, candidate in enumerate(self.allowed):
            if type(value) is type(candidate) and value == candidate:
                return value if type(value) is int else place
        raise OptionError(f"{self.name}={value!r}: allowed are {self.allowed_text}")

    @property
    def allowed_text(self) -> str:
        """The allowed values, as text."""
        if isinstance(self.allowed, range):
            return f"the whole numbers from {self.allowed[0]} to {self.allowed[-1]}"
        return ", ".join(repr(value) for value in self.allowed)


#: An option of every game, for the core plays the forced nodes.
SKIP_FORCED = Option(
    "skip_forced",
    True,
    (False, True),
    "ask only where two or more actions are legal, and play the forced ones",
)


def resolve_options(options: Sequence[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of every option, the given ones checked.

    Raises:
        OptionError: if an option does not exist or does not take the value.
    """
    known = {option.name: option for option in options}
    for name, value in given.items():
        if name not in known:
            raise OptionError(f"no option is called {name!r}; there are {', '.join(sorted(known))}")
        known[name].code(value)
    return {name: given.get(name, option.default) for name, option in known.items()}


def read_option(options: Sequence[Option], text: str) -> tuple[str, int | str | bool]:
    """Return the name and the value of an option given as text, such as "num_players=4".

    A name or a value that is not allowed comes back as it is: `resolve_options` says what there is.

    Raises:
        OptionError: if the text is of another form.
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise OptionError(f"an option is given as NAME=VALUE, not {text!r}")
    for option in options:
        if option.name == name:
            found = [allowed for allowed in option.allowed if str(allowed) == value]
            return name, found[0] if found else value
    return name, value


def options_table(options: Sequence[Option]) -> str:
    """Return the options as a table in Markdown."""
    lines = ["| Option | Default | Allowed | Meaning |", "|---|---|---|---|"]
    lines += [
        f"| `{option.name}` | `{option.default!r}` | {option.allowed_text} | {option.description} |"
        for option in options
    ]
    return "\n".join(lines)
