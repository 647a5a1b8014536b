"""Frozen values behave as frozen dataclasses do, though their methods are made otherwise."""

from __future__ import annotations

import copy
import pickle
from dataclasses import KW_ONLY, FrozenInstanceError, asdict, dataclass, field, fields, replace

import pytest

from scrubjay.frozen import frozen


@dataclass(frozen=True, slots=True)
class Plain:
    name: str
    size: int = 0
    tags: list[str] = field(default_factory=list, hash=False)
    _: KW_ONLY
    seen: int = field(default=1, compare=False)


@frozen
class Frozen:
    name: str
    size: int = 0
    tags: list[str] = field(default_factory=list, hash=False)
    _: KW_ONLY
    seen: int = field(default=1, compare=False)


@frozen
class Longer(Frozen):
    last: str = ""


@frozen
class Locked:
    owner: str
    key: str = field(default="", repr=False)


@pytest.mark.parametrize("arguments", [(), ("a", 1, [], 2)])
def test_wrong_arguments_are_refused_with_the_same_words(arguments: tuple[object, ...]) -> None:
    words = []
    for kind in (Plain, Frozen):
        with pytest.raises(TypeError) as refused:
            kind(*arguments)  # type: ignore[arg-type]
        words.append(str(refused.value).removeprefix(kind.__name__))
    assert words[0] == words[1]


def test_a_value_has_the_defaults_and_the_text_of_a_dataclass() -> None:
    assert str(Frozen("a")).removeprefix("Frozen") == str(Plain("a")).removeprefix("Plain")
    assert asdict(Frozen("a", seen=3)) == asdict(Plain("a", seen=3))
    assert Frozen("a").tags is not Frozen("a").tags
    assert [one.name for one in fields(Longer)] == ["name", "size", "tags", "seen", "last"]
    assert Longer("a", 1, [], "z").last == "z"


def test_a_value_is_equal_by_the_fields_that_count_and_by_its_class() -> None:
    assert Frozen("a", seen=1) == Frozen("a", seen=2) != Frozen("b")
    assert Frozen("a") != Longer("a")


def test_a_value_does_not_change_and_can_be_copied() -> None:
    value = Longer("a", 2, ["x"], "z", seen=4)
    with pytest.raises(FrozenInstanceError):
        value.size = 3  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del value.size
    for other in (copy.deepcopy(value), pickle.loads(pickle.dumps(value)), replace(value)):
        assert (other, other is value) == (value, False)
    assert replace(value, size=5).size == 5


def test_a_text_leaves_out_what_is_not_to_be_shown() -> None:
    assert repr(Locked("ann", "secret")) == "Locked(owner='ann')"
