"""Links that a caller makes and takes away."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scrubjay import Memory
from scrubjay.errors import InputError, NotFoundError


@pytest.fixture
def memory(opened: Callable[..., Memory]) -> Memory:
    return opened()


@pytest.fixture
def ids(memory: Memory) -> list[str]:
    return [memory.add(word).id for word in ("ash", "birch", "cedar")]


def test_two_memories_are_joined_by_the_beginnings_of_their_ids(memory: Memory, ids: list[str]) -> None:
    made = memory.link(ids[0][:-1], ids[1][:-1], "supersedes", 0.5, "by hand")
    assert (made.id, made.kind, made.direction, made.weight, made.rule, made.given, made.phrase) == (
        ids[1],
        "supersedes",
        "to",
        0.5,
        "by hand",
        True,
        "birch",
    )
    assert memory.links(ids[0][:-1]) == (made,)
    (back,) = memory.links(ids[1])
    assert (back.id, back.direction, back.weight) == (ids[0], "from", 0.5)
    assert memory.links(ids[2]) == ()


@pytest.mark.parametrize("kind", ["links", "derived_from", "supersedes", "contradicts"])
def test_every_kind_that_a_caller_may_make_is_made_and_unmade(
    memory: Memory, ids: list[str], kind: str
) -> None:
    memory.link(ids[0], ids[1], kind)
    memory.link(ids[0], ids[2], kind)
    assert [link.kind for link in memory.links(ids[0])] == [kind, kind]
    memory.unlink(ids[0], ids[1], kind)
    assert [link.id for link in memory.links(ids[0])] == [ids[2]]


def test_joining_again_changes_the_weight(memory: Memory, ids: list[str]) -> None:
    memory.link(ids[0], ids[1], weight=0.25)
    memory.link(ids[0], ids[1], weight=0.75)
    assert [link.weight for link in memory.links(ids[0])] == [0.75]


def test_what_cannot_be_joined_is_refused_with_the_reason(memory: Memory, ids: list[str]) -> None:
    with pytest.raises(NotFoundError, match="No memory 'obs_zz'"):
        memory.link(ids[0], "obs_zz")
    with pytest.raises(NotFoundError, match="Several ids begin"):
        memory.link("obs_", ids[0])
    with pytest.raises(NotFoundError, match="No memory ''"):
        memory.links("")
    with pytest.raises(InputError, match="linked to itself"):
        memory.link(ids[0], ids[0])
    for weight in (-0.1, 1.1, float("nan")):
        with pytest.raises(InputError, match="0 to 1"):
            memory.link(ids[0], ids[1], weight=weight)
    for weight in (True, "1"):
        with pytest.raises(InputError, match="not a number"):
            memory.link(ids[0], ids[1], weight=weight)  # type: ignore[arg-type]
    for kind in ("similar", "references", "likes"):
        with pytest.raises(InputError, match="is not one of links"):
            memory.link(ids[0], ids[1], kind)
    assert memory.links(ids[0]) == ()


def test_only_what_is_joined_is_parted_and_the_other_way_round_is_told(
    memory: Memory, ids: list[str]
) -> None:
    memory.link(ids[0], ids[1])
    with pytest.raises(NotFoundError, match="No link of kind links") as raised:
        memory.unlink(ids[1], ids[0])
    assert "goes the other way" in raised.value.hint
    with pytest.raises(NotFoundError):
        memory.unlink(ids[0], ids[1], "supersedes")
    with pytest.raises(InputError):
        memory.unlink(ids[0], ids[1], "similar")
    assert len(memory.links(ids[0])) == 1


def test_what_a_person_joins_others_do_not_see(opened: Callable[..., Memory]) -> None:
    ann, bob = opened(user="ann"), opened(user="bob")
    one, other = (ann.add(word, visibility="public").id for word in ("ash", "birch"))
    ann.link(one, other)
    assert len(ann.links(one)) == 1
    assert bob.links(one) == ()
    own = ann.add("cedar").id
    with pytest.raises(NotFoundError):
        bob.link(one, own)


def test_a_secret_in_a_rule_is_not_kept(memory: Memory, ids: list[str]) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    assert key not in memory.link(ids[0], ids[1], rule=f"see {key}").rule


def test_a_forgotten_memory_takes_its_links_with_it(memory: Memory, ids: list[str]) -> None:
    memory.link(ids[0], ids[1])
    memory.forget(ids[1])
    assert memory.links(ids[0]) == ()
