"""Record: what an installation did -> a file that takes it back to the byte.

It holds each file as it was before (so it may hold a token that such a file holds: it is readable by its owner alone
and goes with the installation) and a checksum of the file as it was left.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from scrubjay import durable_files
from scrubjay.agents.agent import Home, Options, read
from scrubjay.errors import InputError

VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Kept:
    """One file.

    Attributes:
        before: What it would hold without scrubjay; None where it would not be there.
        after: Checksum of what scrubjay left; None where it left no file.
    """

    before: bytes | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Record:
    """What one installation did.

    Attributes:
        files: Path to what is known of the file.
        folders: Folders that were made, in that order.
    """

    files: Mapping[Path, Kept] = field(default_factory=dict)
    folders: tuple[Path, ...] = ()


def path_of(agent: str, home: Home, options: Options) -> Path:
    """Return where the record of an agent lies: one for the person, one for each project."""
    place = ""
    if options.project:
        place = "-" + hashlib.sha256(str(options.project).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return home.data / "agents" / f"{agent}{place}.json"


def checksum(data: bytes | None) -> str | None:
    """Return what tells one content of a file from another."""
    return None if data is None else hashlib.sha256(data).hexdigest()


def load(path: Path) -> Record:
    """Return a record; an empty one where none was kept.

    Raises:
        InputError: It is damaged, or of a newer scrubjay.
    """
    data = read(path)
    if data is None:
        return Record()
    try:
        found = json.loads(data)
        if found["version"] != VERSION:
            raise ValueError(f"version {found['version']}")
        files = {
            Path(name): Kept(_bytes(each["before"]), each["after"]) for name, each in found["files"].items()
        }
        return Record(files, tuple(map(Path, found["folders"])))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path}, which says how files were before, cannot be understood ({error}). Nothing was changed.",
            hint="move it away and try again: then what is scrubjay's is cut out of the files as they are now",
        ) from error


def save(path: Path, record: Record) -> None:
    """Write a record, readable by its owner alone."""
    content = {
        "version": VERSION,
        "files": {
            str(name): {"before": _text(kept.before), "after": kept.after}
            for name, kept in record.files.items()
        },
        "folders": [str(folder) for folder in record.folders],
    }
    durable_files.make_folder(path.parent)
    durable_files.write(path, json.dumps(content).encode("ascii"))


def _text(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode("ascii")


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text, validate=True)
