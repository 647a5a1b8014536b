from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from notes_folder import Listening

from scrubjay import Memory
from scrubjay.config.settings import Settings
from scrubjay.errors import InputError
from scrubjay.ingest.additions import validate_memory
from scrubjay.ingest.embedder import prepare_memory
from scrubjay.models.dates import micros
from scrubjay.models.lifecycle import NewMemory
from scrubjay.models.records import TIER_PREFIXES, TIERS, RecordFilter, Scope
from scrubjay.storage.changes import PutMemory
from scrubjay.storage.interface import all_records

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
OTHER_STATEMENTS = [
    ("Bob lent Alice 50 euros.", "Alice lent Bob 50 euros."),
    ("The intern starts in March.", "The intern leaves in March."),
    ("Team A depends on Team B.", "Team B depends on Team A."),
    ("Hansen pays us 5 percent.", "We pay Hansen 5 percent."),
]
SCOPE = Scope("default", "ann", ("dev",))


def stored(memory: Memory, *args: Any, **fields: Any) -> Any:
    (record,) = memory.get(memory.add(*args, **fields).id).records
    return record


def test_a_text_is_added_once_and_found(memory: Memory) -> None:
    first, second = memory.add("The tide turns at six."), memory.add("The tide turns at six.")
    assert (first.id, first.existed, second.existed) == (second.id, False, True)
    assert memory.status().memories == 1
    assert [r.id for r in memory.search("tide").results] == [first.id]


def test_another_scope_tier_session_turn_or_date_makes_another_memory(opened: Callable[..., Memory]) -> None:
    memory = opened(groups=["dev"])
    variants: list[dict[str, Any]] = [
        {}, {"visibility": "public"}, {"visibility": "group", "group": "dev"}, {"tier": "lesson"}, {"session": "a"},
        {"session": "b"}, {"session": "a", "turn": 1}, {"session": "a", "turn": 2}, {"date": "2026-03-01"},
    ]  # fmt: skip
    ids = {memory.add("yes", **variant).id for variant in variants}
    assert len(ids) == len(variants)
    assert all(memory.add("yes", **variant).existed for variant in variants)


def test_other_words_about_it_do_not_make_another_memory(memory: Memory) -> None:
    first = memory.add("yes", tags=["a"], title="One")
    assert (
        memory.add("yes", tags=["b"], title="Two", role="user", project="p", agent="x", confidence=0.5).id
        == first.id
    )


def test_two_users_hold_the_same_text_apart(opened: Callable[..., Memory]) -> None:
    ann, bob = opened(user="ann"), opened(user="bob")
    first, second = ann.add("Same."), bob.add("Same.")
    assert first.id != second.id
    assert not second.existed
    assert bob.get(first.id).unknown == (first.id,)


def test_an_id_tells_one_tenant_nothing_of_anothers_texts(opened: Callable[..., Memory]) -> None:
    assert opened(tenant="one").add("Same.").id != opened(tenant="two").add("Same.").id


def test_the_same_twice_in_one_call_is_one(memory: Memory) -> None:
    found = memory.add_many([NewMemory("a"), NewMemory("b"), NewMemory("a")])
    assert [item.existed for item in found] == [False, False, True]
    assert found[0].id == found[2].id
    assert memory.status().memories == 2


def test_all_are_checked_before_the_first_is_written(memory: Memory, model: Listening) -> None:
    with pytest.raises(InputError):
        memory.add_many([NewMemory("good"), NewMemory("bad", tier="none")])
    assert memory.status().memories == 0
    assert model.heard == []


def test_every_field_is_kept(memory: Memory) -> None:
    record = stored(
        memory, "The tide turns.", tier="semantic", title="Tide", tags=["Sea", "sea", " ", "Äpfel"], date="2026-03",
        session="s", role="user", turn=3, project="p", agent="codex", confidence=0.25, valid_from="2026-01-02",
        valid_until="2026-02-03", origin="agent", pinned=True,
    )  # fmt: skip
    assert record.id.startswith("sem_")
    assert (record.title, record.tags) == ("Tide", ("sea", "äpfel"))
    assert (record.session, record.role, record.turn, record.project, record.agent) == (
        "s",
        "user",
        3,
        "p",
        "codex",
    )
    assert (record.confidence, record.origin, record.pinned, record.owner) == (0.25, "agent", True, "ann")
    assert (record.event.precision, record.event.start) == ("month", micros(datetime(2026, 3, 1)))
    assert record.valid_from == micros(datetime(2026, 1, 2))
    assert record.valid_until == micros(datetime(2026, 2, 4))


