"""A note that another replaced, in its author's own words, stands behind that one and names it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from scrubjay import Memory

OLD = """# How long we keep tracking events

We keep tracking events for 90 days, and tracking events are then deleted.
"""
NEW = """# Second round

Carriers accept claims after five months. Events: 180 days, for every plan.
"""
ASKED = "how long do we keep tracking events"
FRONT = "---\n{}\n---\n"
STATUS = "# 4. Second round\n\n## Status\n\n{}\n\n## Decision\n\nEvents: 180 days, for every plan.\n"


def write(folder: Path, **texts: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name.replace('_', '-')}.md").write_text(text, "utf-8")
    return folder


def found(memory: Memory) -> list[str]:
    return [Path(one.path or "").stem for one in memory.search(ASKED, min_relevance=0).results]


@pytest.mark.parametrize(
    "line",
    ["replaces: 0003-retention", 'supersedes: "[[0003-retention]]"', "supersedes:\n  - ADR 3"],
)
def test_a_note_that_replaces_another_stands_before_it(
    opened: Callable[..., Memory], tmp_path: Path, line: str
) -> None:
    memory = opened()
    notes = write(tmp_path / "notes", **{"0003_retention": OLD, "0004_second": NEW})
    memory.sync(notes)
    assert found(memory) == ["0003-retention", "0004-second"]
    write(notes, **{"0004_second": FRONT.format(line) + NEW})
    memory.sync(notes)
    new, old = memory.search(ASKED, min_relevance=0).results
    assert (Path(new.path or "").stem, old.newer, old.status) == ("0004-second", (new.id,), "active")
    write(notes, **{"0004_second": NEW})
    memory.sync(notes)
    assert found(memory) == ["0003-retention", "0004-second"]


@pytest.mark.parametrize(
    "status",
    [
        "Status: superseded by ADR 4",
        "## Status\n\nSuperseded by [4. Second round](0004-second.md)",
        "## Status\n\nErsetzt durch [[0004-second]]",
    ],
)
def test_a_note_that_says_what_replaced_it_stands_behind_that(
    opened: Callable[..., Memory], tmp_path: Path, status: str
) -> None:
    memory = opened()
    memory.sync(write(tmp_path / "notes", **{"0003_retention": f"{OLD}\n{status}\n", "0004_second": NEW}))
    assert found(memory)[:2] == ["0004-second", "0003-retention"]


def test_every_passage_of_a_replaced_note_stands_behind_the_new_note(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    memory = opened()
    notes = write(
        tmp_path / "notes", **{"0003_retention": f"# Events\n\n## Context\n\nLegal asks.\n\n{OLD[2:]}"}
    )
    memory.sync(notes)
    write(
        notes, **{"0004_second": STATUS.format("Supersedes ADR-0003")}
    )  # the note comes before or after its line
    memory.sync(notes)
    assert found(memory)[0] == "0004-second"


@pytest.mark.parametrize(
    "line",
    [
        "replaces: 0007-nothing",
        "Replaces how long we keep events.",
        "Replaces ADR 12",
        "Replaces what [[0003-retention]] says.",
        "- Replaced by [[0003-retention]] in the on-call rota tonight.",
        "Superseded by [retention](0003-retention.md)",
        "Status: supersedes #3",
        "Status: supersedes 3",
        "`supersedes: 0003-retention`",
    ],
)
def test_a_line_that_names_no_note_changes_nothing(
    opened: Callable[..., Memory], tmp_path: Path, line: str
) -> None:
    memory = opened()
    memory.sync(write(tmp_path / "notes", **{"0003_retention": OLD, "0004_second": f"{NEW}\n{line}\n"}))
    assert found(memory)[0] == "0003-retention"


def test_of_a_chain_of_notes_the_last_stands_first_and_one_passage_of_each_stands_before_the_older_answer(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    adr = "# {0}. Use {1}\n\n## Status\n\n{2}\n\n## Decision\n\n{3} in {1}.\n"
    memory = opened()
    memory.sync(
        write(
            tmp_path / "adr",
            **{
                "0001_a": adr.format(1, "SQLite", "Superseded by ADR 2", "We store the orders"),
                "0002_b": adr.format(2, "Postgres", "Superseded by [3](0003-c.md)", "We store the orders"),
                "0003_c": adr.format(3, "MySQL", "Accepted", "Orders are stored"),
            },
        )
    )
    results = memory.search("where do we store the orders", min_relevance=0).results
    assert [Path(one.path or "").stem for one in results[:3]] == ["0003-c", "0002-b", "0001-a"]
    assert [len(one.newer) for one in results[:3]] == [0, 1, 1]
