from __future__ import annotations

import pytest


@pytest.fixture
def junk(cli) -> str:
    cli("add", "The mast is twelve metres high")
    return cli("add", "ok", "--json").json["id"]


def test_every_fault_is_told_with_its_share_its_worst_and_its_fix(cli, junk) -> None:
    said = cli("audit").out
    assert said.startswith("2 active memories audited in ")
    assert "junk                    1   50.0%   fix: scrubjay audit --fix junk\n" in said
    assert f"   {junk}  " in said
    assert "ok  (says nothing)\n" in said
    for kind in ("near-duplicate", "stale", "orphaned"):
        assert f"\n{kind:<15}         0    0.0%\n" in said


def test_a_fix_names_what_it_put_away_and_how_to_take_it_back(cli, junk) -> None:
    assert cli("audit", "--fix", "junk", "--dry-run").out == f"junk: 1 memory would be archived: {junk}\n"
    first, undo = cli("audit", "--fix", "junk").out.splitlines()
    assert first == f"junk: 1 memory was archived: {junk}"
    assert undo.startswith("undo: scrubjay audit --undo run_")
    assert cli("get", junk, "--json").json["memories"][0]["status"] == "archived"
    assert cli(*undo.split()[2:]).out == "1 memory restored.\n"
    assert cli("get", junk, "--json").json["memories"][0]["status"] == "active"
    assert cli("audit", "--fix", "junk").out == "junk: 0 memories were archived.\n"


def test_json_has_all_of_it(cli, junk) -> None:
    found = cli("audit", "--json").json
    assert found["rates"][0]["kind"] == "junk"
    assert found["rates"][0]["examples"][0]["memory"]["id"] == junk
    assert cli("audit", "--fix", "junk", "--json").json["fixed"] == {"junk": [junk]}


def test_a_folder_that_is_gone_comes_with_the_command_that_removes_it(cli, notes) -> None:
    cli("sync", notes)
    notes.rename(notes.with_name("elsewhere"))
    source = cli("sources", "--json").json["sources"][0]["id"]
    said = cli("audit").out
    assert (
        f"{notes} is missing; 4 passages of it still stored.\n   fix: scrubjay sources remove {source}\n"
        in said
    )


def test_retention_without_a_limit_names_the_settings_that_set_one(cli, junk) -> None:
    said = cli("audit", "--retention").out
    assert said == (
        "No limit is set, so nothing is archived or forgotten.\nhint: set days or most under [retention]\n"
    )


def test_retention_says_what_it_would_do_and_does_it(cli, junk) -> None:
    cli.patch.setenv("SCRUBJAY_RETENTION_MOST", "1")
    would = cli("audit", "--retention", "--dry-run").out.splitlines()
    assert would[0].startswith("1 memory would be archived: ")
    assert would[1:] == ["0 memories would be forgotten."]
    done = cli("audit", "--retention").out.splitlines()
    assert done[0].startswith("1 memory was archived: ")
    assert done[2].startswith("undo: scrubjay audit --undo run_")
    assert cli("status", "--json").json["statuses"] == {"active": 1, "archived": 1}


def test_what_cannot_be_together_is_refused(cli, junk) -> None:
    said = cli("audit", "--fix", "junk", "--retention")
    assert (said.code, "exclude each other" in said.err) == (2, True)
    assert cli("audit", "--fix", "duplicates").code == 2
    assert cli("audit", "--undo", "run_none").code == 2