@pytest.mark.parametrize("tier", TIERS)
def test_every_tier_has_its_prefix(memory: Memory, tier: str) -> None:
    assert memory.add("x", tier=tier).id.startswith(TIER_PREFIXES[tier])


@pytest.mark.parametrize(
    ("given_date", "start", "end", "precision"),
    [
        ("2026-02-28", datetime(2026, 2, 28), datetime(2026, 3, 1), "day"),
        (date(2026, 2, 28), datetime(2026, 2, 28), datetime(2026, 3, 1), "day"),
        ("2026-12", datetime(2026, 12, 1), datetime(2027, 1, 1), "month"),
        ("2026", datetime(2026, 1, 1), datetime(2027, 1, 1), "year"),
        (datetime(2026, 2, 28, 9), datetime(2026, 2, 28, 9), datetime(2026, 2, 28, 9), "second"),
    ],
)
def test_a_date_spans_what_it_names(
    memory: Memory, given_date: object, start: datetime, end: datetime, precision: str
) -> None:
    event = stored(memory, "x", date=given_date).event
    assert (event.start, event.end, event.precision) == (micros(start), micros(end), precision)


def test_a_zone_is_remembered(memory: Memory) -> None:
    assert stored(memory, "x", date="2026-03-01T10:00:00+02:00").event.zone == "UTC+02:00"
    assert stored(memory, "y", date=datetime(2026, 3, 1, tzinfo=timezone.utc)).event.zone == "UTC"  # noqa: UP017


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"content": ""}, "empty"),
        ({"content": " \n\t"}, "empty"),
        ({"content": None}, "not a text"),
        ({"content": b"bytes"}, "not a text"),
        ({"content": "x" * 10_000_001}, "at most 10,000,000"),
        ({"tier": "memo"}, "not one of crystal"),
        ({"origin": "me"}, "not one of owner"),
        ({"confidence": 1.01}, "between 0 and 1"),
        ({"confidence": -0.01}, "between 0 and 1"),
        ({"confidence": float("nan")}, "between 0 and 1"),
        ({"confidence": "high"}, "not a number"),
        ({"confidence": True}, "not a number"),
        ({"turn": -1}, "whole number"),
        ({"turn": 1.5}, "whole number"),
        ({"turn": "first"}, "whole number"),
        ({"turn": 2**63}, "whole number"),
        ({"turn": float("nan")}, "whole number"),
        ({"tags": "sea"}, "give a list"),
        ({"tags": [1]}, "not a text"),
        ({"title": 5}, "not a text"),
        ({"session": 5}, "not a text"),
        ({"date": "soon"}, "is not a date"),
        ({"valid_from": "soon"}, "is not a date"),
        (
            {"valid_from": "2026-02-01", "valid_until": "2026-01-01"},
            "valid_from 2026-02-01 is after valid_until 2026-01-01",
        ),
        ({"visibility": "everybody"}, "not one of user, group, public"),
        ({"visibility": "group"}, "no group is named: one of ann's groups"),
        ({"visibility": "group", "group": "ops"}, "not one of ann's groups"),
        ({"group": "dev"}, "visibility is 'user'"),
    ],
)
def test_a_field_with_an_impossible_value_is_refused_and_nothing_written(
    opened: Callable[..., Memory], wrong: dict[str, Any], says: str
) -> None:
    memory = opened(groups=["dev"])
    with pytest.raises(InputError, match=says):
        memory.add(**({"content": "x"} | wrong))
    assert memory.status().memories == 0


def test_a_day_from_and_until_the_same_is_a_day(memory: Memory) -> None:
    record = stored(memory, "x", valid_from="2026-03-01", valid_until="2026-03-01")
    assert record.valid_until - record.valid_from == 86_400_000_000


def test_halves_of_characters_and_nuls_are_replaced_in_every_field(memory: Memory) -> None:
    record = stored(
        memory, "a \ud83d b\x00c", title="t\ud800", tags=["g\udfff"], session="s\ud800", role="r\x00",
        project="p\ud800", agent="a\ud800",
    )  # fmt: skip
    assert (record.content, record.title, record.tags) == ("a ? b\ufffdc", "t?", ("g?",))
    assert (record.session, record.role, record.project, record.agent) == ("s?", "r\ufffd", "p?", "a?")


