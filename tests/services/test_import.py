"""What other tools remember becomes memories: each format as its tool writes it, broken ones, and all of them twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from scrubjay import Memory
from scrubjay.errors import InputError, SourceError
from scrubjay.models.records import Record
from scrubjay.models.reports import ImportReport
from scrubjay.transfer import archive, formats

GRAPH = [
    {
        "type": "entity",
        "name": "John_Smith",
        "entityType": "person",
        "observations": ["Speaks fluent Spanish", "Likes tea"],
    },
    {"type": "entity", "name": "Anthropic", "entityType": "organization", "observations": ["Likes tea"]},
    {"type": "relation", "from": "John_Smith", "to": "Anthropic", "relationType": "works_at"},
]
MEM0 = {
    "results": [
        {
            "id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e",
            "memory": "User loves sci-fi movies.",
            "hash": "1a271c007316c94377175ee80e746a19",
            "created_at": "2025-02-27T16:33:20.557Z",
            "updated_at": None,
            "metadata": {"category": "movies"},
            "categories": ["taste"],
            "user_id": "alice",
            "agent_id": "helper",
            "run_id": "run-7",
        },
        {"id": "x", "memory": "", "user_id": "alice"},
    ],
    "relations": [{"source": "alice", "relationship": "lives_in", "target": "Uppsala"}],
}
AGENTMEMORY = {
    "version": "0.9.12",
    "exportedAt": "2026-02-01T00:00:00.000Z",
    "sessions": [{"id": "s1", "project": "harbour", "startedAt": "2026-01-02T09:00:00Z"}],
    "observations": {
        "s1": [
            {
                "id": "o1",
                "sessionId": "s1",
                "timestamp": "2026-01-02T10:00:00Z",
                "type": "decision",
                "title": "Berths are locked per row",
                "facts": ["Row locks end double bookings"],
                "narrative": "Two bookings of one berth were seen.",
                "concepts": ["row locking"],
                "files": [],
                "importance": 8,
            }
        ]
    },
    "memories": [
        {
            "id": "m1",
            "createdAt": "2026-01-01T00:00:00Z",
            "updatedAt": "2026-01-01T00:00:00Z",
            "type": "fact",
            "title": "Port",
            "content": "The gateway listens on port 8080.",
            "concepts": [],
            "files": [],
            "sessionIds": ["s1"],
            "strength": 7,
            "version": 1,
            "isLatest": False,
            "origin": {"channel": "user", "capturedAt": "2026-01-01T00:00:00Z"},
        },
        {
            "id": "m2",
            "createdAt": "2026-01-03T00:00:00Z",
            "updatedAt": "2026-01-03T00:00:00Z",
            "type": "preference",
            "title": "Port",
            "content": "The gateway listens on port 9090.",
            "concepts": ["gateway port"],
            "files": [],
            "sessionIds": ["s1"],
            "strength": 7,
            "version": 2,
            "supersedes": ["m1"],
            "isLatest": True,
            "project": "harbour",
        },
    ],
    "summaries": [
        {
            "sessionId": "s1",
            "project": "harbour",
            "createdAt": "2026-01-02T12:00:00Z",
            "title": "Locks",
            "narrative": "We locked rows.",
            "keyDecisions": ["Lock the row of a berth"],
            "filesModified": [],
            "concepts": [],
            "observationCount": 1,
        }
    ],
    "proceduralMemories": [
        {
            "id": "p1",
            "name": "Deploy",
            "steps": ["Run the tests", "Push"],
            "triggerCondition": "a release is due",
            "createdAt": "2026-01-05T00:00:00Z",
        }
    ],
    "lessons": [
        {
            "id": "l1",
            "content": "Never deploy on fridays.",
            "context": "",
            "confidence": 0.8,
            "tags": ["ops"],
        },
        {"id": "l2", "content": "Gone.", "context": "", "deleted": True},
    ],
    "graphNodes": [{"id": "g"}],
}
NOTE = """---
title: Coffee Brewing Methods
type: note
tags: [coffee, brewing]
permalink: coffee-brewing-methods
created: 2026-03-01
---
# Coffee Brewing Methods

