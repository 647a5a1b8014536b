"""What the README shows of a terminal is what a terminal shows."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from scrubjay.cli.sync import DEMO_NOTES
from scrubjay.daemon.embedding import EmbeddingJob

README = Path(__file__).parents[2] / "README.md"
CHANGING = re.compile(r"\b(obs_[0-9a-f]{16}|\d[\d.,]* m?s)\b|\(raw [\d.]+\)")
"""Ids, which every store makes its own, times, and what is measured before it becomes a value."""


def test_the_first_screen_is_what_the_commands_say(
    cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRUBJAY_SYNC_LOOK_SECONDS", "60")  # however busy the machine is
    cli.environ["SCRUBJAY_MODELS_BACKGROUND"] = "idle"
    notes = tmp_path / "notes"
    shutil.copytree(DEMO_NOTES, notes)
    block = next(
        one for one in re.findall(r"```console\n(.*?)```", README.read_text(), re.S) if "sync /notes" in one
    )
    runs = re.findall(r"^\$ scrubjay (.*)\n((?:(?!\$ ).*\n)*)", block, re.M)
    assert [command.split()[0] for command, _ in runs] == ["sync", "search"]
    embeds = EmbeddingJob(str(Path(cli.environ["XDG_DATA_HOME"], "scrubjay")), cli.environ["SCRUBJAY_STORE"])
    with embeds.exclusive():  # as if the process were there already
        for command, shown in runs:
            words = [str(notes) if word == "/notes" else word for word in shlex.split(command)]
            said = cli.process(*words).out.replace(str(notes), "/notes")
            assert CHANGING.sub("…", said).splitlines() == CHANGING.sub("…", shown).splitlines()
