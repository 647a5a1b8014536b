"""Forms: what a request may say, in the words that the facade's own documentation has for it.

A field that a method of the facade takes is described by that method's docstring, so that the two never differ.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

LARGEST: Final = 2**53
"""Whole numbers beyond this are not the same in every language that speaks JSON."""
MOST_ITEMS: Final = 1_000
"""Texts of one list."""

_SECTION: Final = re.compile(r"^(?:Args|Attributes):\n((?:[ ]{4}.*\n|\n)*)", re.MULTILINE)
_ITEM: Final = re.compile(r"^ {4}(\w+): (.*(?:\n {5,}.*)*)", re.MULTILINE)

Model = TypeVar("Model", bound=BaseModel)


class Form(BaseModel):
    """What a body of JSON says: nothing that is not known, no text for a number."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    def given(self) -> dict[str, Any]:
        """Return what was said, and nothing that was not."""
        return self.model_dump(exclude_unset=True)


LAX: Final = ConfigDict(strict=False)
"""What is asked by GET comes as text."""


def _elsewhere(project: str) -> str:
    if project.startswith((".", "/", "~", "\\")):
        raise ValueError("a path means nothing to a server elsewhere; give the project's name")
    return project


Words = Annotated[list[str], Field(max_length=MOST_ITEMS)]
Count = Annotated[int, Field(ge=0, le=LARGEST)]
Project = Annotated[str, AfterValidator(_elsewhere)]
Share = Annotated[float, Field(ge=0, le=1)]
Moment = str | None
Ids = Annotated[list[str], Field(min_length=1, max_length=MOST_ITEMS)]
Visibility = Literal["user", "group", "public"]


def meanings(told: object) -> dict[str, str]:
    """Return what a docstring says of each argument or attribute.

    >>> from scrubjay.engine import Memory
    >>> meanings(Memory.search)["limit"]
    'Most results.'
    """
    found = _SECTION.search((inspect.getdoc(told) or "") + "\n")
    items = _ITEM.findall(found[1]) if found else []
    return {name: _plain(words) for name, words in items}


def _plain(words: str) -> str:
    said = re.sub(r"\bNone\b", "null", " ".join(words.split()).replace("``", "`"))
    return said.rstrip(", and").rstrip() if said.endswith((",", ", and")) else said


def as_in(*told: object) -> Callable[[type[Model]], type[Model]]:
    """Describe the fields of a form by what the facade says of the arguments of the same name, the first first."""
    words: dict[str, str] = {}
    for each in reversed(told):
        words |= meanings(each)

    def described(form: type[Model]) -> type[Model]:
        for name, field in form.model_fields.items():
            if field.description is None:
                field.description = words.get(name)
        form.model_rebuild(force=True)
        return form

    return described
