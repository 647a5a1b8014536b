from __future__ import annotations

import pytest


@pytest.fixture
def story(cli) -> list[str]:
    """Two memories, the later joined with the earlier."""
    first = cli("add", "We chose MongoDB for the orders.", "--date", "2023-01-05", "--json").json["id"]
    then = cli("add", "MongoDB lost orders, so we went to Postgres.", "--date", "2024-04-01", "--json").json[
        "id"
    ]
    return [first, then]


def test_a_story_is_told_in_order_with_gaps_and_ways(cli, story) -> None:
    said = cli("thread", "why", "did", "we", "leave", "MongoDB")
    assert said.code == 0
    assert said.out.index("We chose MongoDB") < said.out.index("MongoDB lost orders")
    assert "… 14 months later" in said.out
    assert "found by the search" in said.out
    assert story[0] in said.out
    assert "2 memories, 0 left out, in " in said.out
    assert "\x1b" not in said.out


def test_json_tells_path_parts_of_the_score_and_what_was_left_out(cli, story) -> None:
    found = cli("thread", "MongoDB", "--json").json
    assert set(found) == {"memories", "left_out", "silence", "partial", "took_ms"}
    assert [one["id"] for one in found["memories"]] == story
    assert {"found", "hops", "seed", "path", "own", "carried", "gap", "dated", "replaced_by"} <= set(
        found["memories"][0]
    )
    assert "explanation" not in found["memories"][0]


def test_the_score_is_explained_on_request(cli, story) -> None:
    assert "score: " in cli("thread", "MongoDB", "--explain").out
    assert "x propagated" not in cli("thread", "MongoDB").out


def test_filters_and_bounds_are_taken_from_the_command_line(cli, story) -> None:
    only = cli("thread", "MongoDB", "--since", "2024", "--hops", "0", "--json").json
    assert [one["id"] for one in only["memories"]] == story[1:]
    assert cli("thread", "MongoDB", "--hops", "9").code == 2
    assert cli("thread", "-", "--json", stdin="MongoDB").json["memories"]


def test_nothing_found_is_said_and_no_error(cli) -> None:
    said = cli("thread", "anything")
    assert said.code == 0
    assert said.out.startswith("Nothing found for: anything\n")
