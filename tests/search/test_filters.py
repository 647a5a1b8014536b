from __future__ import annotations

import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from scrubjay import Memory, NewMemory
from scrubjay.models.ids import text_hash
from scrubjay.models.records import Record, Scope
from scrubjay.storage.changes import PreparedMemory, PutMemory
from scrubjay.storage.urls import open_store
from scrubjay.text.tokenizer import index_terms


@pytest.fixture
def memory(opened: Callable[..., Memory]) -> Memory:
    return opened()


def said(memory: Memory, query: str = "kettle", **options: Any) -> set[str]:
    return {result.snippet for result in memory.search(query, limit=50, **options).results}


def test_tiers_are_any_of(memory: Memory) -> None:
    for tier in ("lesson", "semantic", "observation"):
        memory.add(f"kettle {tier}", tier=tier)
    assert said(memory, tiers=["lesson"]) == {"kettle lesson"}
    assert said(memory, tiers=["lesson", "semantic"]) == {"kettle lesson", "kettle semantic"}
    assert said(memory, tiers=["crystal"]) == set()


def test_tags_are_all_of_and_have_no_case(memory: Memory) -> None:
    memory.add("kettle a", tags=["Kitchen"])
    memory.add("kettle b", tags=["kitchen", "Blue"])
    assert said(memory, tags=["kitchen"]) == {"kettle a", "kettle b"}
    assert said(memory, tags=["BLUE", "kitchen"]) == {"kettle b"}
    assert said(memory, tags=["kitch"]) == set()


@pytest.mark.parametrize(
    ("window", "found"),
    [
        ({"since": "2026-03-02"}, {"kettle second", "kettle april"}),
        ({"until": "2026-03-01"}, {"kettle first", "kettle noon"}),
        ({"since": "2026-03-01", "until": "2026-03-01"}, {"kettle first", "kettle noon"}),
        ({"since": "2026-03", "until": "2026-03"}, {"kettle first", "kettle noon", "kettle second"}),
        (
            {"since": "2026", "until": "2026"},
            {"kettle first", "kettle noon", "kettle second", "kettle april"},
        ),
        ({"until": datetime(2026, 3, 1, 12)}, {"kettle first"}),
        ({"since": datetime(2026, 3, 1, 12), "until": "2026-03-01"}, {"kettle noon"}),
        ({"since": "2027"}, set()),
    ],
    # A set's order is not the same in two processes that run the tests together.
    ids=lambda value: str(sorted(value) if isinstance(value, set) else value),
)
def test_dates_choose_by_when_it_happened(memory: Memory, window: dict[str, Any], found: set[str]) -> None:
    memory.add("kettle first", date="2026-03-01")
    memory.add("kettle noon", date=datetime(2026, 3, 1, 12))
    memory.add("kettle second", date="2026-03-02")
    memory.add("kettle april", date="2026-04")
    assert said(memory, **window) == found


def test_what_has_no_date_of_its_own_goes_by_when_it_was_recorded(memory: Memory) -> None:
    memory.add("kettle undated")
    today = datetime.now(UTC)
    assert said(memory, since=today.replace(year=today.year - 1, day=1)) == {"kettle undated"}
    assert said(memory, until=today.replace(year=today.year - 1, day=1)) == set()


def test_paths_are_globs_or_folders_within_a_source(memory: Memory, tmp_path: Path) -> None:
    for path in ("a.md", "sea/b.md", "sea/deep/c.md"):
        (tmp_path / "notes" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "notes" / path).write_text(f"kettle {path}")
    memory.sync(tmp_path / "notes")
    memory.add("kettle nowhere")
    assert said(memory, path="sea") == {"kettle sea/b.md", "kettle sea/deep/c.md"}
    assert said(memory, path="sea/deep/") == {"kettle sea/deep/c.md"}
    assert said(memory, path="*.md") == {"kettle a.md", "kettle sea/b.md", "kettle sea/deep/c.md"}
    assert said(memory, path="sea/*") == {"kettle sea/b.md", "kettle sea/deep/c.md"}
    assert said(memory, path="*/b.md") == {"kettle sea/b.md"}
    assert said(memory, path="elsewhere") == set()


