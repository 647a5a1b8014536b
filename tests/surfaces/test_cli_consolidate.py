from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.config import Learn, load
from scrubjay.memory.new import NewMemory

sys.path.insert(0, str(Path(__file__).parents[1]))

from chat_service import facts, serving

NAMES = ("staging", "printing", "billing", "mailing", "testing")
FILLER = "There are many things that one could say about it here, and it is a good idea to take your time. "


@pytest.fixture
def talked(cli) -> Callable[[], list[str]]:
    """Write down an old conversation of six turns."""

    def talk() -> list[str]:
        with Memory.open(settings=load(), cold=True) as memory:
            added = memory.add_many(
                NewMemory(
                    f"{FILLER * 2}The mooring {number} costs {number * 13 + 7} euros in Lisbon.",
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
        r"1 digest from 6 memories \(6 turns\), [\d,]+ of [\d,]+ tokens; 6 archived; "
        r"run (run_[0-9a-f]{10}) \(undo: scrubjay consolidate --undo \1\)\n",
        said.out,
    )
    assert found, said.out
    assert cli("consolidate").out == "Nothing to consolidate.\n"
    assert cli("consolidate", "--undo", found[1]).out == "1 memory removed, 6 memories restored.\n"
    assert cli("consolidate", "--undo", found[1]).out == f"{found[1]} is undone already.\n"


def test_a_dry_run_shows_the_digests_and_writes_nothing(cli, talked) -> None:
    talked()
    said = cli("consolidate", "--dry-run").out
    assert "\n   user: " in said
    assert said.endswith("; 6 would be archived. Nothing was written.\n")
    assert set(cli("status", "--json").json["statuses"]) == {"active"}


def test_a_dry_run_shows_how_much_of_each_tier_would_be_promoted_and_the_first_few(cli) -> None:
    facts = [f"The {name} server is on port {8440 + n}." for n, name in enumerate(NAMES)]
    with Memory.open(settings=replace(load(), learn=Learn(stages=("changes",))), cold=True) as memory:
        memory.add_many(
            NewMemory(f"{FILLER} {fact}", session=f"s{day}", role="user", turn=turn, date=f"2026-01-0{day}")
            for day in (2, 4)
            for turn, fact in enumerate(facts)
        )
    said = cli("consolidate", "--dry-run").out
    assert "\n5 facts would be promoted:\nsem_" in said
    assert said.count("\n  and 2 more (--json names all)\n") == 2
    assert sum(said.split("facts would be promoted:")[1].count(fact) for fact in facts) == 3
    assert re.search(r"; 5 facets, 5 facts would be promoted\. Nothing was written\.\n$", said)
    assert len(cli("consolidate", "--dry-run", "--json").json["promoted"]) == 10
    assert re.search(r"; 5 facets, 5 facts promoted; run run_", cli("consolidate").out)


def test_json_tells_what_was_made_and_undone(cli, talked) -> None:
    turns = talked()
    done = cli("consolidate", "--json").json
    (made,) = done["made"]
    assert sorted(made["sources"]) == sorted(turns)
    assert (done["kinds"], done["archived"], done["passed"]) == ({"turn": 6}, 6, "")
    undone = cli("consolidate", "--undo", done["run"], "--json").json
    assert undone == {"run": done["run"], "removed": 1, "restored": 6, "already": False}


def test_a_heartbeat_does_nothing_before_it_is_due(cli, talked) -> None:
    assert cli("consolidate", "--if-due", "4h").out == "Nothing to consolidate.\n"
    talked()
    assert cli("consolidate", "--if-due", "4h").out == "Not due yet; nothing was done.\n"
    assert cli("consolidate", "--if-due", "0s").out.startswith("1 digest from 6 memories")


def test_how_old_is_old_is_a_setting_and_an_option(cli, talked) -> None:
    talked()
    assert cli("consolidate", "--after-days", "36500").out == "Nothing to consolidate.\n"
    cli.patch.setenv("SCRUBJAY_NIGHT_AFTER_DAYS", "36000")
    assert cli("consolidate").out == "Nothing to consolidate.\n"
    assert cli("consolidate", "--after-days", "1").out.startswith("1 digest")


def test_wrong_use_is_an_error(cli) -> None:
    assert cli("consolidate", "--if-due", "soon").code == 2
    assert cli("consolidate", "--undo", "run_0000000000").code == 2
    assert cli("consolidate", "--undo", "run_0000000000", "--dry-run").code == 2
    assert cli("consolidate", "--after-days", "-1").code == 2


def test_whoever_comes_second_is_told_so_and_it_is_no_error(cli, talked) -> None:
    talked()
    with Memory.open(settings=load(), cold=True) as memory:
        desk = memory._desk
        with desk.store.alone(desk.scope, "consolidate"):
            said = cli.process("consolidate")
            assert (said.code, said.out) == (0, "Another process consolidates now; nothing was done.\n")
            assert cli.process("consolidate", "--undo", "run_00").code == 4


@pytest.fixture
def chat(cli):
    with serving() as running:
        cli.patch.setenv("SCRUBJAY_LLM_BASE_URL", running.url)
        cli.patch.setenv("SCRUBJAY_LLM_MODEL", "qwen")
        yield running


def say(text: str) -> str:
    with Memory.open(settings=load(), cold=True) as memory:
        return memory.add(text, session="s", role="user", turn=0).id


def test_what_a_language_model_found_is_told_and_where_it_found_it(cli, chat) -> None:
    turn = say("Ana sails without a compass. The Volvo idles at 850 rpm.")
    chat.facts = facts(
        ("Ana sails without a compass", "Ana sails without a compass"),
        ("The Volvo idles at 850 rpm", "The Volvo idles at 900 rpm"),
    )
    done = cli("consolidate")
    assert done.code == 0
    assert "1 statement more in 1 turn that a language model read" in done.out
    assert "1 of its claims refused: no source says them" in done.out
    assert "Sending 1 turn (" in done.err
    found = cli("search", "who sails without a compass", "--tier", "semantic", "--json").json["results"][0]
    assert f"evidence: {turn} (read by qwen)" in cli("history", found["id"]).out
    assert "was read by a language model in run_" in cli("history", turn).out
    assert "(read by qwen): Ana sails" in cli("get", found["id"], "--evidence").out
    shown = cli("get", found["id"], "--evidence", "--json").json["memories"][0]
    assert shown["evidence"][0]["rule"] == "read by qwen"


@pytest.mark.parametrize("answer", [(500, b""), (401, b""), (200, b"x" * 2_000_000), (200, b"{}")])
def test_a_language_model_that_fails_costs_one_line_and_no_exit_code(cli, chat, talked, answer) -> None:
    talked()
    chat.facts = chat.digests = answer
    done = cli("consolidate")
    assert done.code == 0
    assert "1 digest from 6 memories" in done.out
    assert "What the rules found stands." in done.err
    assert done.err.count("qwen failed") == 1
