from __future__ import annotations

import json
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.errors import InputError


def test_what_is_exported_comes_back_by_an_import(cli, tmp_path: Path) -> None:
    added = cli("add", "The mast is 12 metres", "--json").json["id"]
    file = tmp_path / "x.jsonl"
    assert cli("export", file).out.startswith(f"1 memory, 0 edges and 0 events in {file}, ")
    other = ("--store", str(tmp_path / "other.db"))
    dry = cli("import", file, "--dry-run", *other)
    assert dry.out.startswith("1 memory would be added, 0 already present")
    assert "The mast is 12 metres" in dry.out
    assert cli("search", "mast", "--json", *other).json["results"] == []
    assert cli("import", file, "--json", *other).json["added"] == 1
    assert cli("import", file, *other).out.startswith("0 memories added, 1 already present")
    (found,) = cli("search", "mast", "--json", *other).json["results"]
    assert found["id"] != added


def test_an_import_names_what_was_forgotten_elsewhere_and_skips_what_was_forgotten_here(
    cli, tmp_path: Path
) -> None:
    file, other = tmp_path / "x.jsonl", ("--store", str(tmp_path / "other.db"))
    added = cli("add", "The mast is 12 metres", "--json").json["id"]
    cli("export", file)
    cli("import", file, *other)
    (there,) = cli("search", "mast", "--json", *other).json["results"]
    cli("forget", added, "--yes")
    assert "1 memory skipped: forgotten here (--include-forgotten imports it)." in cli("import", file).out
    cli("export", file, "--overwrite")
    said = cli("import", file, *other).out
    assert (
        f"1 memory forgotten in the other store, still here.\nhint: scrubjay forget {there['id']}\n" in said
    )
    assert (
        "1 memory would be forgotten here, too." in cli("import", file, "--forget", "--dry-run", *other).out
    )
    assert "1 memory forgotten here, too." in cli("import", file, "--forget", *other).out
    assert cli("search", "mast", "--json", *other).json["results"] == []


def test_the_hint_names_forget_only_where_it_was_not_given(cli, tmp_path: Path) -> None:
    file, texts = tmp_path / "x.jsonl", [f"Mast {number} is tall" for number in range(12)]
    for text in texts:
        cli("forget", cli("add", text, "--json").json["id"], "--yes")
    cli("export", file)
    for text in texts:
        cli("add", text)
    said = cli("import", file).out
    assert "12 memories forgotten in the other store, still here." in said
    assert "repeat the import with --forget" in said
    said = cli("import", file, "--forget").out
    assert "12 memories forgotten in the other store, still here." in said
    assert said.count(": edited, or added again here, since the stores were last merged\n") == 10
    assert "  … and 2 more (--json lists all)\n" in said
    assert "repeat the import" not in said
    assert len(cli("import", file, "--forget", "--json").json["kept"]) == 12


def test_an_import_that_forgets_names_the_files_that_hold_the_texts(cli, tmp_path: Path) -> None:
    file, other = tmp_path / "x.jsonl", ("--store", str(tmp_path / "other.db"))
    note = tmp_path / "notes" / "boat.md"
    note.parent.mkdir()
    note.write_text("# Mast\n\nThe mast is red.\n\n# Keel\n\nThe keel is blue.\n")
    cli("sync", note.parent)
    cli("export", file)
    cli("import", file, *other)
    note.write_text(note.read_text().replace("keel is blue", "keel is grey"))
    cli("sync", note.parent, *other)
    for name in ("mast is red", "keel is blue"):
        cli("forget", cli("search", name, "--limit", "1", "--json").json["results"][0]["id"], "--yes")
    cli("export", file, "--overwrite")
    (keel,) = cli("search", "keel is grey", "--limit", "1", "--json", *other).json["results"]
    said = cli("import", file, "--forget", *other).out
    assert f"1 memory forgotten here, too.\nThe text remains in {note}:1-4.\n" in said
    short = keel["id"].partition("_")[2][:6]
    assert (
        f"\n  {short} in {note}:5-7: edited, or added again here, since the stores were last merged\n" in said
    )


def test_every_file_that_differs_here_is_in_the_json_of_an_import(cli, tmp_path: Path) -> None:
    notes, file, other = tmp_path / "notes", tmp_path / "x.jsonl", ("--store", str(tmp_path / "other.db"))
    notes.mkdir()
    for text in ("blue", "red"):
        for number in range(105):
            (notes / f"{number}.md").write_text(f"Boat {number} is {text}.\n")
        (notes / "same.md").write_text("The keel is lead.\n")
        cli("sync", notes, *(other if text == "red" else ()))
        if text == "blue":
            cli("export", file)
    assert "and 102 more (--json lists all)\nhint: copy" in cli("import", file, *other).out
    assert len(cli("import", file, "--json", *other).json["passed_files"]) == 105


