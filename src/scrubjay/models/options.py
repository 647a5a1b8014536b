"""Options: fields of a dataclass that say once what each surface must know of them.

The fields of a new memory (`models.lifecycle.NewMemory`) and the options of a search (`search.request.SearchOptions`)
are declared so. Flags of the command line, HTTP forms, arguments of tools and checks are derived from the declarations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import Field, field, fields, is_dataclass, replace
from functools import cache
from typing import Any, Final, TypeVar

from scrubjay.errors import InputError
from scrubjay.frozen import frozen

T = TypeVar("T")

MAX_STORED: Final = 2**63 - 1
"""Largest whole number of a store: it has 64 bits."""


@frozen
class Option:
    """One option, from which every surface makes its own: flag, HTTP field, tool argument.

    Attributes:
        name: Name in Python, in HTTP and for the daemon.
        annotation: Its annotation, such as ``int | None``.
        default: The default; None often takes a setting.
        help: One sentence, for the command line.
        flags: Flags of the command line, in click's notation; empty for none.
        metavar: The value in the command's help; a list with one is a single text that the command parses.
        flag_default: The command line's own default.
        setting: The setting that None takes, as ``recall.limit``.
        noun: What an error calls one of the choices; empty where the option's reader checks them.
        choices: All possible values, or, of a number, the texts that may take its place.
        bounds: Minimum and maximum of a number; None for no maximum.
        project: Whether it names projects, which a server does not take as paths.
        tool: Name of the argument of ``memory_search``; empty for none.
        tool_help: Help for a model.
    """

    name: str = ""
    annotation: str = ""
    default: Any = None
    help: str = ""
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    flag_default: str | None = None
    setting: str = ""
    noun: str = ""
    choices: tuple[str, ...] = ()
    bounds: tuple[int, int | None] | None = None
    project: bool = False
    tool: str = ""
    tool_help: str = ""

    @property
    def kind(self) -> str:
        """Its annotation without None, such as ``int``."""
        return self.annotation.removesuffix(" | None")

    @property
    def several(self) -> bool:
        """Whether it is a list."""
        return self.annotation.startswith("Sequence")


def option(default: T, *flags: str, **shown: Any) -> T:
    """Declare a field as an option; ``shown`` are the fields of `Option`."""
    declared: T = field(default=default, metadata={"option": Option(flags=flags, **shown)})
    return declared


@cache
def _declared_option(item: Field[Any]) -> Option:
    """Return the option that a field declares."""
    declared: Option = item.metadata["option"]
    return replace(declared, name=item.name, annotation=str(item.type), default=item.default)


def options_of(kind: type) -> tuple[Option, ...]:
    """Return the declared options of a class in order, those of its groups in the groups' places."""
    options: list[Option] = []
    for item in fields(kind):
        if "option" in item.metadata:
            options.append(_declared_option(item))
        elif is_dataclass(item.default):
            group: Any = item.default
            options += [replace(one, default=getattr(group, one.name)) for one in options_of(type(group))]
    return tuple(options)


def check_options(options: object) -> None:
    """Check lists, choices and bounds as they are declared; None is checked only where it is not the default.

    Raises:
        InputError: An option has a value it cannot have.
    """
    for item in fields(options):  # type: ignore[arg-type]
        value = getattr(options, item.name)
        if "option" in item.metadata:
            declared = _declared_option(item)
            if value is not None or declared.default is not None:
                _check_value(declared, value)
        elif is_dataclass(value):
            check_options(value)


def _check_value(declared: Option, value: Any) -> None:
    if declared.several and isinstance(value, str):
        raise InputError(f"{declared.name} is {value!r}, one text; give a list of them.")
    if declared.noun:
        check_choices(declared.noun, value if declared.several else (value,), declared.choices)
    elif declared.bounds is not None and not declared.choices:
        least, most = declared.bounds
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        is_part = declared.kind == "int" and is_number and value % 1
        if not is_number or is_part or not least <= value <= (MAX_STORED if most is None else most):
            wanted = f"lie between {least} and {most}"
            if most is None:
                wanted = f"be a whole number from {least} to {MAX_STORED}"
            raise InputError(f"{declared.name} is {value!r}; it must {wanted}.")


def check_choices(noun: str, values: Iterable[str], known: Sequence[str]) -> None:
    for name in values:
        if name not in known:
            raise InputError(f"{noun} {name!r} is not one of {', '.join(known)}.")
