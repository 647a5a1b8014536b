"""DOCX: its text by way of HTML, with headings, lists, tables, footnotes and endnotes.

Deleted text and comments are left out, and so is text that Word does not show.
"""

from __future__ import annotations

import io
import re
import zipfile
from typing import Final
from xml.etree import ElementTree

from scrubjay.ingest.documents.archives import OLE, PartReader
from scrubjay.ingest.documents.html import convert_html
from scrubjay.ingest.documents.limits import UnreadableDocumentError

_WORD: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_TITLE: Final = "{http://purl.org/dc/elements/1.1/}title"
_TEXTS: Final = (".xml", ".rels")
_CORE: Final = "docProps/core.xml"
_BACK_LINK: Final = re.compile(r' ?<a href="#[a-z]{1,9}-ref-[0-9]{1,9}">↑</a>')
_OFF: Final = frozenset(("0", "false", "off"))
_STYLES: Final = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
comment-reference =>
"""


def read_docx(data: bytes) -> tuple[str, str, list[str]]:
    """Return text and title of a DOCX; no problems are known of one that can be read."""
    import mammoth

    if data.startswith(OLE):
        raise UnreadableDocumentError(
            "is encrypted, or in the format of Word before 2007.", "save a copy as DOCX without a password"
        )
    parts = PartReader(data, "a DOCX")
    if "[Content_Types].xml" not in parts or not any(name.startswith("word/") for name in parts.names()):
        raise UnreadableDocumentError(
            "is not a DOCX: it holds no Word document.", "give it the ending of its format"
        )
    title = parts.xml(_CORE).findtext(_TITLE) if _CORE in parts else ""
    slim = _texts_alone(parts)
    try:
        html = mammoth.convert_to_html(
            slim,
            style_map=_STYLES,
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


def _texts_alone(parts: PartReader) -> io.BytesIO:
    """Return the archive without pictures, checked and without hidden text, so that nothing else is unpacked."""
    slim = io.BytesIO()
    with zipfile.ZipFile(slim, "w", zipfile.ZIP_STORED) as out:
        for name in sorted(parts.names()):
            if name.endswith(_TEXTS):
                root = parts.xml(name)
                _drop_hidden(root)
                out.writestr(name, ElementTree.tostring(root))
    slim.seek(0)
    return slim


def _drop_hidden(root: ElementTree.Element) -> None:
    for parent in root.iter():
        for run in [child for child in parent if child.tag == f"{_WORD}r"]:
            mark = run.find(f"{_WORD}rPr/{_WORD}vanish")
            if mark is not None and mark.get(f"{_WORD}val", "1").lower() not in _OFF:
                parent.remove(run)
