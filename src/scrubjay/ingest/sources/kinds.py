"""Kinds: a file's name -> what may be in it. Names alone: content decides which JSON file is a transcript."""

from __future__ import annotations

import os

# What the Markdown chunker reads as it is meant. reStructuredText and Org have other headings, so their
# sections would come out untitled: they are taken when `include` asks for them.
DEFAULT_INCLUDE = ("*.md", "*.markdown", "*.mdx", "*.txt")
# What a folder with transcripts in it holds besides; which of these files are some is told by their content.
TRANSCRIPT_INCLUDE = ("*.jsonl", "*.json", "*.jsonl.reset.*", "*.jsonl.deleted.*", "opencode*.db")
# Stands for the extractor of a file that is named like a transcript and is none, so that it is read once.
NO_TRANSCRIPT = "no transcript"


def like_transcript(path: str) -> bool:
    """Return whether a file's name is one that transcripts have; they are read piece by piece, however large."""
    name = path.rpartition("/")[2].lower()
    log = name.endswith(".json") or ".jsonl" in name[-40:]
    return log or (name.startswith("opencode") and name.endswith(".db"))


def changed(place: str, info: os.stat_result) -> tuple[int, int]:
    """Return when a file changed last, nanoseconds since 1970, and its bytes; of a database, its log beside it counts.

    A program that keeps its sessions in SQLite writes to that log; the file itself may stay as it is for days.

    Args:
        place: Where it lies.
        info: What the file system says of it.
    """
    if place.endswith(".db"):
        try:
            log = os.stat(place + "-wal", follow_symlinks=False)
        except OSError:
            return info.st_mtime_ns, info.st_size
        return max(info.st_mtime_ns, log.st_mtime_ns), info.st_size + log.st_size
    return info.st_mtime_ns, info.st_size
