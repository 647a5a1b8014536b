"""Public names, links, commands and machine paths in pages and code."""

from __future__ import annotations

import re

from tree import PACKAGE, ROOT, tracked

MACHINE_PATHS = re.compile(r"(?<![\w./])/(?:work|home|root|Users|tmp|var|opt)/[\w.]")
TEXT = ("*.py", "*.md", "*.toml", "Makefile", ".ci/*", "*.yaml", "NOTICE")


def test_no_file_names_a_place_of_one_machine() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in tracked(*TEXT)
        if not path.is_relative_to(ROOT / "tests")
        and not path.is_relative_to(
            ROOT / "bench" / "tagger" / "redaction_notes"
        )  # made-up notes, with paths
        for match in MACHINE_PATHS.finditer(path.read_text("utf-8"))
    ]
    assert found == []


def test_the_public_names_are_these() -> None:
    import scrubjay

    assert scrubjay.__all__ == ["AsyncMemory", "Memory", "NewMemory", "ScrubjayError", "__version__"]
    assert all(getattr(scrubjay, name) is not None for name in scrubjay.__all__)
    assert not hasattr(scrubjay, "no_such_name")


def test_the_version_is_written_in_one_file_that_the_build_reads() -> None:
    import tomllib
    from importlib.metadata import version

    import scrubjay

    found = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "version" not in found["project"]
    assert found["project"]["dynamic"] == ["version"]
    assert found["tool"]["hatch"]["version"] == {"path": "src/scrubjay/__init__.py"}
    assert version("scrubjay") == scrubjay.__version__


def test_every_command_that_is_named_exists() -> None:
    from scrubjay.cli.main import COMMANDS

    named = {
        (path.relative_to(ROOT).as_posix(), command)
        for path in [*PACKAGE.rglob("*.py"), *tracked("*.md")]
        for command in re.findall(
            r"(?:`|^\$ |hint=f?\")scrubjay ([a-z]+)", path.read_text("utf-8"), re.MULTILINE
        )
    }
    assert sorted(pair for pair in named if pair[1] not in COMMANDS) == []
