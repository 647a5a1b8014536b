"""A later memory that says that a value is replaced or gone is shown before the answer that gives the value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from scrubjay import Memory, NewMemory
from scrubjay.config.loader import load_settings

REPLACED = (
    (
        "The backups of the wiki go to Hetzner.",
        "Hetzner is out, too slow; backups go to Wasabi.",
        "where do the wiki backups go?",
    ),
    (
        "Invoices are sent with Lexoffice.",
        "We moved from Lexoffice to sevDesk in May.",
        "what do we send invoices with?",
    ),
    (
        "Our dentist is Dr. Brandauer.",
        "Brandauer has retired, we go to Dr. Okoye now.",
        "who is our dentist?",
    ),
    (
        "The choir sings in St. Anna on Sundays.",
        "St. Anna is closed until spring; rehearsals are in the school.",
        "where does the choir sing?",
    ),
    (
        "The dog eats Purina in the morning.",
        "Replaced Purina with Wolfsblut, her skin got better.",
        "what does the dog eat?",
    ),
    (
        "Das Programm für den Newsletter ist Mailchimp.",
        "Wir sind von Mailchimp auf Brevo umgestiegen.",
        "welches Programm ist für den Newsletter?",
    ),
    (
        "The colour of the kitchen walls is sage.",
        "We painted the kitchen walls terracotta instead of sage.",
        "what is the colour of the kitchen walls?",
    ),
)
OTHERS = (
    (
        "The trial of the app lasts 30 days.",
        "The return period is 14 days; this replaces the earlier 30 days.",
        "how long does the trial last?",
    ),
    (
        "We use Slack for chat.",
        "The rope had too much slack, we replaced slack with tension.",
        "what do we use for chat?",
    ),
    (
        "Anna keeps the keys of the shed.",
        "Anna was replaced at the till by Olga for one day.",
        "who keeps the keys of the shed?",
    ),
    (
        "The sync job runs on Kestrel.",
        "We moved from the Kestrel mailing list to Discourse.",
        "where does the sync job run?",
    ),
    (
        "Postgres holds the orders.",
        "For analytics we now use DuckDB instead of Postgres.",
        "what holds the orders?",
    ),
    ("We park at Gate 4.", "Gate 4 was closed yesterday for an hour.", "where do we park?"),
)


@pytest.fixture
def memory() -> Iterator[Memory]:
    usual = load_settings(environ={})
    plain = replace(usual, facts=replace(usual.facts, stages=()))  # nothing supersedes by itself
    with Memory.open("memory://", user="ann", settings=plain) as made:
        made.add_many([NewMemory(f"Rain of {n * 3} mm on field {n}.", date="2026-04-01") for n in range(25)])
        yield made


@pytest.mark.parametrize(("old", "new", "question"), REPLACED)
def test_what_replaces_a_value_is_shown_before_it_and_both_stay(
    memory: Memory, old: str, new: str, question: str
) -> None:
    before, after = memory.add(old, date="2026-03-01").id, memory.add(new, date="2026-06-01").id
    found = [one.id for one in memory.search(question, limit=10).results]
    assert found[0] == after
    assert before in found
    assert memory.get([before]).records[0].status == "active"
    assert memory.context(question).memories[0].id == after


@pytest.mark.parametrize(("old", "new", "question"), OTHERS)
def test_what_replaces_another_thing_of_that_name_is_not_shown_first(
    memory: Memory, old: str, new: str, question: str
) -> None:
    before = memory.add(old, date="2026-03-01").id
    memory.add(new, date="2026-06-01")
    assert memory.search(question).results[0].id == before


def test_an_earlier_or_an_assistant_s_word_of_a_replacement_changes_nothing(memory: Memory) -> None:
    old = memory.add("Invoices are sent with Lexoffice.", date="2026-03-01").id
    memory.add("We moved from Lexoffice to sevDesk.", date="2026-02-01")
    memory.add(
        "You moved from Lexoffice to Debitoor.", session="s", turn=0, role="assistant", date="2026-06-01"
    )
    assert memory.search("what do we send invoices with?").results[0].id == old
