from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.config.loader import load_settings
from scrubjay.config.settings import FactSettings
from scrubjay.models.lifecycle import NewMemory
from scrubjay.storage.changes import PutRun

sys.path.insert(0, str(Path(__file__).parents[1]))

from chat_service import facts, serving

NAMES = ("release", "archive", "backup", "mail", "cinema")
QUESTION = "Are there many things one could do about it here and is it a good idea to take your time? "
FILLER = "There are many things that one could say about it here, and it is a good idea to take your time. "


@pytest.fixture
def talked(cli) -> Callable[[], list[str]]:
    """Write down an old conversation of six turns."""

    def talk() -> list[str]:
        with Memory.open(settings=load_settings(), cold=True) as memory:
            added = memory.add_many(
                NewMemory(
                    f"{QUESTION * 2}The mooring {number} costs {number * 13 + 7} euros in Lisbon.",
                    session="heron",
                    role="assistant" if number % 2 else "user",
                    turn=number,
                    date=f"2026-01-05T10:0{number}:00Z",
                )
                for number in range(6)
            )
        return [one.id for one in added]

    return talk


def test_it_says_in_one_line_what_became_of_what_and_how_to_take_it_back(cli, talked) -> None:
    talked()
    said = cli("consolidate")
    assert said.code == 0
    found = re.fullmatch(
        r"1 digest from 6 memories \(6 turns\), [\d,]+ of [\d,]+ tokens; "
        r"run (run_[0-9a-f]{10}) \(undo: scrubjay consolidate --undo \1\)\n",
        said.out,
    )
    assert found, said.out
    assert cli("consolidate").out == "Nothing to consolidate.\n"
    assert cli("consolidate", "--undo", found[1]).out == "1 memory removed, 0 memories restored.\n"
    assert cli("consolidate", "--undo", found[1]).out == f"{found[1]} was already undone.\n"


def test_a_dry_run_shows_the_digests_and_writes_nothing(cli, talked) -> None:
    talked()
    said = cli("consolidate", "--dry-run").out
    assert "\n   user: " in said
    assert said.endswith(" tokens. Nothing was written.\n")
    assert set(cli("status", "--json").json["statuses"]) == {"active"}


def test_a_dry_run_shows_how_much_of_each_tier_would_be_promoted_and_the_first_few(cli) -> None:
    facts = [f"Our {name} server's port is {8440 + n}." for n, name in enumerate(NAMES)]
    with Memory.open(
        settings=replace(load_settings(), facts=FactSettings(stages=("changes",))), cold=True
    ) as memory:
        memory.add_many(
            NewMemory(f"{FILLER} {fact}", session=f"s{day}", role="user", turn=turn, date=f"2026-01-0{day}")
            for day in (2, 4)
            for turn, fact in enumerate(facts)
        )
    said = cli("consolidate", "--dry-run").out
    assert "\n5 facts would be promoted:\nsem_" in said
    assert said.count("\n  and 2 more (use --json to list all)\n") == 2
    assert sum(said.split("facts would be promoted:")[1].count(fact) for fact in facts) == 3
    assert re.search(r"; 5 facets, 5 facts would be promoted\. Nothing was written\.\n$", said)
    assert len(cli("consolidate", "--dry-run", "--json").json["promoted"]) == 10
    assert re.search(r"; 5 facets, 5 facts promoted; run run_", cli("consolidate").out)


def test_json_tells_what_was_made_and_undone(cli, talked) -> None:
    turns = talked()
    done = cli("consolidate", "--json").json
    (made,) = done["made"]
    assert sorted(made["sources"]) == sorted(turns)
    assert (done["kinds"], done["archived"], done["passed"]) == ({"turn": 6}, 0, "")
    undone = cli("consolidate", "--undo", done["run"], "--json").json
    assert undone == {"run": done["run"], "removed": 1, "restored": 0, "already": False}


