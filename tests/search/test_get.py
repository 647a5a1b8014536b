from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.errors import InputError

TEXT = "".join(f"# Part {n}\n\nParagraph {n} 😀 naïve 東京.\n\n" for n in range(1, 8))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "parts.md").write_text(TEXT)
    return folder


@pytest.fixture
def synced(opened: Callable[..., Memory], root: Path, tmp_path: Path) -> Memory:
    memory = opened(tmp_path / "a.db")
    memory.sync(root)
    return memory


def titles(fetched) -> list[str]:
    return [record.title for record in fetched.records]


def test_an_id_or_a_beginning_that_only_one_has_is_enough(memory: Memory) -> None:
    added = memory.add("One.", tier="lesson")
    memory.add("Two.")
    digits = added.id.partition("_")[2]
    as_printed = (f"[{digits[:6]}]", digits[:6].upper(), added.id.upper())
    for wanted in (added.id, added.id[:-1], "les_", "l", *as_printed):
        assert [record.id for record in memory.get(wanted).records] == [added.id]


def test_what_several_begin_with_and_what_nobody_has_are_listed_and_the_others_served(memory: Memory) -> None:
    one, _ = memory.add("One."), memory.add("Two.")
    found = memory.get(["obs_", one.id, "obs_ffffffffffffffff", "", "%", "obs*", "o_s"])
    assert [record.id for record in found.records] == [one.id]
    assert found.unknown == ("obs_", "obs_ffffffffffffffff", "", "%", "obs*", "o_s")


def test_what_is_asked_for_twice_is_served_or_listed_once(memory: Memory) -> None:
    added = memory.add("One.")
    found = memory.get([added.id, "none", added.id, added.id[:-1], "none"])
    assert ([record.id for record in found.records], found.unknown) == ([added.id], ("none",))


def test_memories_come_in_the_order_they_were_asked_for(memory: Memory) -> None:
    ids = [memory.add(f"Number {n}.").id for n in range(5)][::-1]
    assert [record.id for record in memory.get(ids).records] == ids


def test_every_tier_is_found_by_its_prefix(memory: Memory) -> None:
    for tier in ("lesson", "semantic", "procedural", "crystal", "insight", "facet"):
        added = memory.add("x", tier=tier)
        assert memory.get(added.id.partition("_")[0] + "_").records[0].tier == tier


def test_twenty_ids_are_served_and_twenty_one_refused(memory: Memory) -> None:
    ids = [memory.add(f"Number {n}.").id for n in range(21)]
    assert len(memory.get(ids[:20]).records) == 20
    with pytest.raises(InputError, match="21 ids were requested; at most 20"):
        memory.get(ids)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"ids": []},
        {"ids": "x", "path": "y"},
        {"path": "y", "lines": (0, 3)},
        {"path": "y", "lines": (5, 3)},
        {"ids": "x", "lines": (1, 3)},
        {"ids": "x", "neighbours": -1},
        {"ids": "x", "limit": 0},
        {"ids": "x", "offset": -1},
    ],
)
def test_what_cannot_be_meant_is_refused(memory: Memory, wrong: dict) -> None:
    with pytest.raises(InputError):
        memory.get(**wrong)


def test_a_file_is_got_by_its_path_absolute_from_here_or_within_its_source(
    synced: Memory, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root / "sub")
    for path in (root / "sub" / "parts.md", "parts.md", "./parts.md", "../sub/parts.md", "sub/parts.md"):
        found = synced.get(path=path)
        assert "".join(record.content for record in found.records) == TEXT
        assert set(found.paths.values()) == {str(root / "sub" / "parts.md")}


def test_lines_choose_the_passages_that_touch_them(synced: Memory) -> None:
    path = "sub/parts.md"
    assert titles(synced.get(path=path, lines=(1, 1))) == ["Part 1"]
    assert titles(synced.get(path=path, lines=(4, 5))) == ["Part 1", "Part 2"]
    assert titles(synced.get(path=path, lines=(999, 1_000))) == []
    assert synced.get(path=path, lines=(999, 1_000)).unknown == (f"{path}:999-1000",)
    for cited, found in (
        (":1-1", ["Part 1"]),
        (":4-5", ["Part 1", "Part 2"]),
        (":4", titles(synced.get(path=path, lines=(4, 4)))),
    ):
        assert titles(synced.get(path=f"{path}{cited}")) == found
        assert titles(synced.get(path=f"sub/parts.md{cited}")) == found
    assert synced.get(path=f"{path}:999").unknown == (f"{path}:999-999",)


def test_a_file_that_is_not_synced_is_unknown(synced: Memory, tmp_path: Path) -> None:
    for path in ("nowhere.md", str(tmp_path / "a.db"), "sub", "\x00", "sub/parts.md\x00", "~nobody-here/x"):
        found = synced.get(path=path)
        assert (found.records, found.unknown) == ((), (path,))


def test_neighbours_come_around_in_the_documents_order_and_once(synced: Memory) -> None:
    middle, next_one = (synced.search(f'"Paragraph {n}"').results[0].id for n in (4, 5))
    assert titles(synced.get(middle, neighbours=1)) == ["Part 3", "Part 4", "Part 5"]
    assert titles(synced.get([middle, next_one], neighbours=1)) == ["Part 3", "Part 4", "Part 5", "Part 6"]
    assert titles(synced.get(middle, neighbours=99)) == [f"Part {n}" for n in range(1, 8)]


def test_an_addition_has_no_neighbours(memory: Memory) -> None:
    added = memory.add("Alone.")
    assert [record.id for record in memory.get(added.id, neighbours=3).records] == [added.id]


@pytest.mark.parametrize("limit", [1, 7, 100, 10_000])
def test_pieces_on_whole_characters_make_up_the_whole(synced: Memory, limit: int) -> None:
    pieces: list[str] = []
    offset: int | None = 0
    while offset is not None:
        found = synced.get(path="sub/parts.md", limit=limit, offset=offset)
        piece = "".join(record.content for record in found.records)
        assert len(piece) <= limit
        pieces.append(piece)
        offset = found.next_offset
    assert "".join(pieces) == TEXT
    assert all(len(piece) == limit for piece in pieces[:-1])


def test_an_offset_behind_the_end_returns_nothing_more(memory: Memory) -> None:
    added = memory.add("Short.")
    found = memory.get(added.id, offset=99)
    assert (found.records, found.next_offset, found.unknown) == ((), None, ())
    assert memory.get(added.id, limit=6).next_offset is None


def test_records_of_another_scope_are_unknown(opened: Callable[..., Memory], tmp_path: Path) -> None:
    secret = opened(tmp_path / "a.db", user="ann").add("Private.")
    bob = opened(tmp_path / "a.db", user="bob")
    for wanted in (secret.id, secret.id[:8], "obs_"):
        assert bob.get(wanted).unknown == (wanted,)


def test_the_file_need_not_be_there_any_more(synced: Memory, root: Path) -> None:
    (root / "sub" / "parts.md").unlink()
    assert len(synced.get(path="sub/parts.md").records) == 7
    assert re.search("Part 7", synced.get(path="sub/parts.md", lines=(25, 26)).records[0].content)
