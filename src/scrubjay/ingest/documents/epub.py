"""EPUB: the pages of a book in the order in which they are read."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from scrubjay.ingest.documents.archives import PartReader
from scrubjay.ingest.documents.html import convert_html, decode_html
from scrubjay.ingest.documents.limits import UnreadableDocumentError, check_length

if TYPE_CHECKING:
    from xml.etree import ElementTree

_CONTAINER: Final = "META-INF/container.xml"
_ENCRYPTION: Final = "META-INF/encryption.xml"
_PAGES: Final = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


def read_epub(data: bytes) -> tuple[str, str, list[str]]:
    """Return text, title and problems of an EPUB."""
    parts = PartReader(data, "an EPUB")
    if _CONTAINER not in parts:
        raise UnreadableDocumentError(
            "is not an EPUB: its META-INF/container.xml is missing.", "give it the ending of its format"
        )
    rootfile = parts.xml(_CONTAINER).find(".//{*}rootfile")
    package = rootfile.get("full-path", "") if rootfile is not None else ""
    if package not in parts:
        raise UnreadableDocumentError("is a damaged EPUB: its package document is missing.", "fetch it again")
    book = parts.xml(package)
    title = " ".join((book.findtext(".//{http://purl.org/dc/elements/1.1/}title") or "").split())
    protected = _protected(parts)
    texts: list[str] = []
    missing = size = 0
    for name in _reading_order(book, posixpath.dirname(package)):
        if name in protected:
            raise UnreadableDocumentError(
                "is encrypted (digital rights management).", "only the reader that it was bought for opens it"
            )
        if name not in parts:
            missing += 1
            continue
        text, _ = convert_html(decode_html(parts.read(name)))
        texts.append(text)
        size += len(text)
        check_length(size)
    problems = [f"{missing:,} of its pages are missing in the archive."] if missing else []
    return "\n".join(text for text in texts if text), title, problems


def _reading_order(book: ElementTree.Element, folder: str) -> list[str]:
    items = {
        item.get("id"): posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))
        for item in book.iterfind(".//{*}manifest/{*}item")
        if item.get("media-type") in _PAGES and "nav" not in (item.get("properties") or "").split()
    }
    order = (items.get(one.get("idref")) for one in book.iterfind(".//{*}spine/{*}itemref"))
    return list(dict.fromkeys(name for name in order if name is not None))


def _protected(parts: PartReader) -> set[str]:
    """Return the parts that are encrypted; books often hide their fonts so, which is no matter."""
    if _ENCRYPTION not in parts:
        return set()
    root = parts.xml(_ENCRYPTION)
    return {unquote(one.get("URI", "")) for one in root.iterfind(".//{*}CipherReference")}
