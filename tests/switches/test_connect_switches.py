"""Each stage that connects memories has a switch: off, its edges are absent, and all else is equal."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.config.loader import load_settings
from scrubjay.config.settings import LINKING_STAGES, Settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.models.graph import STORED_EDGE_KINDS, Edge
from scrubjay.models.lifecycle import NewMemory

KINDS = {"concepts": "references", "links": "links", "similar": "similar", "categories": "belongs"}
SUBJECTS = (
    "seedlings compost tulips watering greenhouse pruning",
    "sourdough oven yeast simmering dumplings whisk",
    "parser tokens bytecode linker registers inlining",
)
UNCONNECTED = ("bm25", "vector", "ngram")
QUERIES = ("compost for the tulips", "Grafana", "who said dumplings?", '"bytecode linker"', "plan alerts", "")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "plan.md").write_text("# Plan\n\nWe use [[Grafana]], see [[alerts]].\n\n## Costs\n\nFew.\n")
    (root / "alerts.md").write_text("# Alerts\n\nGrafana wakes us, says [the plan](plan.md#costs).\n")
    for n in range(24):
        words = SUBJECTS[n % 3].split()
        text = " ".join(words[n % 6 :] + words[: n % 6])
        (root / f"{n}.md").write_text(f"# Day {n}\n\nToday it was {text} once more.\n")
    lines = [
        {"role": role, "content": f"What of {SUBJECTS[n % 3]} and Grafana, turn {n}?", "session": "s1"}
        for n, role in enumerate(("user", "assistant") * 4)
    ]
    (root / "talk.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return root


@pytest.fixture
def start(tmp_path: Path) -> Path:
    """A store with its secret, so that ids are equal in every copy of it."""
    path = tmp_path / "start.db"
    with opened(path, LINKING_STAGES) as memory:
        memory.add("The first memory makes the tenant and its secret.")
    return path


def opened(path: Path, stages: tuple[str, ...]) -> Memory:
    found = load_settings(environ={"XDG_CONFIG_HOME": str(path.parent), "SCRUBJAY_SYNC_LOOK_SECONDS": "60"})
    settings: Settings = replace(
        found, store=str(path), user="ann", linking=replace(found.linking, stages=stages)
    )
    return Memory.open(settings=settings, embedders=[HashEmbedder(64)])


def filled(start: Path, tree: Path, stages: tuple[str, ...]) -> Memory:
    path = start.with_name(f"{'-'.join(stages) or 'none'}.db")
    shutil.copy(start, path)
    memory = opened(path, stages)
    memory.sync(tree)
    memory.add_many(NewMemory(f"I said: {SUBJECTS[n % 3]}, and Grafana {n}.") for n in range(6))
    (tree / "plan.md").write_text((tree / "plan.md").read_text() + "\nAnd [[0]].\n")
    memory.sync()
    (tree / "plan.md").write_text((tree / "plan.md").read_text().removesuffix("\nAnd [[0]].\n"))
    memory.sync()
    return memory


def web(memory: Memory) -> dict[str, set[tuple[object, ...]]]:
    """What connects the memories: edges by kind, concepts and categories, all without times."""
    desk = memory.workspace
    with desk.store.reader(desk.scope) as reader:
        found = reader.edges([record.id for record in reader.page("", 10_000)], STORED_EDGE_KINDS)
        concepts = {(row.id, row.name, row.aliases, row.kind) for row in reader.concepts()}
        categories = {(one.id, one.name, one.parent, one.abstract) for one in reader.categories()}
    kinds: dict[str, set[tuple[object, ...]]] = {kind: set() for kind in STORED_EDGE_KINDS}
    for edge in found:
        kinds[edge.kind].add(_without_time(edge))
    return kinds | {"concepts": concepts, "categories": categories}


def _without_time(edge: Edge) -> tuple[object, ...]:
    return (edge.src, edge.dst, edge.key, edge.weight, edge.origin, edge.rule)


def test_the_switches_are_these() -> None:
    assert set(LINKING_STAGES) == set(KINDS)


@pytest.mark.parametrize("off", LINKING_STAGES)
def test_without_a_stage_its_edges_are_absent_and_all_else_is_equal(
    start: Path, tree: Path, off: str
) -> None:
    with filled(start, tree, LINKING_STAGES) as memory:
        whole = web(memory)
    assert all(whole[kind] for kind in KINDS.values())
    with filled(start, tree, tuple(stage for stage in LINKING_STAGES if stage != off)) as memory:
        found = web(memory)
    gone = {KINDS[off], off}
    assert all(found[part] == set() for part in gone & found.keys())
    assert {part: found[part] for part in found.keys() - gone} == {
        part: whole[part] for part in found.keys() - gone
    }


def test_but_for_the_graph_search_answers_the_same_with_connecting_on_or_off(start: Path, tree: Path) -> None:
    answers = []
    for stages in (LINKING_STAGES, ()):
        with filled(start, tree, stages) as memory:
            answers.append(
                [
                    [
                        (r.id, r.score, r.snippet)
                        for r in memory.search(query, limit=20, fusion=fusion, channels=UNCONNECTED).results
                    ]
                    for query in QUERIES
                    for fusion in ("auto", "rrf", "weighted")
                ]
            )
            assert all(answers[-1][0])
    assert answers[0] == answers[1]


def test_with_a_stage_off_a_rebuild_makes_none_of_its_edges(start: Path, tree: Path) -> None:
    path = start.with_name("whole.db")
    shutil.copy(start, path)
    with opened(path, LINKING_STAGES) as memory:
        memory.sync(tree)
    with opened(path, ("links",)) as memory:
        memory.rebuild()
        found = web(memory)
    assert found["links"]
    assert found["references"] == found["similar"] == found["belongs"] == found["categories"] == set()
