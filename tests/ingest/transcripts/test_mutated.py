"""Any value of a log may be any other: a reader answers, or says that it cannot read the file."""

import contextlib
import copy
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scrubjay.errors import SourceError
from scrubjay.ingest.transcripts import chatgpt, claude, gemini, openclaw, opencode
from scrubjay.ingest.transcripts.base import TranscriptFormat
from scrubjay.ingest.transcripts.importer import follow_log
from scrubjay.models.records import Turn

FIXTURES = Path(__file__).parent / "fixtures"
CASES = [
    (openclaw.OPENCLAW, "openclaw/agents/main/sessions/11111111-aaaa-4bbb-8ccc-000000000001.jsonl"),
    (gemini.GEMINI_LOG, "gemini/shop/chats/session-2026-03-01T10-00-9f0c1a52.jsonl"),
    (gemini.GEMINI_FILE, "gemini/shop/chats/session-2025-11-01T10-00-0ldc0ffe.json"),
    (gemini.GEMINI_FILE, "gemini/shop/logs.json"),
    (gemini.GEMINI_FILE, "gemini/shop/checkpoint-friday.json"),
    (chatgpt.CHATGPT, "chatgpt/conversations.json"),
    (claude.CLAUDE_EXPORT, "claude/conversations.json"),
    (opencode.OPENCODE_FILES, "opencode/export.json"),
]
NAMES = [path.rpartition("/")[2][:20] for _, path in CASES]

scalars = (
    st.sampled_from(
        [None, True, -1, 0, 10**400, 1e308, float("nan"), float("inf"), "", "\0", "\ud800", "user", "~"]
    )
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5) | st.just("text"), inner, max_size=3)
    ),
    max_leaves=5,
)


def mutated(value: Any, draw: Any) -> Any:
    """The value with something in it, or itself, replaced."""
    value = copy.deepcopy(value)
    holders: list[tuple[Any, Any]] = []
    todo = [value]
    while todo:
        one = todo.pop()
        inner = one.items() if isinstance(one, dict) else enumerate(one) if isinstance(one, list) else ()
        for key, held in inner:
            holders.append((one, key))
            todo.append(held)
    for _ in range(draw(st.integers(1, 3))):
        if not holders:
            return draw(anything)
        holder, key = draw(st.sampled_from(holders))
        with contextlib.suppress(KeyError, IndexError):
            if draw(st.booleans()):
                holder[key] = draw(anything)
            else:
                del holder[key]
    return value


def dumped(file: Path, draw: Any) -> bytes:
    text = file.read_text()
    if ".jsonl" not in file.name:
        return json.dumps(mutated(json.loads(text), draw)).encode()
    lines = [json.loads(line) for line in text.splitlines()]
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(lines) - 1))
        lines[place] = mutated(lines[place], draw)
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def check(form: TranscriptFormat, root: Path, file: Path) -> None:
    with open(file, "rb") as opened:
        try:
            steps = list(follow_log(opened, form, root, file.relative_to(root).as_posix()))
        except SourceError:
            return
    for turn in (found for step in steps for found in step.items if isinstance(found, Turn)):
        words = (
            turn.key,
            turn.role,
            turn.text,
            turn.session,
            turn.agent,
            turn.origin,
            turn.title,
            turn.cwd or "",
        )
        assert all(isinstance(word, str) and word.encode() is not None for word in words)
        assert turn.key
        assert turn.session
        assert turn.text.strip()
        assert turn.line >= 1
        assert 0 <= turn.start < turn.end
        assert turn.at is None or turn.at > 0


@pytest.mark.parametrize(("form", "path"), CASES, ids=NAMES)
@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_log_whose_values_were_replaced_is_read_without_an_error(
    form: TranscriptFormat, path: str, data: Any
) -> None:
    with tempfile.TemporaryDirectory() as made:
        file = Path(made) / path
        file.parent.mkdir(parents=True)
        file.write_bytes(dumped(FIXTURES / path, data.draw))
        form.recognise(file.as_posix(), file.read_bytes()[:65_536])
        check(form, Path(made), file)


@pytest.mark.parametrize(("form", "path"), CASES, ids=NAMES)
@given(data=st.data())
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_log_whose_bytes_were_replaced_is_read_without_an_error(
    form: TranscriptFormat, path: str, data: Any
) -> None:
    whole = (FIXTURES / path).read_bytes()
    place = data.draw(st.integers(0, len(whole)))
    spoilt = whole[:place] + data.draw(st.binary(max_size=4)) + whole[place + data.draw(st.integers(0, 40)) :]
    with tempfile.TemporaryDirectory() as made:
        file = Path(made) / path
        file.parent.mkdir(parents=True)
        file.write_bytes(spoilt)
        form.recognise(file.as_posix(), spoilt[:65_536])
        check(form, Path(made), file)


@given(data=st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_session_whose_files_were_replaced_is_read_without_an_error(data: Any) -> None:
    with tempfile.TemporaryDirectory() as made:
        shutil.copytree(FIXTURES / "opencode" / "storage", Path(made) / "storage")
        files = sorted(Path(made).rglob("*.json"))
        for file in data.draw(st.lists(st.sampled_from(files), min_size=1, max_size=3)):
            try:
                value = json.loads(file.read_text())
            except ValueError:
                value = {}
            file.write_text(json.dumps(mutated(value, data.draw)))
        check(opencode.OPENCODE_FILES, Path(made), Path(made) / "storage/session/proj1/ses_1.json")