@pytest.fixture
def diary(cli, tmp_path: Path) -> Path:
    """Take in three daily notes."""
    notes = tmp_path / "diary"
    notes.mkdir()
    for day in range(3):
        (notes / f"2026-01-0{day + 1}.md").write_text(
            f"# 2026-01-0{day + 1}\n\n" + f"{FILLER} The berth {day} costs {day + 20} euros in Faro. " * 3
        )
    assert cli("sync", str(notes)).code == 0
    return notes


def as_an_earlier_version_did() -> None:
    """Have every run look like those of the version that archived notes by itself."""
    with Memory.open(settings=load_settings(), cold=True) as memory:
        desk = memory.workspace
        with desk.store.reader(desk.scope) as reader:
            rows = [replace(row, rules="1") for row in reader.runs(9)]
        desk.store.write(desk.scope, [PutRun(row) for row in rows])


def test_notes_are_archived_by_hand_alone_and_each_is_named_with_the_way_back(cli, diary) -> None:
    assert cli("consolidate").out == "Nothing to consolidate.\n"
    assert (
        "Would be archived from notes:\n  2026-01-01.md (1 passage)"
        in cli("consolidate", "--archive", "notes", "--dry-run").out
    )
    said = cli("consolidate", "--archive", "notes").out
    assert "Archived from notes:\n  2026-01-01.md (1 passage)\n  2026-01-02.md" in said
    run = re.search(r"3 archived; run (run_\w+) \(undo: scrubjay consolidate --undo \1\)", said)
    assert run, said
    assert (
        f"archived   3 by consolidation in {run[1]} (undo: scrubjay consolidate --undo {run[1]})"
        in cli("status").out
    )
    assert "archive" not in [one["about"] for one in cli("doctor", "--json").json["checks"]]
    assert cli("consolidate", "--undo", run[1]).out.endswith("3 memories restored.\n")
    assert "by consolidation" not in cli("status").out


def test_what_an_earlier_version_archived_unasked_comes_back_with_one_command(cli, diary, talked) -> None:
    turns = talked()
    by_hand = cli("search", "berth Faro 21 euros", "--json").json["results"][0]["id"]
    cli("archive", by_hand)
    done = cli("consolidate", "--archive", "notes", "--json").json
    cli("consolidate", "--archive", "transcripts")
    as_an_earlier_version_did()
    way = "scrubjay restore --archived-by-consolidation"
    assert (
        f"archived   8 by consolidation of an earlier version, without being asked ({way})"
        in cli("status").out
    )
    checks = {one["about"]: one for one in cli("doctor", "--json").json["checks"]}
    assert (checks["archive"]["state"], checks["archive"]["fix"]) == ("warning", way)
    assert cli("restore", "--archived-by-consolidation").out == "8 memories restored.\n"
    assert cli("status", "--json").json["statuses"]["archived"] == 1
    assert cli("get", by_hand, "--json").json["memories"][0]["status"] == "archived"
    assert cli("restore", "--archived-by-consolidation").out == "0 memories restored.\n"
    again = cli("consolidate", "--archive", "transcripts", "--json").json  # what a person restored stays
    assert again["archived"] == 0
    assert [sorted(made["sources"]) for made in again["made"]] == [
        sorted(turns)
    ]  # told anew by the rules of now
    assert done["made"][0]["id"] not in [
        one["id"] for one in cli("search", "berth Faro", "--json").json["results"]
    ]
    assert cli("restore").code == 2


def test_a_former_name_of_the_settings_is_refused_and_not_ignored(cli, talked, tmp_path: Path) -> None:
    talked()
    file = tmp_path / "former.toml"
    file.write_text("[night]\nafter_days = 36000\n")
    cli.patch.setenv("SCRUBJAY_CONFIG", str(file))
    said = cli("consolidate")
    assert said.code != 0
    assert f"{file}:1: night is not a setting" in said.err


def test_a_heartbeat_does_nothing_before_it_is_due(cli, talked) -> None:
    assert cli("consolidate", "--if-due", "4h").out == "Nothing to consolidate.\n"
    talked()
    assert cli("consolidate", "--if-due", "4h").out == "Not due yet; nothing was done.\n"
    assert cli("consolidate", "--if-due", "0s").out.startswith("1 digest from 6 memories")


