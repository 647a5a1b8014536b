from __future__ import annotations

import io
import json
import sys
from datetime import datetime
from pathlib import Path

import pytest


def test_a_text_is_added_once_and_found(cli) -> None:
    first = cli("add", "The", "mast", "is", "12", "metres", "--json").json
    assert (first["existed"], first["note"], first["scrubbed"]) == (False, None, {})
    assert first["id"].startswith("obs_")
    again = cli("add", "The mast is 12 metres")
    assert again.out == f"{first['id']} already exists.\n"
    assert cli("add", "The  mast is 12\nmetres").out == again.out
    found = cli("search", "mast", "--json").json["results"]
    assert [each["citation"] for each in found] == [first["id"]]


def test_the_text_may_come_from_standard_input_or_a_file(cli, tmp_path: Path) -> None:
    assert cli("add", stdin="piped in\n").code == 0
    assert cli("add", "-", stdin="dashed in\n").code == 0
    (tmp_path / "a.txt").write_text("filed in\n")
    assert cli("add", "--file", tmp_path / "a.txt").code == 0
    assert len(cli("search", "in", "--json").json["results"]) == 3
    assert cli("add", "--file", tmp_path / "none.txt").code == 3
    assert cli("add", "both", "--file", tmp_path / "a.txt").code == 2
    (tmp_path / "b.txt").write_bytes(b"\xff")
    assert "not UTF-8 at byte 0" in cli("add", "--file", tmp_path / "b.txt").err
    assert cli("add", "  ", stdin="").code == 2


def test_a_terminal_without_a_text_is_an_error_not_a_wait(cli, terminal) -> None:
    terminal()
    said = cli("add")
    assert said.code == 2
    assert "hint: scrubjay add" in said.err


def test_forgetting_says_which_superseded_memory_is_active_again(cli) -> None:
    ids = [cli("add", text, "--json").json["id"] for text in ("I live in Porto.", "I moved to Lisbon.")]
    said = cli("forget", ids[1], "--yes").out
    assert said == f"1 memory forgotten.\n1 superseded memory is active again: {ids[0]}.\n"


def test_the_history_of_a_memory_says_that_it_was_added_again(cli) -> None:
    one = cli("add", "The mast is 12 metres.", "--json").json["id"]
    assert "already exists" in cli("add", "The mast is 12 metres.").out
    cli("add", "The mast is 12 metres.")
    assert cli("history", one).out.count("was added again") == 1  # a script may add it every night


def test_every_field_of_an_addition_is_kept(cli) -> None:
    flags = (
        "--tier lesson --title Reefing --tag Sail --tag wind --date 2026-05-04 --valid-from 2026-01-01 "
        "--valid-until 2027-01-01 --confidence 0.5 --origin agent --session s1 --role user --turn 3 --pin"
    )
    added = cli("add", "Reef early.", *flags.split(), "--json").json["id"]
    (kept,) = cli("get", added, "--json").json["memories"]
    assert (kept["tier"], kept["title"], kept["tags"], kept["date"]) == (
        "lesson",
        "Reefing",
        ["sail", "wind"],
        "2026-05-04",
    )
    assert (kept["origin"], kept["session"], kept["role"], kept["pinned"]) == ("agent", "s1", "user", True)
    assert kept["confidence"] == 0.5
    assert kept["valid_from"] < kept["valid_until"]


def test_an_addition_says_what_it_is_like(cli) -> None:
    first = cli("add", "Team A depends on Team B.", "--json").json["id"]
    assert cli("add", "Team B depends on Team A.").out.endswith(f"added.\nsimilar: {first}\n")


OTHER_STATEMENTS = [
    ("Bob lent Alice 50 euros.", "Alice lent Bob 50 euros."),
    ("The intern starts in March.", "The intern leaves in March."),
    ("Team A depends on Team B.", "Team B depends on Team A."),
    ("Hansen pays us 5 percent.", "We pay Hansen 5 percent."),
    *[tuple(f"The key is ghp_{first}B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8" for first in ("a1", "z9"))],
]


