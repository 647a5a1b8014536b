"""Vaults: which folder of a source is an Obsidian vault or a Logseq graph, and how its daily notes are named.

Settings that cannot be read count as not set.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Final

from scrubjay.frozen import frozen

MAX_SETTINGS_BYTES: Final = 64 * 1024
MAX_FOLDERS_ABOVE: Final = 8
"""Folders above a source in which a vault is looked for: a source may be one folder of a vault."""

_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_TOKEN = re.compile(
    r"\[([^\[\]]*)\]|YYYY|YY|MMMM|MMM|MM|Mo|M|DDDD|DDD|DD|Do|D|dddd|ddd|dd|do|d|GGGG|gggg|WW|ww|W|w|Q|."
)
_DATE_PARTS: Final[Mapping[str, tuple[str, str]]] = {
    "YYYY": ("year", r"\d{4}"),
    "YY": ("year", r"\d{2}"),
    "MMMM": ("month", r"[a-z]{3,9}"),
    "MMM": ("month", r"[a-z]{3}"),
    "MM": ("month", r"\d{2}"),
    "M": ("month", r"\d{1,2}"),
    "DD": ("day", r"\d{2}"),
    "Do": ("day", r"\d{1,2}(?=st|nd|rd|th)"),
    "D": ("day", r"\d{1,2}"),
}
_OTHER_PARTS: Final[Mapping[str, str]] = {
    "Mo": r"\d{1,2}[a-z]{2}", "DDDD": r"\d{3}", "DDD": r"\d{1,3}", "dddd": r"\w+", "ddd": r"\w+\.?", "dd": r"\w+",
    "do": r"\d[a-z]{2}", "d": r"\d", "GGGG": r"\d{4}", "gggg": r"\d{4}", "WW": r"\d{2}", "ww": r"\d{2}",
    "W": r"\d{1,2}", "w": r"\d{1,2}", "Q": r"\d",
}  # fmt: skip


@frozen
class VaultNote:
    """A note in a vault; ``day`` is that of a daily note."""

    day: datetime | None = None


@frozen
class Vault:
    """A vault or graph.

    Attributes:
        daily: Pattern of the path of a daily note in it, without its ending; None if its format names no day.
    """

    root: str
    daily: re.Pattern[str] | None = None

    def day(self, file: str) -> datetime | None:
        """Return the day of a daily note, given as an absolute path."""
        path = os.path.relpath(file, self.root).replace(os.sep, "/")
        match = self.daily.fullmatch(os.path.splitext(path)[0]) if self.daily is not None else None
        return _parse_day(match.groupdict()) if match else None


def _parse_day(parts: Mapping[str, str]) -> datetime | None:
    year, month = int(parts["year"]), parts["month"].lower()
    numbers = [place for place, name in enumerate(_MONTHS, 1) if month in (name, name[:3])]
    if not numbers and not month.isdigit():
        return None
    try:
        number = numbers[0] if numbers else int(month)
        return datetime.fromisoformat(
            f"{year if year > 99 else 2000 + year}-{number:02}-{int(parts['day']):02}"
        )
    except ValueError:
        return None


def daily_pattern(folder: str, form: str) -> re.Pattern[str] | None:
    """Return an expression for the daily notes of a folder, named in the format of Moment.js.

    >>> bool(daily_pattern("Daily", "YYYY/MMMM/Do").fullmatch("Daily/2026/November/29th"))
    True
    """
    parts, seen = [re.escape(folder.strip("/") + "/") if folder.strip("/") else ""], set()
    for match in _TOKEN.finditer(form):
        token = match[0]
        if match[1] is not None:
            parts.append(re.escape(match[1]))
        elif token in _DATE_PARTS:
            name, digits = _DATE_PARTS[token]
            parts.append(digits if name in seen else f"(?P<{name}>{digits})")
            parts.append("(?:st|nd|rd|th)" if token == "Do" else "")
            seen.add(name)
        else:
            parts.append(_OTHER_PARTS.get(token, re.escape(token)))
    return re.compile("".join(parts), re.IGNORECASE) if seen == {"year", "month", "day"} else None


class VaultFinder:
    """Finds the vault of a file; each folder is looked at once."""

    def __init__(self, source_root: str) -> None:
        self._source_root = os.path.abspath(source_root)
        self._vault = cache(self._find)

    def note(self, path: str) -> VaultNote | None:
        """Return the vault's note of a file of the source; None for a file in no vault."""
        file = os.path.join(self._source_root, path)
        vault = self._vault(os.path.dirname(file), 0)
        return None if vault is None else VaultNote(vault.day(file))

    def _find(self, folder: str, above: int) -> Vault | None:
        if os.path.isdir(os.path.join(folder, ".obsidian")):
            return _obsidian_vault(folder)
        if os.path.isfile(os.path.join(folder, "logseq", "config.edn")):
            return _logseq_graph(folder)
        parent = os.path.dirname(folder)
        inside = folder.startswith(self._source_root + os.sep)
        if parent == folder or above >= MAX_FOLDERS_ABOVE:
            return None
        return self._vault(parent, 0 if inside else above + 1)


def _obsidian_vault(folder: str) -> Vault:
    try:
        settings = json.loads(_read_settings(Path(folder, ".obsidian", "daily-notes.json")) or "{}")
    except (ValueError, RecursionError):
        settings = {}
    values = settings if isinstance(settings, dict) else {}
    place, form = values.get("folder"), values.get("format")
    return Vault(
        folder,
        daily_pattern(
            place if isinstance(place, str) else "", form if isinstance(form, str) and form else "YYYY-MM-DD"
        ),
    )


def _logseq_graph(folder: str) -> Vault:
    text = _read_settings(Path(folder, "logseq", "config.edn"))

    def setting(name: str, default: str) -> str:
        match = re.search(rf'^[^;\n]*:{name}\s+"([^"\n]{{1,200}})"', text, re.MULTILINE)
        return match[1] if match else default

    form = setting("journal/file-name-format", "yyyy_MM_dd")
    words = form.replace("yyyy", "YYYY").replace("dd", "DD").replace("EEEE", "dddd").replace("do", "Do")
    return Vault(folder, daily_pattern(setting("journals-directory", "journals"), words))


def _read_settings(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return stream.read(MAX_SETTINGS_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
