"""What was redacted is listed with its place."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from scrubjay import Memory
from scrubjay.cli.main import cli
from scrubjay.config.loader import load_settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import ConfigError
from scrubjay.models.lifecycle import NewMemory


def test_each_redaction_is_listed_with_kind_file_and_line_and_never_the_secret(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "wifi.md").write_text(
        "# Wi-Fi\n\nThe router is new.\nThe wifi password is Tulpe#Regen7 for guests.\n"
    )
    (notes / "plain.md").write_text("# Plain\n\nThe staging cluster is kestrel-stg-3 now.\n")
    store = tmp_path / "memory.db"
    with Memory.open(store) as memory:
        memory.sync(notes)
        (one,) = memory.redactions()
    assert (one.line, one.before.strip(), one.after.strip()) == (4, "The wifi password is", "for guests.")
    assert one.path.endswith("wifi.md")
    done = CliRunner().invoke(cli, ["--store", str(store), "redactions", "--json"])
    listed = json.loads(done.output)["redactions"]
    assert [row["line"] for row in listed] == [4]
    assert "Tulpe" not in done.output


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_a_store_without_redactions_says_so(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    store = tmp_path / "memory.db"
    with Memory.open(store) as memory:
        memory.add("Nothing secret here.")
    done = CliRunner().invoke(cli, ["--store", str(store), "redactions", *arguments])
    assert done.exit_code == 0
    assert "Nothing was redacted." in done.output or json.loads(done.output) == {"redactions": []}


def test_a_mark_that_a_person_wrote_into_an_addition_is_no_redaction(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.add("The room is [private], see [the plan].")
        assert memory.redactions() == []
        one = memory.add("The room is [private], the wifi password is Tulpe#Regen7.").id
        memory.add("The code is <private>4711</private>.")
        assert [mark.kind for mark in memory.redactions() if mark.memory != one] == ["private"]
        assert one in {mark.memory for mark in memory.redactions()}


def test_a_word_of_the_allow_list_comes_back_at_the_next_sync(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "wifi.md").write_text("# Wi-Fi\n\nThe wifi password is Tulpe#Regen7 for guests.\n")
    store = tmp_path / "memory.db"
    with Memory.open(store) as memory:
        memory.sync(notes)
        assert len(memory.redactions()) == 1
    for allowed in ("Tulpe#Regen7", "/Tulpe#.*/"):
        settings = tmp_path / "config.toml"
        settings.write_text(f"[redaction]\nallow = [{json.dumps(allowed)}]\n")
        settings_file = {"SCRUBJAY_CONFIG": str(settings)}
        done = CliRunner().invoke(cli, ["--store", str(store), "sync"], env=settings_file)
        assert done.exit_code == 0, done.output
        with Memory.open(store) as memory:
            assert memory.redactions() == []
            assert "Tulpe#Regen7" in memory.search("wifi password").results[0].snippet


def test_a_change_of_the_allow_list_keeps_the_vectors_of_all_other_memories(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "wifi.md").write_text(f"# Wi-Fi\n\n{TOLD}\n")
    for name in ("heron", "kestrel"):
        (notes / f"{name}.md").write_text(f"# {name}\n\nThe {name} is a bird.\n")
    embedders = [HashEmbedder(64), HashEmbedder(48, name="second")]
    with Memory.open(tmp_path / "memory.db", embedders=embedders) as memory:
        memory.sync(notes)
        memory.add("The office moved to Lisbon.")
        assert memory.embed().waiting == 0
    settings = load_settings(environ={"SCRUBJAY_REDACTION_ALLOW": "Tulpe#Regen7"})
    with Memory.open(tmp_path / "memory.db", settings=settings, embedders=embedders) as memory:
        assert memory.sync(notes).waiting <= 1
        assert "Tulpe#Regen7" in memory.search("wifi password").results[0].snippet


def test_the_list_of_redactions_says_how_to_keep_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "config.toml"
    settings.touch()
    monkeypatch.setenv("SCRUBJAY_CONFIG", str(settings))
    store = tmp_path / "memory.db"
    with Memory.open(store) as memory:
        memory.add(TOLD)
    done = CliRunner().invoke(cli, ["--store", str(store), "redactions"])
    assert 'allow = ["word"] under [redaction]' in done.stderr
    assert str(settings) in done.stderr
    assert "hint" not in done.stdout


TOLD = "The wifi password is Tulpe#Regen7 for guests."


def added(memory: Memory, folder: Path) -> None:
    memory.add(TOLD)


def added_with_others(memory: Memory, folder: Path) -> None:
    memory.add_many([NewMemory(TOLD), NewMemory("The depot opens at seven.")])


def amended(memory: Memory, folder: Path) -> None:
    memory.update(memory.add("The depot opens at seven.").id, content=TOLD)


def of_a_talk(memory: Memory, folder: Path) -> None:
    line = {
        "parentUuid": None, "isSidechain": False, "userType": "external", "cwd": str(folder),
        "sessionId": "s", "version": "2.1.197", "gitBranch": "main", "type": "user", "uuid": "u",
        "message": {"role": "user", "content": TOLD}, "timestamp": "2026-03-01T10:00:00.000Z",
    }  # fmt: skip
    (folder / "talk.jsonl").write_text(json.dumps(line) + "\n")
    memory.sync(folder)


def imported(memory: Memory, folder: Path) -> None:
    (folder / "own.jsonl").write_text(json.dumps({"content": TOLD}) + "\n")
    memory.import_(folder / "own.jsonl", format="jsonl")


def exported_elsewhere(memory: Memory, folder: Path) -> None:
    settings = load_settings(environ={"SCRUBJAY_REDACTION_ALLOW": "Tulpe#Regen7"})
    with Memory.open(folder / "other.db", settings=settings) as other:
        other.add(TOLD)
        other.export(folder / "all.jsonl.gz")
    memory.import_(folder / "all.jsonl.gz")


@pytest.mark.parametrize(
    "writes", [added, added_with_others, amended, of_a_talk, imported, exported_elsewhere]
)
@pytest.mark.parametrize("allowed", [True, False])
def test_the_allow_list_holds_for_every_way_into_the_store(
    tmp_path: Path, writes: Callable[[Memory, Path], None], *, allowed: bool
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    settings = load_settings(environ={"SCRUBJAY_REDACTION_ALLOW": "Tulpe#Regen7"} if allowed else {})
    with Memory.open(tmp_path / "memory.db", settings=settings) as memory:
        writes(memory, folder)
        found = memory.search("wifi password for guests").results
        assert ("Tulpe#Regen7" in found[0].snippet) == allowed


def test_a_pattern_of_the_allow_list_that_is_none_is_told_and_nothing_is_done(tmp_path: Path) -> None:
    settings = tmp_path / "config.toml"
    settings.write_text('[redaction]\nallow = ["/Tulpe[/"]\n')
    store = tmp_path / "memory.db"
    done = CliRunner().invoke(
        cli, ["--store", str(store), "add", TOLD], env={"SCRUBJAY_CONFIG": str(settings)}
    )
    assert isinstance(done.exception, ConfigError)
    assert "[redaction] allow has '/Tulpe[/', which is no pattern" in str(done.exception)
    assert "plain word without" in done.exception.hint
    assert not store.exists()


def test_a_word_that_only_begins_with_a_slash_is_a_word_and_no_pattern(tmp_path: Path) -> None:
    settings = load_settings(environ={"SCRUBJAY_REDACTION_ALLOW": "/opt/[x"})
    assert settings.redaction.allow == ("/opt/[x",)


def test_the_words_around_a_redaction_are_whole(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "shop.md").write_text(
        "Remember that the password of the dealer portal: Tulpe#Regen7 is valid until September.\n"
    )
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.sync(notes)
        (one,) = memory.redactions()
    assert one.before.strip() == "of the dealer portal:"
    assert one.after.strip() == "is valid until"
