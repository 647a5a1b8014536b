"""One entry lists every measurement, and each says what its options are."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

import pytest

from bench import report
from bench.__main__ import COMMANDS, main

BENCH = Path(__file__).parents[2] / "bench"


def test_the_entry_lists_every_command_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name, (_, about) in COMMANDS.items():
        assert any(line.split()[:1] == [name] and line.endswith(about) for line in lines)


def test_an_unknown_command_is_refused_with_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no-such-command"]) == 2
    assert "quality" in capsys.readouterr().err


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_describes_itself_and_writes_json(name: str) -> None:
    module, _, attribute = COMMANDS[name][0].partition(":")
    parser = getattr(importlib.import_module(f"bench.{module}"), attribute).parser(name)
    assert isinstance(parser, argparse.ArgumentParser)
    assert parser.description
    assert "--json" in parser.format_help()


def test_a_logged_command_can_be_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", [str(BENCH / "__main__.py"), "quality", "--state", "sync"])
    assert report.circumstances()["command"] == "python -m bench quality --state sync"
