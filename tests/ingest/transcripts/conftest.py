from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from scrubjay.ingest.transcripts.base import BrokenRow, SkippedItem, TranscriptFormat
from scrubjay.ingest.transcripts.importer import follow_log
from scrubjay.models.records import Turn

FIXTURES = Path(__file__).parent / "fixtures"


@dataclass(frozen=True)
class Reading:
    turns: list[Turn]
    left: Counter[str]
    unknown: Counter[str]
    broken: list[BrokenRow]
    end: int

    def brief(self) -> list[tuple[str, str, str]]:
        """Session, role and text of each turn."""
        return [(turn.session, turn.role, turn.text) for turn in self.turns]


@pytest.fixture
def read() -> Callable[..., Reading]:
    def reading(form: TranscriptFormat, file: Path, root: Path = FIXTURES, cursor: int = 0) -> Reading:
        turns, broken, end = [], [], cursor
        left: Counter[str] = Counter()
        unknown: Counter[str] = Counter()
        with open(file, "rb") as opened:
            for step in follow_log(opened, form, root, file.relative_to(root).as_posix(), cursor):
                end = step.end
                for one in step.items:
                    if isinstance(one, Turn):
                        turns.append(one)
                    elif isinstance(one, SkippedItem):
                        (unknown if one.unknown else left)[one.kind] += 1
                    else:
                        broken.append(one)
        return Reading(turns, left, unknown, broken, end)

    return reading


@pytest.fixture
def fixtures() -> Path:
    return FIXTURES
