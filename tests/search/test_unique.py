"""Unique: nothing is said twice in a context, in whatever parts it stands, and nothing is lost by that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.config.loader import load_settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.models.results import Context

SAID = "The invoices of the harbour lie in the blue folder."


@pytest.fixture
def memory() -> Iterator[Memory]:
    """Open a store in which no statement supersedes another by itself."""
    usual = load_settings(environ={})
    plain = replace(usual, facts=replace(usual.facts, stages=()))
    with Memory.open("memory://", user="ann", settings=plain, embedders=[HashEmbedder(64)]) as made:
        yield made


def shown(found: Context, part: str = "") -> list[str]:
    return [one.id for one in found.memories if not part or one.part == part]


def whys(found: Context) -> dict[str, str]:
    return {one.id: one.why for one in found.left_out}


def test_the_same_is_not_said_twice(memory: Memory) -> None:
    one = memory.add(
        "We pay the invoices of the harbour on the first Monday of every month.", tier="lesson"
    ).id
    two = memory.add("We pay invoices of the harbour on the first Monday of every month!", tier="semantic").id
    other = memory.add(
        "We pay the invoices of the harbour on the first Friday of every month.", tier="facet"
    ).id
    never = memory.add("We never pay the invoices of the harbour on the first Monday of every month.").id
    found = memory.context("when do we pay invoices of the harbour")
    assert {other, never} <= set(shown(found))
    assert len({one, two} & set(shown(found))) == 1
    assert "repeats" in {whys(found).get(one), whys(found).get(two)}


def test_a_digest_and_its_sources_are_not_both_shown(memory: Memory) -> None:
    source = memory.add("The invoices went to the harbour office by boat.").id
    digest = memory.add("Harbour: invoices go by boat, letters by mail.", tier="crystal", origin="derived").id
    memory.link(digest, source, "derived_from")
    found = memory.context("invoices harbour boat")
    assert len({source, digest} & set(shown(found))) == 1


def test_a_pinned_digest_answers_for_what_it_was_made_from(memory: Memory) -> None:
    source = memory.add("The letters of the lighthouse went to Lisbon by boat.").id
    digest = memory.add("Harbour: mail leaves on Mondays.", pinned=True, tier="crystal", origin="derived").id
    memory.link(digest, source, "derived_from")
    assert shown(memory.context("which letters of the lighthouse went to Lisbon?")) == [digest]


def test_what_is_pinned_is_not_told_again_as_an_answer_and_is_one(memory: Memory) -> None:
    pin = memory.add("- The invoices of the harbour lie in **the blue folder**", pinned=True).id
    copy = memory.add(SAID).id
    found = memory.context("where do the invoices of the harbour lie?")
    assert shown(found) == shown(found, "pinned") == [pin]
    assert whys(found)[copy] == "repeats"


@pytest.mark.parametrize("tier", ["facet", "lesson", "observation"])
def test_what_answers_is_not_told_again_as_known_or_as_said_last(memory: Memory, tier: str) -> None:
    answer = memory.add(SAID, session="s", turn=0, role="user", project="shop").id
    copy = memory.add(SAID.upper(), tier=tier, session="t", turn=0, role="user", project="shop").id
    found = memory.context("where do the invoices of the harbour lie?", project="shop")
    assert len({answer, copy} & set(shown(found))) == len(shown(found)) == 1
    assert len({answer, copy} & set(shown(memory.context(project="shop")))) == 1


def test_a_page_is_not_left_out_for_one_sentence_that_is_pinned(memory: Memory) -> None:
    memory.add("Never deploy on Fridays.", pinned=True)
    page = memory.add(
        "Deploying. Never deploy on Fridays. Ask Mara for the key of the harbour, start the worker, count the "
        "lanterns of the pier, and write down who was there and how long all of it took."
    ).id
    assert page in shown(memory.context("where is the key of the harbour when I deploy?"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (SAID, f"If Mara agrees, {SAID.lower()}"),
        (SAID, f"It is wrong that {SAID.lower()}"),
        ("The invoices of the harbour cost 30 euros.", "The invoices of the harbour cost 90 euros."),
        ("We pay the invoices of the harbour.", "We never pay the invoices of the harbour."),
    ],
)
def test_what_bounds_or_denies_another_is_told_beside_it(memory: Memory, one: str, other: str) -> None:
    both = {memory.add(one, pinned=True).id, memory.add(other, tier="lesson").id}
    assert set(shown(memory.context("invoices of the harbour"))) == both
    assert set(shown(memory.context())) == both


def test_a_copy_that_nobody_vouched_for_takes_no_place(memory: Memory) -> None:
    good = memory.add(SAID).id
    for number in range(3):
        memory.add(SAID, origin="untrusted", title=f"page {number}", session="web", turn=number, role="user")
    found = memory.context("where do the invoices of the harbour lie?")
    assert shown(found) == [good]
    assert set(whys(found).values()) == {"untrusted"}


def test_what_the_agent_reads_itself_is_not_told_from_elsewhere(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text(f"{SAID}\n")
    memory.sync(tmp_path)
    copy = memory.add(SAID, tier="lesson").id
    found = memory.context("where do the invoices of the harbour lie?")
    assert (found.text, found.memories) == ("", ())
    assert whys(found)[copy] == "loaded"
    assert len(memory.context("where do the invoices of the harbour lie?", exclude_paths=()).memories) == 1