Brewing is patience. See [[Grinder]].

## Observations
- [method] Pour over gives more clarity #light (personal experience)
- [preference] Ethiopian beans for lighter roasts
- [ ] buy a kettle
- [00:12] not an observation

```
- [code] not an observation
```

## Relations
- requires [[Grinder]]
- "contrasts with" [[Nowhere]]
"""
LINES = [
    {
        "content": "The mast is 12 metres.",
        "tier": "semantic",
        "tags": ["Boat"],
        "date": "2026-03-01",
        "name": "mast",
    },
    {
        "content": "It was painted.",
        "links": ["mast"],
        "name": "paint",
        "concepts": ["kayak"],
        "session": "s",
        "turn": 3,
    },
]


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def memory(opened: Callable[..., Memory]) -> Memory:
    return opened()


def held(memory: Memory) -> list[Record]:
    with memory.workspace.store.reader(memory.workspace.scope) as reader:
        found = reader.get(reader.ids_with_prefix("", 10_000)).values()
    return sorted(found, key=lambda record: record.content)


def edges(memory: Memory, kind: str, origin: str = "given") -> list[tuple[str, str, str]]:
    """What leads where, by the texts of both ends."""
    with memory.workspace.store.reader(memory.workspace.scope) as reader:
        records = {record.id: record.content for record in held(memory)}
        names = {row.id: row.name for row in reader.concepts()}
        found = reader.edges(list(records), [kind])
    return sorted(
        (records[edge.src], records.get(edge.dst) or names[edge.dst], edge.rule)
        for edge in found
        if edge.origin == origin
    )


def taken(memory: Memory, path: Path, format: str) -> ImportReport:
    """Import by what is recognised: first as a trial, then really, then once more."""
    before = memory.status().memories
    dry = memory.import_(path, dry_run=True)
    assert (dry.format, memory.status().memories) == (format, before)
    done = memory.import_(path)
    assert (dry.added, dry.broken, dry.failures) == (done.added, done.broken, done.failures)
    again = memory.import_(path)
    assert (again.added, again.edges, again.concepts) == (0, 0, 0)
    assert again.existed == done.added + done.existed
    assert memory.status().memories == before + done.added
    return done


def test_a_graph_of_the_mcp_memory_server_becomes_facts_about_concepts(
    memory: Memory, tmp_path: Path
) -> None:
    file = tmp_path / "memory.jsonl"
    file.write_text(lines(GRAPH), "utf-8")
    done = taken(memory, file, "mcp-memory")
    assert (done.added, done.concepts) == (4, 2)
    assert [(record.content, record.tags, record.origin) for record in held(memory)] == [
        ("Anthropic: Likes tea", ("organization", "undated"), "agent"),
        ("John Smith works at Anthropic.", ("undated",), "agent"),
        ("John Smith: Likes tea", ("person", "undated"), "agent"),
        ("John Smith: Speaks fluent Spanish", ("person", "undated"), "agent"),
    ]
    assert {"John Smith", "Anthropic"} <= {known.name for known in memory.concepts.list()}
    told = [name for text, name, _ in edges(memory, "references", "found") if "works at" in text]
    assert told == ["Anthropic", "John Smith"]
    assert memory.concepts.show("john_smith").concept.memories == 3


def test_what_read_graph_answers_is_the_same_graph(memory: Memory, tmp_path: Path) -> None:
    graph = {"entities": GRAPH[:2], "relations": GRAPH[2:]}
    for number, text in enumerate((json.dumps(graph), json.dumps(graph, indent=2))):
        file = tmp_path / f"{number}.json"
        file.write_text(text, "utf-8")
        assert memory.import_(file).format == "mcp-memory"
    assert memory.status().memories == 4
    large = tmp_path / "large.json"  # its relations begin far behind what is looked at
    many = [
        {**GRAPH[0], "name": f"Person_{n}", "observations": [f"Likes {'very ' * 20}much {n}"]}
        for n in range(999)
    ]
    large.write_text(json.dumps({"entities": many, "relations": GRAPH[2:]}, indent=2), "utf-8")
    assert memory.import_(large, dry_run=True).format == "mcp-memory"


def test_a_graph_whose_first_line_is_broken_loses_that_line_alone(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    file.write_text('{"type": "enti\n' + lines(GRAPH), "utf-8")
    done = memory.import_(file)
    assert (done.format, done.added, [fault.where for fault in done.broken]) == ("mcp-memory", 4, ["line 1"])


def test_memories_of_mem0_keep_date_run_agent_and_categories(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps(MEM0, indent=1), "utf-8")
    done = taken(memory, file, "mem0")
    assert (done.added, done.failures) == (2, 1)
    assert done.broken[0].where == "memory 2"
    found = next(record for record in held(memory) if "sci-fi" in record.content)
    assert (found.tier, found.session, found.agent) == ("semantic", "run-7", "helper")
    assert found.tags == ("movies", "taste", "user:alice")
    assert found.event is not None
    assert found.event.start == 1_740_674_000_557_000
    assert "Uppsala" in [name for _, name, _ in edges(memory, "references", "found")]
    bare = tmp_path / "array.json"
    bare.write_text(json.dumps(MEM0["results"][:1]), "utf-8")
    assert memory.import_(bare).existed == 1


def test_an_export_of_agentmemory_keeps_kinds_sessions_and_what_supersedes_what(
    memory: Memory, tmp_path: Path
) -> None:
    file = tmp_path / "agentmemory.json"
    file.write_text(json.dumps(AGENTMEMORY), "utf-8")
    done = taken(memory, file, "agentmemory")
    assert done.added == 6
    assert [fault.where for fault in done.broken] == ["graphNodes"]
    by_text = {record.content.split("\n")[0]: record for record in held(memory)}
    assert {text: (one.tier, one.status, one.origin) for text, one in by_text.items()} == {
        "Berths are locked per row": ("observation", "active", "agent"),
        "Deploy": ("procedural", "active", "agent"),
        "Locks": ("crystal", "active", "agent"),
        "Never deploy on fridays.": ("lesson", "active", "agent"),
        "The gateway listens on port 8080.": ("semantic", "superseded", "owner"),
        "The gateway listens on port 9090.": ("lesson", "active", "agent"),
    }
    seen = by_text["Berths are locked per row"]
    assert (seen.session, seen.project, seen.event is not None) == ("s1", "harbour", True)
    assert by_text["Never deploy on fridays."].confidence == 0.8
    new, old = (f"The gateway listens on port {port}." for port in (9090, 8080))
    assert edges(memory, "supersedes") == [(new, old, "imported")]
    assert (new, "gateway port", "imported") in edges(memory, "references")


def test_a_memory_that_something_took_the_place_of_is_superseded_once_and_can_be_restored(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "agentmemory.json"
    file.write_text(json.dumps(AGENTMEMORY), "utf-8")
    with monkeypatch.context() as died:
        died.setattr(
            "scrubjay.services.imports._BatchImporter._supersede", lambda *_: None
        )  # killed just before it
        memory.import_(file)
    assert {record.status for record in held(memory)} == {"active"}
    memory.import_(file)
    (old,) = [record for record in held(memory) if record.status == "superseded"]
    memory.restore(old.id)
    memory.import_(file)
    assert {record.status for record in held(memory)} == {"active"}


def test_an_old_version_in_an_export_does_not_supersede_the_same_words_said_here(
    memory: Memory, tmp_path: Path
) -> None:
    file = tmp_path / "agentmemory.json"
    file.write_text(json.dumps(AGENTMEMORY), "utf-8")
    old = next(one for one in AGENTMEMORY["memories"] if one["isLatest"] is False)  # type: ignore[attr-defined]
    said = memory.add(old["content"], tier="semantic", session="s1", date=old["createdAt"])
    assert memory.import_(file).existed == 1
    assert memory.get(said.id).records[0].status == "active"


def test_notes_of_basic_memory_become_facts_prose_and_links(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "basic"
    (folder / ".obsidian").mkdir(parents=True)
    (folder / ".obsidian" / "x.md").write_text("hidden", "utf-8")
    (folder / "coffee.md").write_text(NOTE.replace("\n", "\r\n"), "utf-8")
    (folder / "grinder.md").write_text(
        "---\ntitle: Grinder\npermalink: grinder\n---\nBurrs are of steel.\n", "utf-8"
    )
    done = taken(memory, folder, "basic-memory")
    assert done.added == 4
    by_text = {record.content.split("\n")[0]: record for record in held(memory)}
    method = by_text["Coffee Brewing Methods: Pour over gives more clarity #light (personal experience)"]
    assert (method.tier, method.tags) == ("semantic", ("brewing", "coffee", "light", "method"))
    taste = by_text["Coffee Brewing Methods: Ethiopian beans for lighter roasts"]
    assert (taste.tier, taste.event is not None) == ("lesson", True)
    prose = by_text["# Coffee Brewing Methods"]
    assert "[code] not an observation" in prose.content
    assert "[ ] buy a kettle" in prose.content
    assert "Pour over" not in prose.content
    assert [(src.split("\n")[0], dst, rule) for src, dst, rule in edges(memory, "links")] == [
        ("# Coffee Brewing Methods", "Burrs are of steel.", "links_to")
    ]


def test_a_line_whose_text_is_stored_in_another_project_is_reported(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_text(lines([{"content": "Port 80.", "project": name} for name in ("shop", "blog", "shop")]))
    done = memory.import_(file)
    assert (done.added, done.existed) == (1, 2)
    ((where, message),) = [(fault.where, fault.message) for fault in done.broken]
    assert where == "line 2"
    assert message.endswith("already, in the project shop")


def test_a_day_of_mem0_is_that_day_in_every_time_zone(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps([{"memory": "The card is valid.", "created_at": "2026-03-01"}]))
    memory.import_(file)
    said = memory.add("The card is blue.", date="2026-03-01")
    assert len({record.event for record in held(memory)}) == 1, said


def test_list_lines_with_one_link_keep_their_words(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "basic"
    folder.mkdir()
    (folder / "boat.md").write_text(
        "---\ntitle: Boat\npermalink: boat\n---\n# Boat\n\n- Call [[Bob]] (the mooring code is 4711)\n",
        "utf-8",
    )
    (folder / "todo.md").write_text("---\ntitle: Todo\n---\n#todo renew the contract\n", "utf-8")
    taken(memory, folder, "basic-memory")
    assert [record.content for record in held(memory)] == [
        "# Boat\n\n- Call [[Bob]] (the mooring code is 4711)",
        "#todo renew the contract",
    ]


def test_lines_of_ones_own_keep_every_field(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + lines(LINES).replace("\n", "\r\n").encode())
    done = taken(memory, file, "jsonl")
    assert (done.added, done.edges) == (2, 2)
    painted, mast = held(memory)
    assert (mast.tier, mast.tags) == ("semantic", ("boat",))
    assert (painted.session, painted.turn, painted.origin) == ("s", 3, "owner")
    assert edges(memory, "links") == [("It was painted.", "The mast is 12 metres.", "imported")]
    assert edges(memory, "references") == [("It was painted.", "kayak", "imported")]


def test_a_broken_line_is_named_and_the_rest_goes_on(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MAX_LINE", 2_000)
    monkeypatch.setattr(formats, "MAX_LINE", 2_000)
    file = tmp_path / "own.jsonl"
    rows = [
        json.dumps({"content": "one"}),
        "{not json",
        json.dumps({"content": "two", "tagz": ["x"]}),
        "[]",
        json.dumps({"content": "x" * 2_001}),
        json.dumps({"content": "  "}),
        json.dumps({"content": "three", "tier": "dream"}),
        json.dumps({"content": "four", "date": "yesterday"}),
        json.dumps({"content": "five", "turn": "x"}),
        "",
        json.dumps({"content": "last"}),
    ]
    file.write_text("\n".join(rows), "utf-8")
    done = taken(memory, file, "jsonl")
    assert [record.content for record in held(memory)] == ["last", "one"]
    assert [fault.where for fault in done.broken] == [f"line {n}" for n in range(2, 10)]
    told = " ".join(fault.message for fault in done.broken)
    for part in (
        "not JSON",
        "'tagz'",
        "not a JSON object",
        "longer than",
        "empty",
        "'dream'",
        "'yesterday'",
        "turn is",
    ):
        assert part in told, part
    assert "Nothing was written" not in told


def test_a_file_that_is_cut_short_or_no_text_is_named_with_its_line(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "mem0.json"
    whole = json.dumps(MEM0, indent=1)
    for data, message in (
        (whole[:300].encode(), r"is not JSON.*\(line 1[0-9]\)"),
        (whole.encode().replace(b"sci", b"\xff"), "not UTF-8"),
        (b"[" * 100_000, "nested too deeply|is not JSON"),
        (b"{}", "no array of memories"),
    ):
        file.write_bytes(data)
        with pytest.raises(InputError, match=message) as raised:
            memory.import_(file, format="mem0")
        assert "Nothing was imported" in str(raised.value)
    assert memory.status().memories == 0


def test_a_json_file_larger_than_memory_would_bear_is_refused(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "MAX_FILE", 100)
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps(MEM0), "utf-8")
    with pytest.raises(InputError, match="at most 100 are read"):
        memory.import_(file)


def test_what_is_of_no_known_format_is_refused_with_what_was_looked_for(
    memory: Memory, tmp_path: Path
) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    for name, data in (
        ("a.json", b'{"a": 1}'),
        ("b.txt", b"hello"),
        ("c.jsonl", b""),
        ("d.bin", bytes(range(256))),
    ):
        file = folder / name
        file.write_bytes(data)
        with pytest.raises(InputError, match=r"has an unknown format\. Looked for: .*mem0") as raised:
            memory.import_(file)
        assert "--format" in raised.value.hint
    with pytest.raises(InputError, match="unknown format"):
        memory.import_(folder)
    with pytest.raises(InputError, match="does not exist"):
        memory.import_(tmp_path / "none")
    with pytest.raises(InputError, match="is not one of auto"):
        memory.import_(folder, format="word")
    with pytest.raises(InputError, match="read from a file"):
        memory.import_(folder, format="mem0")
    with pytest.raises(InputError, match="no memory of openclaw"):
        memory.import_(folder, format="openclaw")


def test_a_folder_that_cannot_be_read_is_an_error(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises((InputError, SourceError)):
        memory.import_(tmp_path / "loop", format="jsonl")


def test_what_was_forgotten_is_left_out_and_what_was_changed_is_not_doubled(
    memory: Memory, tmp_path: Path
) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text(
        lines([{"content": "The safe opens with 12-30."}, {"content": "The gate is green."}]), "utf-8"
    )
    memory.import_(file)
    gate, safe = held(memory)
    memory.forget(safe.id)
    memory.update(gate.id, "The gate is white.")
    done = memory.import_(file)
    assert (done.added, done.existed, done.forgotten) == (0, 1, 1)


def test_secrets_are_scrubbed_and_nothing_is_shared(opened: Callable[..., Memory], tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text(lines([{"content": "the key is AKIAQYLPMN5HHHFPZAM2"}]), "utf-8")
    memory = opened()
    assert memory.import_(file).scrubbed == {"aws-access-key": 1}
    assert b"AKIAQYLPMN5HHHFPZAM2" not in (tmp_path / "memory.db").read_bytes()
    assert opened(user="bob").status().memories == 0
    with pytest.raises(InputError, match="Only an export of scrubjay"):
        memory.import_(file, shared=True)


def test_statements_are_taken_as_they_stand_and_do_not_supersede_each_other(
    memory: Memory, tmp_path: Path
) -> None:
    memory.add("The timeout of the gateway is 30 seconds.")
    file = tmp_path / "own.jsonl"
    file.write_text(
        lines([{"content": "The timeout of the gateway is 90 seconds.", "tier": "semantic"}]), "utf-8"
    )
    taken(memory, file, "jsonl")
    assert {record.status for record in held(memory)} == {"active"}


UNDATED_EXPORTS = {
    "rates/Rates.md": "---\ntitle: Rates\npermalink: rates\n---\n- [fact] The day rate is 850 euros\n",
    "memory.jsonl": lines(
        [{"type": "entity", "name": "Rates", "entityType": "", "observations": ["The day rate is 850 euros"]}]
    ),
    "mem0.json": json.dumps({"results": [{"id": "x", "memory": "The day rate is 850 euros."}]}),
    "agentmemory.json": json.dumps(
        {
            "version": "0.9.12",
            "exportedAt": "2026-02-01T00:00:00Z",
            "semanticMemories": [{"id": "m1", "fact": "The day rate is 850 euros."}],
        }
    ),
    "own.jsonl": lines([{"content": "The day rate is 850 euros."}]),
    "turns.jsonl": lines(
        [{"content": "The day rate is 850 euros.", "session": "s", "role": "user", "turn": 0}]
    ),
}


@pytest.mark.parametrize("name", UNDATED_EXPORTS)
def test_an_import_without_a_date_does_not_get_the_day_of_the_import(
    memory: Memory, tmp_path: Path, name: str
) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(UNDATED_EXPORTS[name], "utf-8")
    newer = memory.add("The day rate is 1040 euros.", date="2026-01-12").id
    assert memory.import_(file).added == 1
    answer = memory.search("What is the day rate in euros?")
    dates = {result.id: result.date for result in answer.results}
    (imported,) = dates.keys() - {newer}
    assert (dates[newer], dates[imported]) == ("2026-01-12", None)
    assert newer not in {one.id for one in answer.results if imported in one.newer}
    today = datetime.now().astimezone()
    context = memory.context("What is the day rate in euros?").text
    assert "850" in context
    assert today.date().isoformat() not in context
    (told,) = [one for one in memory.thread("day rate euros").entries if one.result.id == imported]
    assert told.dated is False
    assert imported not in {result.id for result in memory.search("What happened today?").results}
    asked = memory.search("What was said about the euros today?", explain=True)
    (found,) = [one for one in asked.results if one.id == imported]
    assert not [part for part in found.explanation.contributions if part.channel == "dated" and part.amount]


def test_an_import_without_a_date_supersedes_nothing_that_may_be_newer(
    memory: Memory, tmp_path: Path
) -> None:
    file = tmp_path / "own.jsonl"
    moved = "I moved to Bremen, I no longer live in Kassel."
    file.write_text(lines([{"content": moved}, {"content": "I use Vim as my editor."}]), "utf-8")
    memory.import_(file)
    memory.add("I live in Kassel.", date="2026-01-12")
    assert {record.status for record in held(memory)} == {"active"}
    later = memory.add("I switched from Vim to Helix as my editor.").supersedes
    assert [record.content for record in held(memory) if record.id in later] == ["I use Vim as my editor."]