def test_secrets_are_counted_and_reach_neither_store_nor_model(
    memory: Memory, model: Listening, tmp_path: Path
) -> None:
    added = memory.add(f"Log in with {KEY} today.", title=f"Key {KEY}", tags=["login", KEY])
    assert sum(added.scrubbed.values()) == 3
    (record,) = memory.get(added.id).records
    assert KEY.lower() not in f"{record}".lower()
    assert not any(KEY in text for text in model.heard)
    memory.close()
    for file in tmp_path.rglob("*"):
        if file.is_file():
            held = file.read_bytes().lower()
            assert KEY.lower().encode() not in held, file


def test_texts_that_differ_in_a_secret_alone_are_two_memories(memory: Memory) -> None:
    first, again, other = (
        memory.add(text) for text in (f"Key {KEY}.", f"Key  {KEY}.", f"Key {KEY[:-4]}zzzz.")
    )
    assert (again.id, again.existed, other.existed) == (first.id, True, False)
    assert other.id != first.id
    assert memory.status().memories == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [("The café opens at six.", "The cafe\u0301 opens at six."), ("Tea at\nfour.", " Tea  at four.\n")],
)
def test_texts_that_differ_in_blanks_and_the_form_of_their_unicode_are_one(
    memory: Memory, one: str, other: str
) -> None:
    first, again = memory.add(one), memory.add(other)
    assert (again.id, again.existed) == (first.id, True)


@pytest.mark.parametrize(("one", "other"), OTHER_STATEMENTS)
def test_another_statement_in_nearly_the_same_words_is_stored_and_found(
    learning: Settings, opened: Callable[..., Memory], one: str, other: str
) -> None:
    memory = opened(settings=learning)
    first, second = memory.add(one), memory.add(other)
    assert (second.existed, second.supersedes) == (False, ())
    assert {record.content for record in memory.get([first.id, second.id]).records} == {one, other}
    assert {found.id for found in memory.search(one).results} == {first.id, second.id}


def test_an_addition_names_what_it_is_like(learning: Settings, opened: Callable[..., Memory]) -> None:
    memory = opened(settings=learning)
    first = memory.add("Team A depends on Team B.")
    assert memory.add("Team B depends on Team A.").similar == (first.id,)


def test_a_text_that_an_earlier_version_stored_is_known_again(memory: Memory, tmp_path: Path) -> None:
    text = "Two lines:\nthe second."
    drawn = validate_memory(
        NewMemory(text), memory.workspace.scope, memory.workspace.store.secret(memory.workspace.scope)
    )
    assert drawn.legacy_id != drawn.record.id
    kept = prepare_memory(replace(drawn.record, id=drawn.legacy_id))
    memory.workspace.store.write(memory.workspace.scope, [PutMemory(kept)])
    assert memory.add(text).id == drawn.legacy_id
    assert memory.status().memories == 1
    memory.update(drawn.legacy_id, content="It was corrected.")
    file = tmp_path / "lines.jsonl"
    file.write_text(json.dumps({"content": text}) + "\n", "utf-8")
    done = memory.import_(file)
    assert (done.added, done.existed) == (0, 1)


def test_a_forgotten_addition_is_gone_from_answers_and_from_the_file(memory: Memory, tmp_path: Path) -> None:
    added = memory.add("The zebrafinch sings at dusk.")
    memory.add("Bread rises.")
    done = memory.forget([added.id, added.id, "obs_ffffffffffffffff"])
    assert (done.ids, done.unknown, done.still) == ((added.id,), ("obs_ffffffffffffffff",), ())
    assert memory.search('"zebrafinch"').results == ()
    assert memory.get(added.id).unknown == (added.id,)
    memory.close()
    assert not any(
        b"zebrafinch" in file.read_bytes() for file in tmp_path.rglob("memory.db*") if file.is_file()
    )


def test_nobody_forgets_what_they_do_not_see(opened: Callable[..., Memory]) -> None:
    added = opened(user="ann").add("Private.")
    assert opened(user="bob").forget(added.id).unknown == (added.id,)
    assert opened(user="ann").get(added.id).records != ()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet=st.characters(), min_size=1, max_size=60))
def test_any_text_with_something_in_it_is_kept_as_it_is_and_found_again(text: str) -> None:
    drawn = validate_memory(NewMemory(f"x{text}"), SCOPE, b"secret")
    clean = text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")
    assert drawn.record.content == f"x{clean}" or drawn.scrubbed
    assert validate_memory(NewMemory(f"x{text}"), SCOPE, b"secret").record.id == drawn.record.id
    assert validate_memory(NewMemory(f"x{text}"), SCOPE, b"other").record.id != drawn.record.id


