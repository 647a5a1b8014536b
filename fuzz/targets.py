"""Targets: a name -> what takes one input. Each is imported when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, cast

TARGETS: Final = ("markdown", "front", "transcripts", "imports", "queries", "requests", "messages")
CORPUS: Final = Path(__file__).parent / "corpus"

Check = Callable[[bytes], None]


def opened(name: str, *, timed: bool) -> AbstractContextManager[Check]:
    """Open a target; ``timed`` where an input that takes too long is a failure."""
    if name not in TARGETS:
        raise SystemExit(f"{name} is no target; there are {', '.join(TARGETS)}")
    module = importlib.import_module(f"fuzz.{name}")
    return cast(AbstractContextManager[Check], module.target(timed=timed))


def kept(name: str) -> list[Path]:
    """Seeds and found inputs of a target, in a fixed order."""
    return sorted(path for path in (CORPUS / name).iterdir() if path.is_file())
