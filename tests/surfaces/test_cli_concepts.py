"""`scrubjay concepts`, and links with `scrubjay get`."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from scrubjay.models.views import DictionaryReport, EntityPage, EntitySummary


@pytest.fixture
def boats(cli) -> list[str]:
    """Four memories of kayaks and tents."""
    texts = ["the kayak and the tent are red", "kayak, tent, rope", "a tent is wet", "nothing to tell"]
    return [cli("add", text, "--json").json["id"] for text in texts]


def test_an_empty_store_says_what_to_do(cli, environ) -> None:
    told = f"You have no memories in sqlite:///{environ['SCRUBJAY_STORE']} (user 'ann').\nhint: scrubjay sync DIR\n"
    for words in (["concepts"], ["concepts", "list"]):
        assert cli(*words).out == told
    assert cli("concepts", "--json").json == {"concepts": [], "total": 0}


def test_a_store_without_concepts_says_how_one_is_added(cli, boats) -> None:
    said = cli("concepts")
    assert (said.code, said.out) == (0, "There are no concepts yet.\n")
    assert "scrubjay concepts add" in said.err
    assert "'zebra'" in cli("concepts", "list", "zebra").out


def test_concepts_are_added_listed_and_shown(cli, boats) -> None:
    assert (
        cli("concepts", "add", "kayak", "--alias", "canoe").out
        == "1 concept added, 0 changed, 2 memories linked.\n"
    )
    cli("concepts", "add", "tent")
    first, second = cli("concepts").out.splitlines()
    assert first.split()[:4] == ["tent", "3", "memories", "given"]
    assert second.split()[:4] == ["kayak", "2", "memories", "given"]
    assert second.endswith("canoe")
    out = cli("concepts", "show", "CANOE").out
    assert out.startswith("kayak\ngiven · 2 memories · con_")
    assert "also canoe" in out
    assert "related" in out
    assert all(each in out for each in ("tent", "kayak, tent, rope", boats[1]))
    assert boats[2] not in out


def test_json_has_the_fields_of_the_values(cli, boats) -> None:
    added = cli("concepts", "add", "kayak", "--json").json
    assert list(added) == [item.name for item in fields(DictionaryReport)]
    cli("concepts", "add", "tent")
    listed = cli("concepts", "list", "-n", "1", "--json").json
    assert listed["total"] == 2
    assert [list(each) for each in listed["concepts"]] == [[item.name for item in fields(EntitySummary)]]
    shown = cli("concepts", "show", "tent", "--json").json
    assert list(shown) == [item.name for item in fields(EntityPage)]
    assert [near["name"] for near in shown["related"]] == ["kayak"]
    for edit in (["rename", "tent", "tarp"], ["merge", "tarp", "kayak"], ["remove", "kayak"]):
        assert list(cli("concepts", *edit, "--json").json) == [item.name for item in fields(EntitySummary)]


def test_a_list_that_is_cut_says_so_and_a_part_of_a_name_narrows_it(cli) -> None:
    cli("concepts", "add", "kayak", "--alias", "canoe")
    cli("concepts", "add", "tent")
    said = cli("concepts", "list", "-n", "1")
    assert len(said.out.splitlines()) == 1
    assert "1 of 2 concepts; use -n 2 to show all." in said.err
    assert [line.split()[0] for line in cli("concepts", "list", "CAN").out.splitlines()] == ["kayak"]


def test_a_refused_name_is_an_error_that_says_why(cli) -> None:
    said = cli("concepts", "add", "the")
    assert said.code == 2
    assert '"the" cannot be the name of a concept: it is a common word' in said.err
    assert cli("concepts", "--json").json["total"] == 0


def test_a_dictionary_file_is_taken_and_its_broken_lines_are_named(cli, boats, tmp_path: Path) -> None:
    file = tmp_path / "terms.csv"
    file.write_text('# boats\nkayak, canoe\nthe\n"broken\nKayak, canoe\ntent, canoe\n')
    said = cli("concepts", "add", "--file", file)
    assert said.code == 0
    assert said.out == "2 concepts added, 0 changed, 3 memories linked.\n"
    assert "line 3: the: it is a common word; skipped." in said.err
    assert "line 4: it is not valid CSV" in said.err
    assert '"canoe" already means kayak, so it does not find tent.' in said.err
    assert "scrubjay concepts merge" in said.err
    assert cli("concepts", "add", "--file", tmp_path / "none").code == 3
    for wrong in ([], ["tent", "--file", file], ["--file", file, "--alias", "x"]):
        assert cli("concepts", "add", *wrong).code == 2


def test_concepts_are_renamed_merged_and_removed(cli, boats) -> None:
    for name in ("kayak", "tent"):
        cli("concepts", "add", name)
    assert cli("concepts", "rename", "tent", "tarp").out == "tent is renamed to tarp: 3 memories.\n"
    assert cli("concepts", "merge", "tent", "kayak").out == "tent is merged into kayak: 3 memories.\n"
    assert "kayak removed; 3 memories mentioned it." in cli("concepts", "remove", "tarp").out
    assert cli("concepts", "--json").json["total"] == 0
    for words in (
        ["show", "kayak"],
        ["remove", "kayak"],
        ["rename", "kayak", "boat"],
        ["merge", "kayak", "tent"],
    ):
        said = cli("concepts", *words)
        assert said.code == 2
        assert "hint: `scrubjay concepts list PART`" in said.err


def test_a_public_concept_is_listed_for_others_and_a_private_one_is_not(cli) -> None:
    cli("concepts", "add", "kayak", "--public")
    cli("concepts", "add", "tent")
    listed = cli("concepts", "--user", "bob", "--json").json["concepts"]
    assert [each["name"] for each in listed] == ["kayak"]
    assert cli("concepts", "show", "tent", "--user", "bob").code == 2


def test_a_name_cannot_steer_the_terminal(cli, tmp_path: Path) -> None:
    cli("add", "see [[red \u202egnp]] here")
    assert "\u202e" not in cli("concepts").out


def test_get_shows_links_when_asked(cli, boats, environ) -> None:
    from scrubjay import Memory

    with Memory.open(environ["SCRUBJAY_STORE"]) as memory:
        memory.link(boats[0], boats[3], "supersedes", 0.5)
    out = cli("get", boats[0], "--links").out
    assert f"-> supersedes 0.50 {boats[3]} nothing to tell" in out.splitlines()
    assert f"<- supersedes 0.50 {boats[0]}" in cli("get", boats[3], "--links").out
    (shown,) = cli("get", boats[0], "--links", "--json").json["memories"]
    assert [(link["id"], link["direction"], link["given"]) for link in shown["links"]] == [
        (boats[3], "to", True)
    ]
    assert "links" not in cli("get", boats[0], "--json").json["memories"][0]
    assert "supersedes" not in cli("get", boats[0]).out


def test_a_sync_links_concepts_that_are_listed(cli, tmp_path: Path) -> None:
    folder = tmp_path / "wiki"
    folder.mkdir()
    (folder / "a.md").write_text("# Trip\n\nWe took the [[Kiel Canal]] in May.\n")
    assert cli("sync", folder, "--json").json["linked"] >= 1
    assert "Kiel Canal" in cli("concepts").out


def test_concepts_with_a_name_shows_that_concept(cli) -> None:
    cli("concepts", "add", "Osprey Plan")
    assert cli("concepts", "Osprey", "Plan").out == cli("concepts", "show", "Osprey Plan").out != ""
    assert cli("concepts", "Osprey", "Plan", "--user", "bob").code == 2
    said = cli("concepts", "Nobody", "--json")
    assert said.code == 2
    assert said.json["error"]["type"] == "NotFoundError"
