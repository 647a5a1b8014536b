"""Texts that hold hardly a secret: those of retrieval sets and archives of Markdown; Python's own library."""

from __future__ import annotations

import gzip
import json
import sysconfig
import tarfile
from collections.abc import Iterator
from pathlib import Path


def texts(folder: Path) -> Iterator[str]:
    """The texts of retrieval sets and of archives of Markdown, each once."""
    seen = set()
    for path in sorted(folder.rglob("*.gz")):
        for text in _archived(path) if path.name.endswith(".tar.gz") else _rows(path):
            if text not in seen:
                seen.add(text)
                yield text


def _archived(path: Path) -> Iterator[str]:
    with tarfile.open(path) as archive:
        for member in archive:
            held = (
                archive.extractfile(member) if member.name.endswith((".md", ".mdx", ".txt", ".rs")) else None
            )
            if held:
                yield held.read().decode("utf-8", "replace")


def _rows(path: Path) -> Iterator[str]:
    if path.name == "corpus.jsonl.gz":
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)["text"]


def library() -> Iterator[str]:
    """The sources of Python's own library, without its tests."""
    root = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(root.rglob("*.py")):
        if not {"site-packages", "test", "tests", "idlelib"} & set(path.relative_to(root).parts):
            yield path.read_text("utf-8", "replace")