@pytest.mark.parametrize(("one", "other"), OTHER_STATEMENTS)
def test_another_statement_in_nearly_the_same_words_is_added(cli, one: str, other: str) -> None:
    cli("add", one)
    second = cli("add", other).out
    assert "added.\n" in second
    assert "place of" not in second
    assert cli("status", "--json").json["memories"] == 2


@pytest.mark.parametrize(
    "flags",
    [["--tier", "fact"], ["--confidence", "2"], ["--date", "soon"], ["--origin", "me"], ["--turn", "-1"]],
)
def test_a_field_with_an_impossible_value_adds_nothing(cli, flags: list[str]) -> None:
    assert cli("add", "text", *flags).code == 2
    assert cli("status", "--json").json["memories"] == 0


def test_a_public_memory_is_seen_by_others(cli) -> None:
    cli("add", "Harbour code 1234", "--public")
    assert len(cli("search", "harbour", "--user", "bob", "--json").json["results"]) == 1


def test_a_secret_is_replaced_and_its_kind_told(cli) -> None:
    said = cli("add", "the key is ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
    assert "secret" in said.out
    found = cli("search", "key", "--json").json["results"][0]["snippet"]
    assert "ghp_a1B2" not in found


def test_with_a_notes_folder_an_addition_is_also_in_the_days_note(cli, tmp_path: Path) -> None:
    cli.patch.setenv("SCRUBJAY_NOTES_DIR", str(tmp_path / "days"))
    before = datetime.now().astimezone()
    said = cli("add", "Buy new sheets")
    assert str(tmp_path / "days") in said.out
    (note,) = (tmp_path / "days").glob("*.md")
    assert note.stem in {
        f"{day:%Y-%m-%d}" for day in (before, datetime.now().astimezone())
    }  # around midnight
    assert "Buy new sheets" in note.read_text()


def test_forget_asks_and_takes_no_for_an_answer(cli, terminal) -> None:
    kept = cli("add", "forget me", "--json").json["id"]
    terminal()
    said = cli("forget", kept, stdin="n\n")  # an input without a terminal is refused
    assert said.code == 2
    assert "--yes" in said.err
    assert cli("search", "forget", "--json").json["results"]


@pytest.mark.parametrize(("answer", "left"), [("y\n", 0), ("n\n", 1)])
def test_on_a_terminal_forget_does_what_is_answered(cli, answer: str, left: int) -> None:
    kept = cli("add", "forget me", "--title", "An old plan", "--json").json["id"]
    keyboard = io.StringIO(answer)
    cli.patch.setattr(keyboard, "isatty", lambda: True)
    cli.patch.setattr(sys, "stdin", keyboard)
    said = cli("forget", kept)
    assert "An old plan" in said.err
    assert said.code == (0 if left == 0 else 130)
    assert len(cli("search", "forget", "--json").json["results"]) == left


def test_forget_removes_for_good_and_names_where_the_words_still_stand(cli, notes, tmp_path: Path) -> None:
    cli("sync", notes)
    best = cli("search", "Bornholm", "--json").json["results"][0]
    said = cli("forget", best["id"], "--yes")
    assert said.code == 0
    assert said.out == (
        f"1 memory forgotten.\nThe text remains in {best['citation']}.\n"
        "If that passage is edited, it is stored again, unless you delete it from the file.\n"
    )
    cli("sync")
    assert "Bornholm" not in str(cli("search", "Bornholm", "--json").json["results"])
    assert cli("forget", best["id"], "--yes").code == 2


def test_forgetting_a_turn_of_an_export_names_its_file(cli, tmp_path: Path) -> None:
    turn = {"content_type": "text", "parts": ["The mast is 12 metres."]}
    message = {"id": "m", "author": {"role": "user"}, "content": turn}
    file = tmp_path / "chats" / "conversations.json"
    file.parent.mkdir()
    file.write_text(json.dumps([{"id": "c", "create_time": 1, "mapping": {"m": {"message": message}}}]))
    cli("sync", file.parent)
    (found,) = cli("get", file, "--json").json["memories"]
    said = cli("forget", found["id"], "--yes")
    assert f"The text remains in {file}.\n" in said.out


def test_places_where_forgotten_texts_remain_are_told_once_a_file(cli, tmp_path: Path) -> None:
    talk = tmp_path / "talk.jsonl"
    texts = (
        "The kayak leaks at the stern.",
        "The sauna is warm on Fridays.",
        "The mast is twelve metres high.",
    )
    talk.write_text("".join(json.dumps({"role": "user", "content": text}) + "\n" for text in texts))
    cli("sync", talk)
    found = cli("search", "kayak sauna mast", "--min-relevance", "0", "--json").json
    ids = [each["id"] for each in found["results"]]
    assert len(ids) == 3
    said = cli("forget", *ids, "--yes")
    assert f"The text remains in {talk}, at 3 places in lines 1-3.\n" in said.out
    assert said.out.count("The text remains") == 1
    again = cli("sync", talk)
    assert "can be ingested" not in again.err


def test_redactions_tell_which_text_an_allow_entry_must_hold(cli, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "gate.md").write_text("# Gate\n\nThe gate code: 4471#\n")
    cli("sync", tmp_path / "notes")
    said = cli("redactions")
    assert "gate.md:3" in said.out
    assert "copy from the file the whole text that […] replaces" in said.err


def test_forget_takes_six_digits_or_more_and_does_what_it_can(cli) -> None:
    kept = cli("add", "one two three", "--json").json["id"]
    assert cli("forget", kept[:9], "--yes").code == 2
    said = cli("forget", kept, "obs_0000000000000000", "--yes", "--json")
    assert said.code == 0
    assert (said.json["ids"], said.json["unknown"]) == ([kept], ["obs_0000000000000000"])


def test_an_addition_for_a_group_is_seen_by_it_and_by_no_other(cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRUBJAY_GROUPS", "dev, ops")
    cli("add", "The deploy key rotates on Mondays.", "--group", "dev")
    monkeypatch.setenv("SCRUBJAY_USER", "somebody-else")
    assert cli("search", "deploy key", "--json").json["results"]
    monkeypatch.setenv("SCRUBJAY_GROUPS", "ops")
    assert cli("search", "deploy key", "--json").json["results"] == []
    assert "is not one of somebody-else's groups" in cli("add", "x", "--group", "dev").err


def test_an_addition_names_its_project_by_the_path_it_is_at(cli, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    added = cli("add", "The mast is 12 metres.", "--project", ".", "--json").json["id"]
    (kept,) = cli("get", added, "--json").json["memories"]
    assert kept["project"].startswith(tmp_path.name.casefold())
    assert cli("search", "mast", "--project", tmp_path, "--json").json["results"]
    assert "There is no project 'elsewhere'." in cli("search", "mast", "--project", "elsewhere").err


def test_an_addition_that_asks_not_to_be_remembered_is_stored_as_it_is_and_says_how_to_delete_it(cli) -> None:
    text = "Please don't remember this: my sister is pregnant."
    out = cli("add", text).out
    memory = out.split()[0]
    assert out == (
        f"{memory} added.\nIt asks not to be remembered, so it is never injected; forget {memory} to delete it.\n"
    )
    assert text not in cli("context", "what is new with my sister?").out
    (result,) = cli("search", "sister", "--json").json["results"]
    assert (result["snippet"], result["tags"]) == (text, ["never-inject"])


def test_a_long_addition_is_said_to_be_better_as_a_file_unless_it_is_a_turn(cli) -> None:
    text = "The valve of the pump is checked each autumn. " * 500
    assert "It is one memory of 23,001 characters." in cli("add", "-", stdin=text + "A").out
    assert "one memory" not in cli("add", "-", "--session", "s", "--turn", "0", stdin=text).out
