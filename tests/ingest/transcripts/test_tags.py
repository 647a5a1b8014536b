import json
import time
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.ingest.transcripts.base import strip_tags

NAMES = frozenset({"note", "hook"})


def test_pairs_are_taken_out_with_what_stands_in_them() -> None:
    assert strip_tags("a<note>b</note>c<hook id='1'>d\ne</hook>f", NAMES) == "acf"
    assert strip_tags("<note>a<hook>b</hook>c</note>d", NAMES) == "d"


def test_other_tags_and_halves_of_pairs_stay() -> None:
    for text in ("<b>a</b>", "a <note> b", "a </note> b", "<notes>a</notes>", "1 < 2"):
        assert strip_tags(text, NAMES) == text
    assert strip_tags("<note> <hook>x</hook> end", NAMES) == "<note>  end"


def test_a_text_full_of_open_tags_takes_linear_time() -> None:
    text = "<note>" * 200_000
    began = time.process_time()
    assert strip_tags(text, NAMES) == text
    assert time.process_time() - began < 2


CODEX, CLAUDE, OPENCLAW = "rollout-2026-03-01-x.jsonl", "talk.jsonl", "sessions/talk.jsonl"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            CODEX,
            "Our build pins these:\n<plugins>\n<plugin>surefire 3.2.5</plugin>\n</plugins>\nKeep surefire.",
        ),
        (CODEX, "# Plan\nFirst paint the hull.\n## My request:\nOrder the paint."),
        (CODEX, "The role has <permissions>read, write</permissions> on the bucket."),
        (
            CLAUDE,
            "The goals are\n<goals><goal>verify</goal><goal>deploy</goal></goals>\nand <tick>12</tick>.",
        ),
        (OPENCLAW, "Hosts in the DMZ (untrusted):\nweb1 is 10.0.0.7.\n\nInside is db1."),
    ],
)
def test_tags_and_headings_that_a_person_pastes_are_kept(tmp_path: Path, name: str, said: str) -> None:
    at = "2026-03-01T10:00:00Z"
    content = [{"type": "input_text" if name == CODEX else "text", "text": said}]
    message = {"role": "user", "content": content}
    lines: dict[str, list[dict[str, object]]] = {
        CODEX: [
            {"timestamp": at, "type": "session_meta", "payload": {"id": "abc", "cwd": "/x"}},
            {"timestamp": at, "type": "response_item", "payload": {"type": "message", **message}},
        ],
        CLAUDE: [
            {
                "type": "user",
                "uuid": "u1",
                "parentUuid": None,
                "sessionId": "s",
                "isSidechain": False,
                "timestamp": at,
                "message": message,
            }
        ],
        OPENCLAW: [
            {"type": "session", "version": 3, "id": "s1", "timestamp": at, "cwd": "/x"},
            {"type": "message", "id": "a1", "parentId": None, "timestamp": at, "message": message},
        ],
    }
    file = tmp_path / "log" / name
    file.parent.mkdir(parents=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines[name]))
    with Memory.open("memory://", user="ann") as memory:
        memory.sync(tmp_path / "log")
        pieces = [one for one in memory.timeline().memories if one.place is not None]
        pieces.sort(key=lambda one: one.place.ordinal)
        assert "".join(one.content for one in pieces) == said
