"""What was redacted is listed with its place."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from scrubjay import Memory
from scrubjay.surfaces.cli.main import cli


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
