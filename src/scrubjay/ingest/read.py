"""Read: a file of a source -> Draft passages, scrubbed, with what the file says of itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from scrubjay.ingest.chunk import CHUNKER_VERSION, ChunkSettings, chunk
from scrubjay.ingest.extract import EXTRACTOR_VERSION, Facts, extract
from scrubjay.ingest.label import LABELLER_VERSION, Draft
from scrubjay.ingest.scrub import SCRUBBER_VERSION, private_spans, scrub
from scrubjay.ingest.sources.read import FileText
from scrubjay.ingest.sources.read import read as read_file
from scrubjay.memory.ids import text_hash
from scrubjay.memory.records import Document, Place, Versions
from scrubjay.text.markdown import Block, blocks, is_code
from scrubjay.text.tokens import TOKENIZER_VERSION

PIECE: Final = 1_000_000
"""Characters that are scrubbed at once."""


@dataclass(frozen=True, slots=True)
class Drafted:
    """A document cut into passages, before any has an id."""

    document: Document
    drafts: tuple[Draft, ...]
    facts: Facts
    scrubbed: Mapping[str, int]


def versions(settings: ChunkSettings) -> Versions:
    """Return the versions of the stages as they are now; the chunker's holds its settings."""
    sizes = f"{CHUNKER_VERSION}/{settings.target}/{settings.overlap}/{settings.most}"
    scrubber = SCRUBBER_VERSION
    if settings.allow:
        scrubber += f"/{text_hash(chr(10).join(settings.allow))[:16]}"
    return Versions(sizes, TOKENIZER_VERSION, scrubber, EXTRACTOR_VERSION, LABELLER_VERSION)


def read(root: Path, path: str) -> FileText:
    """Read one file of a source.

    Raises:
        SourceError: It cannot be read, or is not text.
    """
    return read_file(root, path)


def draft(source: str, path: str, file: FileText, settings: ChunkSettings) -> Drafted:
    """Scrub a document, learn what it says of itself, and cut it into passages."""
    text, counts = scrubbed(file.text, settings.allow)
    found = blocks(text, markdown=not is_code(path))
    facts = extract(text, path=path, found=found)
    title = facts.title or PurePosixPath(path).name
    document = Document(
        source=source,
        path=path,
        content_hash=file.content_hash,
        mtime_ns=file.mtime_ns,
        size=file.size,
        title=title,
        versions=versions(settings),
    )
    return Drafted(document, drafts(source, path, text, settings, title, found), facts, counts)


def scrubbed(text: str, allow: Sequence[str]) -> tuple[str, Mapping[str, int]]:
    """Scrub a text, and count what was replaced: a large one piece by piece, since it takes 35 times its size.

    A piece ends before a heading, else at a blank line, a line, a sentence, a word; never inside a private span.
    """
    if len(text) <= PIECE:
        clean = scrub(text, allow)
        return clean.text, clean.counts
    parts: list[str] = []
    counts: Counter[str] = Counter()
    start = 0
    for end in _borders(text):
        clean = scrub(text[start:end], allow)
        parts.append(clean.text)
        counts.update(clean.counts)
        start = end
    return "".join(parts), dict(sorted(counts.items()))


def _borders(text: str) -> Iterator[int]:
    """Yield where the pieces of a text end; the last is its end."""
    spans = [(span.start, span.end) for span in private_spans(text)]
    start = 0
    while len(text) - start > PIECE:
        end = _border(text, start + PIECE // 2, start + PIECE)
        for first, last in spans:
            if first < end < last:
                end = last
        if end >= len(text):
            break
        yield end
        start = end
    yield len(text)


def _border(text: str, first: int, last: int) -> int:
    for mark, skip in (("\n#", 1), ("\n\n", 2), ("\n", 1), (". ", 2), ("。", 1), (" ", 1)):
        found = text.rfind(mark, first, last)
        if found >= 0:
            return found + skip
    return last


def drafts(
    source: str,
    path: str,
    text: str,
    settings: ChunkSettings,
    title: str,
    found: Sequence[Block] | None = None,
) -> tuple[Draft, ...]:
    """Cut a text into passages; what stands directly under the document's own heading, or under none, has its title.

    Args:
        source: Id of the document's source.
        path: Path of the document relative to it.
        text: The whole document.
        settings: Sizes.
        title: The document's title.
        found: Its blocks, where they are known.
    """
    name = PurePosixPath(path).name
    if found is None:
        found = blocks(text, markdown=not is_code(path))
    first = next((one.text for one in found if one.kind == "heading" and one.level == 1 and one.text), "")
    return tuple(
        Draft(
            content=text[p.start : p.end],
            place=Place(source, path, ordinal, p.start, p.end, p.line_start, p.line_end),
            heading_path=p.heading_path,
            title=title if p.heading_path in ((), (first,)) else p.title,
        )
        for ordinal, p in enumerate(chunk(text, name=name, settings=settings, found=found))
    )