def said(memory: Memory, session: str = "t") -> list[tuple[str, str | None]]:
    with memory.workspace.store.reader(memory.workspace.scope) as reader:
        records = [one for one in all_records(reader, RecordFilter(sessions=(session,))) if one.role]
    return [(one.content, one.role) for one in sorted(records, key=lambda one: (one.recorded_at, one.id))]


KIEL, HUSUM = "Please ship to Kiel.", "Please ship to Husum instead."


def test_what_a_conversation_comes_back_to_keeps_its_place(memory: Memory) -> None:
    first, _, back = (memory.add(text, session="t", role="user") for text in (KIEL, HUSUM, KIEL))
    assert not back.existed
    assert back.id != first.id
    assert [text for text, _ in said(memory)] == [KIEL, HUSUM, KIEL]
    assert memory.add(KIEL, session="t", role="user").id == back.id  # at once the same again


def test_a_conversation_that_is_added_again_adds_only_what_is_new(memory: Memory) -> None:
    talk = [NewMemory(text, session="t", role="user") for text in (KIEL, HUSUM, KIEL, "Thank you.", HUSUM)]
    first = [one.id for one in memory.add_many(talk[:4])]
    assert len(set(first)) == 4
    again = memory.add_many(talk)
    assert [one.id for one in again[:4]] == first
    assert [one.existed for one in again] == [True] * 4 + [False]
    assert [one.existed for one in memory.add_many(talk[3:])] == [True] * 2
    assert [text for text, _ in said(memory)] == [one.content for one in talk]


def test_two_roles_that_say_the_same_are_two_turns(memory: Memory) -> None:
    text = "I prefer oat milk, always."
    one = memory.add(text, session="t", role="assistant")
    other = memory.add(text, session="t", role="user")
    assert not other.existed
    assert said(memory) == [(text, "assistant"), (text, "user")]
    assert memory.add(text, session="t", role="user").id == other.id != one.id
    numbered = [memory.add("Yes.", session="u", turn=3, role=role) for role in ("user", "assistant", "user")]
    assert [one.existed for one in numbered] == [False, False, True]
    assert len({one.id for one in numbered}) == 2
    talk = [NewMemory("Hm.", session="v", role=role) for role in ("user", "assistant", "user")]
    assert [one.existed for one in memory.add_many(talk) + memory.add_many(talk)] == [False] * 3 + [True] * 3


def test_a_role_that_an_earlier_version_stored_in_capitals_is_the_same_role(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    said_once = {"session": "t", "turn": 1, "role": "user"}
    with Memory.open(store) as memory:
        memory.add("The kayak leaks.", **said_once)
    with closing(sqlite3.connect(store)) as db, db:
        db.execute("UPDATE memory SET role = 'User'")
    with Memory.open(store) as memory:
        assert memory.add("The kayak leaks.", **said_once).existed


@pytest.mark.parametrize("known", [{"turn": 0}, {"date": "2026-04-19"}])
def test_a_turn_with_a_number_or_a_date_is_the_same_wherever_it_is_added(
    memory: Memory, known: dict[str, object]
) -> None:
    fields: dict[str, object] = {"session": "t", "role": "user"} | known
    one = memory.add(KIEL, **fields)  # type: ignore[arg-type]
    memory.add(HUSUM, session="t", role="user", turn=1)
    again = memory.add(KIEL, **fields)  # type: ignore[arg-type]
    assert (again.id, again.existed) == (one.id, True)


@pytest.mark.parametrize("known", [{"turn": 0, "date": "2026-04-19"}, {"turn": 0}, {}])
def test_a_conversation_that_is_added_again_keeps_its_corrections(
    memory: Memory, known: dict[str, object]
) -> None:
    fields: dict[str, object] = {"session": "t", "role": "user"} | known
    one = memory.add("Ship to Hauptstr. 112.", **fields)  # type: ignore[arg-type]
    for text in ("Ship to Hauptstr. 118.", "Ship to Hauptstr. 120."):
        memory.update(one.id, text)
        again = memory.add("Ship to Hauptstr. 112.", **fields)  # type: ignore[arg-type]
        assert (again.id, again.existed, again.status) == (one.id, True, "active")
        assert [told for told, _ in said(memory)] == [text]
