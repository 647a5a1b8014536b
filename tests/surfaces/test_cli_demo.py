from __future__ import annotations

from pathlib import Path

from scrubjay.cli.sync import DEMO_NOTES, DEMO_QUESTIONS

ANSWERS = ("decisions/2026-01-14-postgresql.md", "people/mara.md", "errors.md")


def test_the_demo_answers_each_question_from_the_right_note_and_leaves_nothing(cli, tmp_path: Path) -> None:
    found = cli("demo", "--json").json
    assert [each["query"] for each in found["answers"]] == list(DEMO_QUESTIONS)
    for answer, note in zip(found["answers"], ANSWERS, strict=True):
        assert answer["results"][0]["path"] == str(DEMO_NOTES / note)
        assert answer["partial"] == []
    assert "explanation" in found["answers"][-1]["results"][0]
    assert not (tmp_path / "memory.db").exists()


def test_the_demo_reads_as_text_trusts_its_notes_and_keeps_a_store_that_is_named(cli, tmp_path: Path) -> None:
    said = cli("demo", "--store", tmp_path / "kept.db")
    assert said.code == 0
    for question in DEMO_QUESTIONS:
        assert question in said.out
    assert "scrubjay sync ~/notes" in said.out
    assert "= " in said.out
    assert cli("status", "--store", tmp_path / "kept.db", "--json").json["documents"] == len(
        list(DEMO_NOTES.rglob("*.md"))
    )
    [source] = cli("sources", "--store", tmp_path / "kept.db", "--json").json["sources"]
    assert source["trust"] == "trusted", "wherever scrubjay is installed"
