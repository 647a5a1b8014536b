"""Transcripts: bytes of a log -> turns, by each reader of another tool's logs: read at once and in two halves alike."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fuzz.bound import bound
from fuzz.switches import switches
from scrubjay.errors import ScrubjayError
from scrubjay.ingest.transcripts.base import TranscriptFormat
from scrubjay.ingest.transcripts.importer import TRANSCRIPT_FORMATS, LogStep, follow_log, recognise_format
from scrubjay.models.records import Turn

# SQLite reads the one file that is a database, not we; a log of it is a path and never bytes.
READ = tuple(
    form for form in TRANSCRIPT_FORMATS if form.name != "opencode" or form.rows.__module__.endswith("stream")
)


@contextmanager
def target(*, timed: bool) -> Iterator[Callable[[bytes], None]]:
    """Yield what takes one input."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)

        def check(data: bytes) -> None:
            switch, data = switches(data)
            form = READ[switch % len(READ)]
            with bound(len(data), timed=timed):
                recognise_format("/logs/session.jsonl", data)
                steps = _steps(data, form, root, 0)
                for step in steps:
                    for one in step.items:
                        if isinstance(one, Turn):
                            _sound(one)
                if form.lines and steps:
                    _halves(data, form, root, steps)

        yield check


def _steps(data: bytes, form: TranscriptFormat, root: Path, cursor: int) -> list[LogStep]:
    try:
        return list(follow_log(io.BytesIO(data), form, root, "session.jsonl", cursor))  # type: ignore[arg-type]
    except ScrubjayError:
        return []


def _sound(turn: Turn) -> None:
    assert turn.text.strip(), "a blank turn"
    for text in (turn.text, turn.key, turn.session, turn.role, turn.agent, turn.title):
        assert "\0" not in text
        text.encode("utf-8")


def _halves(data: bytes, form: TranscriptFormat, root: Path, steps: list[LogStep]) -> None:
    ends = [step.end for step in steps]
    assert ends == sorted(ends), "a cursor that goes back"
    assert ends[-1] <= len(data), "a cursor behind the end"
    middle = steps[len(steps) // 2].end
    after = _steps(data, form, root, middle)
    assert after == [step for step in steps if step.end > middle], "in two halves it reads otherwise"
