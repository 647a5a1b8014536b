"""Markdown: bytes of a note -> read, scrubbed, cut, described and linked, by the stages of the write path."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fuzz.bound import bound
from fuzz.switches import switches
from scrubjay.errors import SourceError
from scrubjay.ingest.chunker import MIN_WORD_PART, ChunkSettings, chunk_text
from scrubjay.ingest.files import FileText, decode_text
from scrubjay.ingest.reader import draft_document, redact_documents
from scrubjay.redaction.redactor import redact_text
from scrubjay.text.display import estimate_tokens
from scrubjay.text.markdown import extract_links

NAMES = ("a.md", "notes/2026-03-01.md", "a.py", "a.txt")
SMALL = ChunkSettings(target=30, overlap=6, most=40)


@contextmanager
def target(*, timed: bool) -> Iterator[Callable[[bytes], None]]:
    """Yield what takes one input."""

    def check(data: bytes) -> None:
        switch, data = switches(data)
        name = NAMES[switch >> 4 & 3]
        try:
            text = decode_text(data, name)
        except SourceError:
            return
        with bound(len(text), timed=timed):
            file = FileText(text, "0" * 64, 0, len(text))
            settings = SMALL if switch & 64 else ChunkSettings()
            (redacted,) = redact_documents([text], settings.allow)
            drafted = draft_document("s", name, file, redacted, settings)
            clean = "".join(each.content for each in drafted.drafts)
            if not clean:
                assert not redact_text(text).text.strip("\ufeff \t\n\r\v\f"), (
                    "a text with words has no passage"
                )
                return
            assert _lines(clean) == _lines(text), "scrubbing moved a line, or a line is in no passage"
            assert not redact_text(clean).counts, "scrubbing left something"
            assert drafted.scrubbed or clean == text, "a text without a secret was changed"
            clean.encode("utf-8")
            _cut(clean, name, settings)
            extract_links(clean)

    yield check


def _lines(text: str) -> int:
    return len(re.findall(r"\r\n|\r|\n", text))


def _cut(text: str, name: str, settings: ChunkSettings) -> None:
    found = chunk_text(text, name=name, settings=settings)
    assert [p.start for p in found] == [0, *(p.end for p in found[:-1])], "passages leave a gap or overlap"
    assert found[-1].end == len(text), "the end is in no passage"
    line = 1
    for passage in found:
        own = text[passage.start : passage.end]
        assert own
        longest = max(
            map(estimate_tokens, re.findall(r"\S*\s*", own))
        )  # with what is too short to be cut off from it
        assert estimate_tokens(own) <= settings.most or longest + 2 * MIN_WORD_PART >= estimate_tokens(own), (
            "a passage is too long"
        )
        assert passage.line_start == line, "a passage names a wrong line"
        line += _lines(own)
        if own.endswith("\r") and text[passage.end : passage.end + 1] == "\n":
            line -= 1