def test_a_path_is_a_name_before_it_is_a_glob(memory: Memory, tmp_path: Path) -> None:
    """With brackets, with `./`, and with accents as either system spells them."""
    odd = (
        "app/[slug]/page.md",
        "Archive [old]/a.md",
        "what?/q.md",
        unicodedata.normalize("NFD", "Müller/ü.md"),
    )
    for path in (*odd, "plain.md"):
        (tmp_path / "notes" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "notes" / path).write_text(f"kettle {path}")
    memory.sync(tmp_path / "notes")
    for path in odd:
        for given in (path, path.rpartition("/")[0], f"./{path}", unicodedata.normalize("NFC", path)):
            assert said(memory, path=given) == {f"kettle {path}"}
    assert memory.get(path=tmp_path / "notes" / "Müller" / "ü.md").records
    assert memory.get(path="Müller/ü.md").records


def test_sources_are_any_of_by_path_or_id(memory: Memory, tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text(f"kettle {name}")
        memory.sync(tmp_path / name)
    ids = {Path(source.root).name: source.id for source in memory.sources()}
    assert said(memory, sources=[str(tmp_path / "one")]) == {"kettle one"}
    assert said(memory, sources=[ids["two"], str(tmp_path / "one")]) == {"kettle one", "kettle two"}


def test_archived_and_superseded_memories_are_out_unless_asked_for_and_marked(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    memory = opened(tmp_path / "a.db")
    memory.add("kettle active")
    with_store = open_store(str(tmp_path / "a.db"))
    for number, status in enumerate(("archived", "superseded")):
        text = f"kettle {status}"
        record = Record(
            f"obs_{number:016x}",
            "observation",
            text,
            text_hash(text),
            "",
            "user:ann",
            "ann",
            0,
            0,
            status=status,
        )
        with_store.write(Scope("default", "ann"), [PutMemory(PreparedMemory(record, index_terms(text), {}))])
    assert said(memory) == {"kettle active"}
    assert said(memory, statuses=["archived"]) == {"kettle archived"}
    assert "kettle superseded" in said(memory, as_of="2026-03-01")
    assert "kettle superseded" not in said(memory, as_of="2026-03-01", statuses=["active"])
    every = memory.search("kettle", statuses=["active", "archived", "superseded"]).results
    assert {r.status: r.snippet for r in every} == {
        status: f"kettle {status}" for status in ("active", "archived", "superseded")
    }


def test_filters_reach_what_is_beyond_the_channels_depth(memory: Memory) -> None:
    memory.add_many([NewMemory(f"kettle kettle kettle {number}") for number in range(150)])
    memory.add("a kettle in a much longer text than all the others have", tier="lesson")
    assert len(said(memory, tiers=["lesson"])) == 1


def test_filters_change_no_score(memory: Memory) -> None:
    for tier in ("lesson", "observation"):
        memory.add(f"the blue kettle {tier}", tier=tier)
    memory.add("unrelated words altogether")
    weights = {"bm25": 1.0, "vector": 1.0}
    every = {r.id: r.score for r in memory.search("blue kettle", weights=weights).results}
    (lesson,) = memory.search("blue kettle", tiers=["lesson"], weights=weights).results
    assert lesson.score == every[lesson.id]


def test_others_private_memories_are_neither_found_nor_felt(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    ann, bob = (opened(tmp_path / "a.db", user=user) for user in ("ann", "bob"))
    ann.add("the blue kettle")
    ann.add("a red pot")
    before = [(r.id, r.score) for r in ann.search("blue kettle").results]
    for number in range(20):
        bob.add(f"kettle kettle {number}")
    assert [(r.id, r.score) for r in ann.search("blue kettle").results] == before
    assert said(bob, "red pot") == said(bob, "kettle")
    assert said(ann, "kettel", channels=["ngram"]) == {"the blue kettle"}


def test_group_and_public_memories_are_seen_by_whom_they_are_for(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    ann = opened(tmp_path / "a.db", user="ann", groups=["dev"])
    ann.add("kettle for dev", visibility="group", group="dev")
    ann.add("kettle for all", visibility="public")
    ann.add("kettle for ann")
    assert said(opened(tmp_path / "a.db", user="bob", groups=["dev"])) == {"kettle for dev", "kettle for all"}
    assert said(opened(tmp_path / "a.db", user="eve")) == {"kettle for all"}
    assert said(opened(tmp_path / "a.db", user="ann", tenant="other")) == set()
