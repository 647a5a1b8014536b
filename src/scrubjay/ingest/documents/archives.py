"""Zipped documents (DOCX and EPUB), read within limits whatever the archive says of itself.

A DOCX is read by way of HTML, with headings, lists, tables, footnotes and endnotes, without deleted text, comments and
text that Word does not show; an EPUB page by page in reading order.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from typing import Final
from urllib.parse import unquote
from xml.etree import ElementTree

from scrubjay.ingest.documents.html import convert_html, decode_html
from scrubjay.ingest.documents.limits import MAX_PARTS, MAX_UNPACKED, UnreadableDocumentError, check_length

OLE_MAGIC: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""First bytes of a compound file: of an Office document with a password, or of the formats before 2007."""
DAMAGED_HINT: Final = "fetch or export it again"


class PartReader:
    def __init__(self, data: bytes, kind: str) -> None:
        if not data.startswith(b"PK"):
            raise UnreadableDocumentError(
                f"is not {kind}: it is no zip archive.", "give it the ending of its format"
            )
        try:
            self.archive = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
            raise UnreadableDocumentError(f"is damaged, or was cut off: {error}.", DAMAGED_HINT) from error
        if len(self.archive.infolist()) > MAX_PARTS:
            raise UnreadableDocumentError(f"has more than the {MAX_PARTS:,} parts that are read.")
        self.names = {info.filename for info in self.archive.infolist()}
        self._left = MAX_UNPACKED

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def read(self, name: str) -> bytes:
        """Return a part. All parts together have a limit, whatever sizes they declare."""
        info = self.archive.getinfo(name)
        if info.flag_bits & 1:
            raise UnreadableDocumentError("is encrypted.", "save a copy without a password")
        try:
            with self.archive.open(info) as part:
                data = part.read(self._left + 1)
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError) as error:
            raise UnreadableDocumentError(
                f"is damaged: its part {name!r} cannot be unpacked.", DAMAGED_HINT
            ) from error
        self._left -= len(data)
        if self._left < 0:
            raise UnreadableDocumentError(
                f"unpacks to more than the {MAX_UNPACKED:,} bytes that are read.",
                "leave it out in .scrubjayignore",
            )
        return data

    def xml(self, name: str) -> ElementTree.Element:
        """Return a part's XML. Entities that a document declares itself are refused: a few lines can mean gigabytes."""
        data = self.read(name)
        if b"<!ENTITY" in data:
            raise UnreadableDocumentError(f"declares XML entities in its part {name!r}, which are not read.")
        try:
            return ElementTree.fromstring(data)
        except (ElementTree.ParseError, ValueError, LookupError) as error:
            raise UnreadableDocumentError(
                f"is damaged: its part {name!r} is not XML ({error}).", DAMAGED_HINT
            ) from error


_WORD_NAMESPACE: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_TITLE_TAG: Final = "{http://purl.org/dc/elements/1.1/}title"
_TEXT_SUFFIXES: Final = (".xml", ".rels")
_CORE_PROPERTIES: Final = "docProps/core.xml"
_BACK_LINK: Final = re.compile(r' ?<a href="#[a-z]{1,9}-ref-[0-9]{1,9}">↑</a>')
_FALSE_VALUES: Final = frozenset(("0", "false", "off"))
_STYLE_MAP: Final = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
comment-reference =>
"""


def read_docx(data: bytes) -> tuple[str, str, list[str]]:
    """Return text and title of a DOCX; no problems are known of one that can be read."""
    import mammoth

    if data.startswith(OLE_MAGIC):
        raise UnreadableDocumentError(
            "is encrypted, or in the format of Word before 2007.", "save a copy as DOCX without a password"
        )
    parts = PartReader(data, "a DOCX")
    if "[Content_Types].xml" not in parts or not any(name.startswith("word/") for name in parts.names):
        raise UnreadableDocumentError(
            "is not a DOCX: it holds no Word document.", "give it the ending of its format"
        )
    title = parts.xml(_CORE_PROPERTIES).findtext(_TITLE_TAG) if _CORE_PROPERTIES in parts else ""
    slim = _without_pictures(parts)
    try:
        html = mammoth.convert_to_html(
            slim,
            style_map=_STYLE_MAP,
            include_embedded_style_map=False,
            external_file_access=False,
            convert_image=mammoth.images.img_element(lambda image: {"src": ""}),
        ).value
    except (KeyError, ValueError, AttributeError, TypeError, OSError, IndexError) as error:
        raise UnreadableDocumentError(
            f"is a damaged DOCX ({type(error).__name__}: {error}).",
            "open it in a word processor and save it again",
        ) from error
    text, _ = convert_html(_BACK_LINK.sub("", html))
    return text, " ".join((title or "").split()), []


def _without_pictures(parts: PartReader) -> io.BytesIO:
    """Return the archive without pictures, checked and without hidden text, so that nothing else is unpacked."""
    slim = io.BytesIO()
    with zipfile.ZipFile(slim, "w", zipfile.ZIP_STORED) as out:
        for name in sorted(parts.names):
            if name.endswith(_TEXT_SUFFIXES):
                root = parts.xml(name)
                _remove_hidden_runs(root)
                out.writestr(name, ElementTree.tostring(root))
    slim.seek(0)
    return slim


def _remove_hidden_runs(root: ElementTree.Element) -> None:
    for parent in root.iter():
        for run in [child for child in parent if child.tag == f"{_WORD_NAMESPACE}r"]:
            mark = run.find(f"{_WORD_NAMESPACE}rPr/{_WORD_NAMESPACE}vanish")
            if mark is not None and mark.get(f"{_WORD_NAMESPACE}val", "1").lower() not in _FALSE_VALUES:
                parent.remove(run)


_CONTAINER: Final = "META-INF/container.xml"
_ENCRYPTION: Final = "META-INF/encryption.xml"
_PAGE_TYPES: Final = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


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
    encrypted = _encrypted_parts(parts)
    texts: list[str] = []
    missing = size = 0
    for name in _reading_order(book, posixpath.dirname(package)):
        if name in encrypted:
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
        if item.get("media-type") in _PAGE_TYPES and "nav" not in (item.get("properties") or "").split()
    }
    order = (items.get(one.get("idref")) for one in book.iterfind(".//{*}spine/{*}itemref"))
    return list(dict.fromkeys(name for name in order if name is not None))


def _encrypted_parts(parts: PartReader) -> set[str]:
    """Return the encrypted parts; books often encrypt their fonts, which does not matter."""
    if _ENCRYPTION not in parts:
        return set()
    root = parts.xml(_ENCRYPTION)
    return {unquote(one.get("URI", "")) for one in root.iterfind(".//{*}CipherReference")}
