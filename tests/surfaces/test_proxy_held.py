"""The proxy's queue when its file is damaged: it is put aside, told of, and the proxy goes on."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import openai
import pytest
from proxied import Proxied, proxying
from scripted_model import Model

from scrubjay import Memory
from scrubjay.api.auth import Principal
from scrubjay.server.proxy.formats import MemoryOptions, Utterance
from scrubjay.server.proxy.turn_queue import CorruptFileError, QuarantiningFile, TurnQueue

TABLES = "CREATE TABLE IF NOT EXISTS words (word TEXT)"
ANN, WISH = Principal("default", "ann"), MemoryOptions(True, True, "", None, "proxy")


def ask(proxy: Proxied, text: str) -> str | None:
    with openai.OpenAI(base_url=proxy.openai, api_key="k", max_retries=0) as asking:
        said = asking.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
        return said.choices[0].message.content


def overwritten(path: Path, start: int) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[:start] + b"\xa5" * (len(whole) - start))


def torn(path: Path) -> None:
    with sqlite3.connect(path) as base:
        base.execute("UPDATE turns SET turn = CAST(x'7bff' AS TEXT)")
    base.close()


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda path: overwritten(path, 0), "SQLITE_NOTADB"),
        (lambda path: overwritten(path, 4096), "SQLITE_CORRUPT"),
        (torn, "a turn is no JSON"),
    ],
    ids=["header", "pages", "turn"],
)
def test_a_damaged_queue_is_put_aside_and_what_passes_from_then_on_is_remembered(
    environ: dict[str, str],
    model: Model,
    caplog: pytest.LogCaptureFixture,
    damage: Callable[[Path], None],
    told: str,
) -> None:
    def broken() -> Memory:
        raise OSError("no disk")

    with proxying(environ, model, opening=broken) as proxy:
        ask(proxy, "The ferry to Bornholm leaves at nine.")
        path = proxy.passing.queue.path
    damage(path)
    held = path.read_bytes()
    with proxying(environ, model) as proxy:
        proxy.rested()
        assert ask(proxy, "The tram to Odense leaves at noon.") == "Fine."
        assert [one.content for one in proxy.turns()] == ["The tram to Odense leaves at noon.", "Fine."]
        assert not any(proxy.passing.drops.turns.values())
    (aside,) = path.parent.glob(f"{path.name}.damaged-*")
    assert aside.read_bytes() == held
    assert aside.stat().st_mode & 0o077 == 0
    lines = [json.loads(line) for line in proxy.log.read_text().splitlines()]
    assert [(one["level"], one["error"], one["file"]) for one in lines if "queue" in one["event"]] == [
        ("error", told, aside.name)
    ]
    assert f"It was put aside as proxy/{aside.name}" in caplog.text


def held(folder: Path) -> tuple[QuarantiningFile, list[str]]:
    told: list[str] = []
    return QuarantiningFile(folder / "q.db", TABLES, lambda damage, aside: told.append(aside)), told


def put(one: QuarantiningFile, word: str) -> None:
    one.run(lambda base, _: base.execute("INSERT INTO words VALUES (?)", (word,)))


def words(one: QuarantiningFile) -> list[str]:
    return one.run(lambda base, _: [word for (word,) in base.execute("SELECT word FROM words ORDER BY word")])


def test_what_two_servers_write_after_one_found_damage_is_there_for_both_and_for_the_next(
    tmp_path: Path,
) -> None:
    (one, told), (other, not_told) = held(tmp_path), held(tmp_path)
    put(one, "before")
    assert words(other) == ["before"]

    def finds(base: sqlite3.Connection, file: str) -> str:
        if file == "q.db":
            raise CorruptFileError("torn")
        return file

    assert one.run(finds) == "q-1.db"
    put(one, "mine")
    put(other, "theirs")
    other.close()
    put(one, "later")
    third, _ = held(tmp_path)
    assert words(third) == words(one) == ["later", "mine", "theirs"]
    assert (len(told), not_told) == (1, [])
    third.close()
    one.close()
    with sqlite3.connect(tmp_path / told[0]) as base:
        assert base.execute("SELECT word FROM words").fetchall() == [("before",)]
    base.close()


def test_of_two_servers_that_find_the_same_damage_one_puts_it_aside_and_both_go_on(tmp_path: Path) -> None:
    (one, told), (other, not_told) = held(tmp_path), held(tmp_path)

    def finds(base: sqlite3.Connection, file: str) -> list[str]:
        if file == "q.db":
            raise CorruptFileError("torn")
        return [word for (word,) in base.execute("SELECT word FROM words")]

    def finds_late(base: sqlite3.Connection, file: str) -> list[str]:
        if file == "q.db":
            one.run(finds)
            put(one, "mine")
        return finds(base, file)

    assert other.run(finds_late) == ["mine"]
    assert (len(told), not_told) == (1, [])
    one.close()
    other.close()


def test_a_queue_that_somebody_removed_is_begun_again(tmp_path: Path) -> None:
    one, told = held(tmp_path)
    put(one, "before")
    for each in tmp_path.iterdir():
        each.unlink()
    put(one, "after")
    assert (words(one), told) == (["after"], [])
    one.close()


def test_turns_of_a_damaged_queue_take_no_others_with_them_when_they_are_done(tmp_path: Path) -> None:
    told: list[str] = []
    spool = TurnQueue(str(tmp_path), "memory.db", 1_000_000, lambda damage, aside: told.append(damage))
    spool.put(ANN, WISH, "s", [Utterance("user", "The ferry leaves at nine.", 0)])
    taken = spool.oldest(16)
    spool.close()
    overwritten(spool.path, 0)
    spool.put(ANN, WISH, "s", [Utterance("user", "The tram leaves at noon.", 1)])
    spool.remove(taken)
    assert [one.fields["content"] for one in spool.oldest(16)] == ["The tram leaves at noon."]
    assert (told, len(taken), spool.size()) == (["SQLITE_NOTADB"], 1, 1)
    spool.close()


def test_a_secret_that_answers_the_turn_before_waits_redacted(tmp_path: Path) -> None:
    spool = TurnQueue(str(tmp_path), "memory.db", 1_000_000, lambda damage, aside: None)
    before = [Utterance("user", "wifi password?", 0), Utterance("assistant", "rotkehlchen-7", 1)]
    spool.put(ANN, WISH, "talk", before)
    spool.put(
        ANN,
        WISH,
        "talk",
        [Utterance("user", "And of the router?", 2), Utterance("assistant", "Elster-2", 3)],
        before,
    )
    assert [one.fields["content"] for one in spool.oldest(10)] == [
        "wifi password?",
        "[secret:password]",
        "And of the router?",
        "Elster-2",
    ]
    spool.put(ANN, WISH, "other", [Utterance("assistant", "rotkehlchen-7", 1)], before[:1])
    assert spool.oldest(10)[-1].fields["content"] == "[secret:password]"
    spool.close()
