"""Linked: str -> tuple[pages, addressed]. Names that the texts of links share with where they lead.

``[Impact Review](../people/impact-review.md)`` says what a page of these notes is called, as ``[[Impact Review]]``
would; ``[oxipng](https://…/oxipng)`` says what a thing out there is called. Other texts of links are words of
a sentence.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from scrubjay.ingest.concepts.normal import is_everyday, is_generic
from scrubjay.ingest.concepts.plural import singular

_LINK: Final = re.compile(r"\[(?<!!\[)([^\[\]\n]{2,60})\]\(([^()\s]{1,500})")
_OUT: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")
_FOLDER: Final = ("index.", "readme.")
"""Files that are named after their folder."""


def linked(text: str) -> tuple[Counter[str], Counter[str]]:
    """Return how often links' texts name the page of these notes, and how often the address, to which they lead."""
    links = [(name, address) for name, address in _LINK.findall(text) if "://" not in name]
    pages = Counter(name for name, address in links if _is_page(name, address))
    return pages, Counter(name for name, address in links if _is_addressed(name, address))


def _is_addressed(name: str, address: str) -> bool:
    return address.startswith("http") and _bare(name) in _bare(address)


def _is_page(name: str, address: str) -> bool:
    """Tell whether a text names the file; an everyday word does so only by chance ("see our [team](team.md)").

    A generic one ("[Releases](releases/index.md)") is then looked for in links only (``normal.care``).
    """
    if _OUT.match(address) or (name.islower() and is_everyday(name) and not is_generic(name)):
        return False
    *folders, file = address.partition("#")[0].split("/")
    if folders and file.lower().startswith(_FOLDER):
        file = folders[-1]
    return bool(file) and singular(_bare(name)) == singular(_bare(file.partition(".")[0]))


def _bare(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))
