"""Zipped documents: their parts, read within limits whatever the archive says of itself."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import Final
from xml.etree import ElementTree

from scrubjay.ingest.documents.limits import MAX_PARTS, MAX_UNPACKED, UnreadableDocumentError

OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""First bytes of a compound file: of an Office document with a password, or of the formats before 2007."""
DAMAGED: Final = "fetch or export it again"


class PartReader:
    """The parts of a zipped document."""

    def __init__(self, data: bytes, kind: str) -> None:
        if not data.startswith(b"PK"):
            raise UnreadableDocumentError(
                f"is not {kind}: it is no zip archive.", "give it the ending of its format"
            )
        try:
            self.archive = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
            raise UnreadableDocumentError(f"is damaged, or was cut off: {error}.", DAMAGED) from error
        if len(self.archive.infolist()) > MAX_PARTS:
            raise UnreadableDocumentError(f"has more than the {MAX_PARTS:,} parts that are read.")
        self._names = {info.filename for info in self.archive.infolist()}
        self._left = MAX_UNPACKED

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def names(self) -> set[str]:
        return self._names

    def read(self, name: str) -> bytes:
        """Return a part. Those that are read together have a limit, whatever they declare."""
        info = self.archive.getinfo(name)
        if info.flag_bits & 1:
            raise UnreadableDocumentError("is encrypted.", "save a copy without a password")
        try:
            with self.archive.open(info) as part:
                data = part.read(self._left + 1)
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError) as error:
            raise UnreadableDocumentError(
                f"is damaged: its part {name!r} cannot be unpacked.", DAMAGED
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
                f"is damaged: its part {name!r} is not XML ({error}).", DAMAGED
            ) from error