def test_an_export_that_is_not_trusted_forgets_nothing(cli, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    cli("add", "The mast is 12 metres")
    cli("export", file)
    refused = cli("import", file, "--untrusted", "--forget", "--store", str(tmp_path / "other.db"))
    assert refused.code == 2
    assert "may not forget memories here. Nothing was imported." in refused.err
    assert "hint: import it without --forget" in refused.err


def test_forgetting_everything_asks_first_and_takes_no_ids(cli) -> None:
    added = cli("add", "The mast is 12 metres", "--json").json["id"]
    assert [cli("forget", *wrong).code for wrong in ([], [added, "--everything"])] == [2, 2]
    assert "Nothing was forgotten" in cli("forget", "--everything").err
    assert cli("forget", "--everything", "--yes").out == "1 memory forgotten.\n"
    assert cli("search", "mast", "--json").json["results"] == []


def test_an_export_to_standard_output_is_nothing_but_lines(cli) -> None:
    cli("add", "The mast is 12 metres")
    said = cli.process("export", "-")
    rows = [json.loads(line) for line in said.out.splitlines()]
    assert [row["line"] for row in rows] == ["header", "memory", "footer"]
    assert (said.code, said.err) == (0, "")


def test_an_export_does_not_replace_a_file_unasked(cli, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text("mine", "utf-8")
    said = cli("export", file)
    assert (said.code, file.read_text("utf-8")) == (2, "mine")
    assert "--overwrite" in said.err
    with Memory.open() as memory, pytest.raises(InputError) as error:
        memory.export(file)
    assert "overwrite=True" in error.value.hint
    assert cli("export", file, "--overwrite").code == 0


def test_a_cut_file_is_refused_with_its_last_line(cli, tmp_path: Path) -> None:
    cli("add", "The mast is 12 metres")
    file = tmp_path / "x.jsonl"
    cli("export", file)
    file.write_bytes(file.read_bytes()[:-30])
    said = cli("import", file, "--json")
    assert said.code == 2
    assert "was cut short: line 3" in said.json["error"]["message"]


def test_a_backup_opens_as_a_store(cli, tmp_path: Path) -> None:
    added = cli("add", "The mast is 12 metres", "--json").json["id"]
    copy = tmp_path / "copy.db"
    assert "is a verified copy of the store" in cli("backup", copy).out
    assert cli("get", added, "--store", str(copy)).code == 0
    assert cli("backup", copy).code == 2


def test_lines_that_cannot_be_taken_are_named_and_the_others_are_taken(cli, tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text('{"content": "The mast is 12 metres"}\n{"content": 7}\n', "utf-8")
    said = cli("import", file)
    assert (said.code, said.out.startswith("1 memory added, 0 already present")) == (0, True)
    assert "line 2: it has no text under `content`" in said.err
    done = cli("import", file, "--json").json
    assert (done["format"], done["existed"], done["failures"]) == ("jsonl", 1, 1)


def test_every_format_that_the_library_knows_can_be_named(cli) -> None:
    from scrubjay.cli import transfer
    from scrubjay.transfer.formats import IMPORT_FORMATS

    assert transfer.IMPORT_FORMATS == IMPORT_FORMATS


def test_a_workspace_is_named_as_the_source_that_it_becomes(cli, tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "MEMORY.md").write_text("The mast is 12 metres.\n", "utf-8")
    said = cli("import", tmp_path / "w", "--dry-run")
    assert f"Would be a source, read by every sync: {tmp_path / 'w'}" in said.out
    assert said.out.startswith("Would register as a source: 1 file (format openclaw)\n")
    assert "memories" not in said.out
    assert f"Now a source, read by every sync: {tmp_path / 'w'}" in cli("import", tmp_path / "w").out


def test_a_copy_to_another_file_holds_and_answers_the_same(cli, tmp_path: Path) -> None:
    added = cli("add", "The mast is 12 metres", "--json").json["id"]
    mine = cli("status", "--json").json["store"]
    other = tmp_path / "other.db"
    said = cli("copy", mine, other)
    assert said.code == 0, said.err
    assert said.out.startswith("Tenant default: 1 memory, 0 documents, 0 edges and ")
    assert "Copying: 1 of 1 memory" in said.err
    (found,) = cli("search", "mast", "--json", "--store", str(other)).json["results"]
    assert found["id"] == added
    (again,) = cli("copy", mine, other, "--json").json
    assert (again["resumed"], again["counts"]["memories"]) == (True, 1)
    assert cli("copy", mine, tmp_path / "all.db", "--all-tenants", "--json").json[0]["tenant"] == "default"


def test_a_copy_that_cannot_be_says_why_and_makes_nothing(cli, tmp_path: Path) -> None:
    cli("add", "The mast is 12 metres")
    mine = cli("status", "--json").json["store"]
    other = tmp_path / "other.db"
    cases = {
        (mine, mine): "is the store itself",
        (tmp_path / "none.db", other): "does not exist",
        (mine, "memory://"): "ends with its process",
        (mine, other, "--tenant", "nobody"): "nothing of tenant nobody",
        (mine, other, "--tenant", "a", "--all-tenants"): "exclude each other",
    }
    for args, why in cases.items():
        said = cli("copy", *args)
        assert (said.code, why in said.err) == (2, True), (args, said.err)
    assert not other.exists()
    assert not (tmp_path / "none.db").exists()
    cli("add", "Something of its own", "--store", str(other))
    said = cli("copy", mine, other)
    assert (said.code, ", with 1 memories" in said.err) == (2, True)
    assert "empty store" in said.err


def test_memories_are_exported_as_markdown_and_kept_in_the_folder_of_the_settings(
    cli, environ: dict[str, str], tmp_path: Path
) -> None:
    cli("add", "The mast is 12 metres.")
    told = cli("export", "--format", "markdown", str(tmp_path / "out"))
    assert "1 memory in" in told.out
    assert "1 file written" in told.out
    (file,) = (tmp_path / "out").rglob("*.memory.md")
    assert "The mast is 12 metres." in file.read_text()
    environ["SCRUBJAY_NOTES_LEARNED_DIR"] = str(tmp_path / "learned")
    cli.process("add", "The keel is lead.")
    (file,) = (tmp_path / "learned").rglob("*.memory.md")
    assert "The keel is lead." in file.read_text()
    refused = cli("export", "--format", "markdown", "-")
    assert refused.code == 2
    assert "folder" in refused.err


def test_files_that_differ_here_are_named_with_the_next_step(cli, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in ("boat", "keel", "mast", "rig", "tide"):
        (notes / f"{name}.md").write_text(f"The {name} is blue.\n", "utf-8")
    file, other = tmp_path / "x.jsonl", ("--store", str(tmp_path / "other.db"))
    cli("sync", notes)
    cli("export", file)
    for name in ("boat", "keel", "mast", "rig"):
        (notes / f"{name}.md").write_text(f"The {name} is red.\n", "utf-8")
    cli("sync", notes, *other)
    said = cli("import", file, *other).out
    assert "4 memories skipped, because the file here is missing or has another version: " in said
    assert f"{notes / 'boat.md'}, {notes / 'keel.md'}, {notes / 'mast.md'} and 1 more" in said
    assert "hint: copy the version you want here, then scrubjay sync" in said
    assert len(cli("import", file, "--json", *other).json["passed_files"]) == 4


def test_a_dry_run_shows_a_title_once_although_the_text_begins_with_it(cli, tmp_path: Path) -> None:
    note = tmp_path / "rates.md"
    note.write_text("---\ntitle: Rates\npermalink: rates\n---\n- [fact] The day rate is 850 euros\n", "utf-8")
    said = cli("import", note, "--dry-run").out
    assert "Rates: The day rate is 850 euros" in said
    assert "Rates: Rates:" not in said


def test_imported_sources_that_are_not_on_this_machine_are_called_so_and_are_no_error(
    cli, tmp_path: Path
) -> None:
    other = ("--store", str(tmp_path / "other.db"))
    for name in ("boats", "gardens", "here"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "note.md").write_text(f"A note on {name}.\n", "utf-8")
        cli("sync", tmp_path / name, *other)
    file = tmp_path / "all.jsonl"
    cli("export", file, *other)
    (tmp_path / "boats").rename(tmp_path / "away")
    (tmp_path / "gardens").rename(tmp_path / "gone")
    said = cli("import", file)
    assert f"Now a source, not on this machine; its memories are kept: {tmp_path / 'boats'}" in said.out
    assert f"Now a source, read by every sync: {tmp_path / 'here'}" in said.out
    assert cli("sources").out.count("imported, never synced here") == 3
    said = cli("sync")
    assert said.code == 0
    assert (
        "2 imported sources, this one the first, are not on this machine; their memories are kept."
        in said.err
    )
    assert cli("sources").out.count("imported, never synced here") == 2
    assert "1, all readable; 2 imported and not on this machine, memories kept" in cli("doctor").out
    (tmp_path / "away").rename(tmp_path / "boats")
    assert cli("sync").code == 0
    (tmp_path / "boats").rename(tmp_path / "away")  # it was synced here
    assert cli("sync").code == 3