def test_how_old_is_old_is_a_setting_and_an_option(cli, talked) -> None:
    talked()
    recent = "1 conversation without a digest: last turn too recent ([consolidation] after_days)."
    assert cli("consolidate", "--after-days", "36500").out == f"Nothing to consolidate.\n{recent}\n"
    cli.patch.setenv("SCRUBJAY_CONSOLIDATION_AFTER_DAYS", "36000")
    assert cli("consolidate").out == f"Nothing to consolidate.\n{recent}\n"
    assert cli("consolidate", "--after-days", "1").out.startswith("1 digest")


def test_wrong_use_is_an_error(cli) -> None:
    assert cli("consolidate", "--if-due", "soon").code == 2
    assert cli("consolidate", "--undo", "run_0000000000").code == 2
    assert cli("consolidate", "--undo", "run_0000000000", "--dry-run").code == 2
    assert cli("consolidate", "--after-days", "-1").code == 2


def test_whoever_comes_second_is_told_so_and_it_is_no_error(cli, talked) -> None:
    talked()
    with Memory.open(settings=load_settings(), cold=True) as memory:
        desk = memory.workspace
        with desk.store.try_exclusive(desk.scope, "consolidate"):
            said = cli.process("consolidate")
            assert (said.code, said.out) == (0, "Another process is consolidating; nothing was done.\n")
            assert cli.process("consolidate", "--undo", "run_00").code == 4


@pytest.fixture
def chat(cli):
    with serving() as running:
        cli.patch.setenv("SCRUBJAY_LLM_BASE_URL", running.url)
        cli.patch.setenv("SCRUBJAY_LLM_MODEL", "qwen")
        yield running


def say(text: str) -> str:
    with Memory.open(settings=load_settings(), cold=True) as memory:
        return memory.add(text, session="s", role="user", turn=0).id


def test_what_a_language_model_found_is_told_and_where_it_found_it(cli, chat) -> None:
    turn = say("Ana sails without a compass. The Volvo idles at 850 rpm.")
    chat.facts = facts(
        ("Ana sails without a compass", "Ana sails without a compass"),
        ("The Volvo idles at 850 rpm", "The Volvo idles at 900 rpm"),
    )
    done = cli("consolidate")
    assert done.code == 0
    assert "1 fact extracted from 1 turn by a language model" in done.out
    assert "1 of its claims rejected: no source supports them" in done.out
    assert "Sending 1 turn (" in done.err
    found = cli("search", "who sails without a compass", "--tier", "semantic", "--json").json["results"][0]
    assert f"evidence: {turn} (read by qwen)" in cli("history", found["id"]).out
    assert "was read by a language model in run_" in cli("history", turn).out
    assert "(read by qwen): Ana sails" in cli("get", found["id"], "--evidence").out
    shown = cli("get", found["id"], "--evidence", "--json").json["memories"][0]
    assert shown["evidence"][0]["rule"] == "read by qwen"


@pytest.mark.parametrize("answer", [(403, b""), (401, b""), (200, b"x" * 2_000_000), (200, b"{}")])
def test_a_language_model_that_fails_costs_one_line_and_no_exit_code(cli, chat, talked, answer) -> None:
    talked()
    chat.facts = chat.digests = answer
    done = cli("consolidate")
    assert done.code == 0
    assert "1 digest from 6 memories" in done.out
    assert "Results of the rules are kept." in done.err
    assert done.err.count("qwen failed") == 1


def test_facets_of_another_machine_that_are_derived_again_are_not_called_digests(cli, tmp_path: Path) -> None:
    one, two = (("--store", tmp_path / f"{name}.db") for name in ("one", "two"))
    cli("add", "--tier", "semantic", "Our staging server's port is 8443.", *one)
    cli("consolidate", *one)
    cli("export", tmp_path / "one.jsonl", *one)
    cli("import", tmp_path / "one.jsonl", *two)
    said = cli("consolidate", *two).out
    assert said.startswith("1 derived memory removed: ")
    assert "digest" not in said
