from __future__ import annotations

from scrubjay.models.results import BLOCK_CLOSE, BLOCK_OPEN


def test_a_session_begins_with_a_delimited_block_and_its_size_on_standard_error(cli) -> None:
    cli("add", "Never deploy on Fridays.", "--pin")
    said = cli("context", "--session-start")
    assert said.code == 0
    assert said.out.startswith(f"{BLOCK_OPEN}\n")
    assert said.out.endswith(f"{BLOCK_CLOSE}\n")
    assert "Never deploy on Fridays." in said.out
    assert "tokens of 2,000" in said.err
    assert cli("context").out == said.out


def test_a_question_that_nothing_has_to_do_with_is_answered_with_nothing(cli, notes) -> None:
    cli("sync", notes)
    said = cli("context", "banana", "smoothie", "recipe")
    assert (said.code, said.out) == (0, "")
    assert "painted blue by Ann Lee" in cli("context", "who", "painted", "the", "hull").out


def test_json_tells_what_is_in_it_and_what_is_not(cli, notes) -> None:
    (notes / "CLAUDE.md").write_text("# Rules\n\nThe hull is painted blue, always.\n")
    cli("sync", notes)
    found = cli("context", "who painted the hull", "--budget", "300", "--json").json
    assert set(found) == {"text", "memories", "left_out", "tokens", "budget", "partial", "took_ms", "silence"}
    assert found["budget"] == 300 >= found["tokens"]
    assert found["memories"][0]["citation"].startswith(str(notes / "boats.md"))
    assert {one["why"] for one in found["left_out"]} == {"loaded"}
    other = cli("context", "who painted the hull", "--exclude-path", "boats.md", "--json").json
    assert [one["citation"] for one in other["memories"]] == [f"{notes / 'CLAUDE.md'}:1-3"]


def test_wrong_use_is_refused(cli) -> None:
    said = cli("context", "x", "--session-start")
    assert said.code == 2
    assert "--session-start takes no question" in said.err
    assert cli("context", "--budget", "10").code == 2
    assert cli("context", "--part", "dreams").code == 2


def test_parts_can_be_chosen(cli) -> None:
    cli("add", "Never deploy on Fridays.", "--pin")
    cli("add", "Deploy on Mondays only.", "--tier", "lesson")
    out = cli("context", "--part", "profile").out
    assert "Mondays" in out
    assert "Fridays" not in out


def test_a_memory_that_feedback_marked_wrong_says_so_in_its_line(cli) -> None:
    added = cli("add", "Deploy on Mondays only.", "--json").json
    cli("feedback", "wrong", added["id"])
    out = cli("context", "when do we deploy?").out
    assert f"marked wrong, {added['id']}] Deploy on Mondays only." in out


def test_pinned_memories_are_shown_for_a_project_without_memories(cli) -> None:
    cli("add", "Never deploy on Fridays.", "--pin")
    for asked in (("--session-start",), ("when do we deploy?",)):
        said = cli("context", *asked, "--project", "newproj")
        assert (said.code, "Never deploy on Fridays." in said.out) == (0, True)
        assert "No memory belongs to a project 'newproj'." in said.err


def test_an_empty_context_is_built_again_for_the_only_project_that_a_name_ends(cli) -> None:
    cli("add", "Deploys happen on Mondays.", "--project", "acme/harbour", "--tier", "lesson")
    assert "Mondays" in cli("context", "--project", "harbour").out
    said = cli("context", "--project", "harbor")
    assert said.code == 2
    assert "There is no project 'harbor'. Projects: acme/harbour." in said.err
