"""A process that stays keeps the listing of a large folder, and still notices every change before it answers."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.ingest.files import MAX_FILE_BYTES
from scrubjay.ingest.scan_cache import MIN_FILES, file_system

LONG_AGO = 1_700_000_000

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of each change in time")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "synced"
    for number in range(MIN_FILES):
        write(folder / f"part{number % 3}" / f"{number}.md", f"Pot number {number}.")
    write(folder / "part0" / "kettle.md", "The kettle is blue.")
    write(folder / "part0" / ".gitignore", "draft*")
    with (folder / "large.md").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)  # left out, which is a problem of each listing
    return folder


@pytest.fixture
def memory(opened: Callable[..., Memory], root: Path) -> Memory:
    memory = opened()
    memory.sync(root)
    return memory


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (LONG_AGO, LONG_AGO))


def found(memory: Memory, query: str = '"kettle"') -> list[str]:
    answer = memory.search(query)
    assert answer.partial == ()
    return sorted(result.snippet for result in answer.results)


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders that were listed so far."""
    seen: list[str] = []
    scandir = os.scandir

    def counting(path: str) -> object:
        seen.append(os.fspath(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", counting)
    return seen


def settle(memory: Memory, listed: list[str]) -> None:
    """Search until the listing is kept: one search lists, the next one watches and lists."""
    for _ in range(2):
        assert found(memory) == ["The kettle is blue."]
    listed.clear()


def test_a_folder_in_which_nothing_happens_is_not_listed_again(memory: Memory, listed: list[str]) -> None:
    settle(memory, listed)
    assert found(memory) == ["The kettle is blue."]
    memory.add("A kettle of fish.")
    assert found(memory) == ["A kettle of fish.", "The kettle is blue."]
    assert listed == []


def edit_with_the_time_kept(root: Path) -> None:
    write(root / "part0" / "kettle.md", "The kettle is red and hot.")


def add_a_file_in_a_new_folder(root: Path) -> None:
    write(root / "new" / "deep" / "a.md", "Another kettle.")


def remove(root: Path) -> None:
    (root / "part0" / "kettle.md").unlink()


def replace_by_renaming(root: Path) -> None:
    write(root / "kettle.tmp", "The kettle is new.")
    (root / "kettle.tmp").replace(root / "part0" / "kettle.md")


def ignore_it(root: Path) -> None:
    (root / "part0" / ".gitignore").write_text("kettle.md")


def rename_its_folder(root: Path) -> None:
    (root / "part0" / "kettle.md").rename(root / "part0" / "draft.md")  # .gitignore leaves that out


def replace_the_root(root: Path) -> None:
    root.rename(root.with_name("before"))
    write(root / "part0" / "kettle.md", "The kettle is elsewhere.")
    for number in range(MIN_FILES):
        write(root / f"part{number % 3}" / f"{number}.md", f"Pot number {number}.")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (edit_with_the_time_kept, ["The kettle is red and hot."]),
        (add_a_file_in_a_new_folder, ["Another kettle.", "The kettle is blue."]),
        (remove, []),
        (replace_by_renaming, ["The kettle is new."]),
        (ignore_it, []),
        (rename_its_folder, []),
        (replace_the_root, ["The kettle is elsewhere."]),
    ],
)
def test_every_change_is_in_the_next_answer(
    memory: Memory, root: Path, listed: list[str], change: Callable[[Path], None], expected: list[str]
) -> None:
    settle(memory, listed)
    assert found(memory) == ["The kettle is blue."]
    change(root)
    assert found(memory) == expected
    assert listed


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_file_that_can_be_changed_by_another_path_is_looked_at_each_time(
    opened: Callable[..., Memory], root: Path, listed: list[str], link: Callable[[Path, Path], None]
) -> None:
    elsewhere = root / ".hidden" / "kettle.md"  # hidden folders are not listed
    elsewhere.parent.mkdir()
    (root / "part0" / "kettle.md").rename(elsewhere)
    link(elsewhere, root / "part0" / "kettle.md")
    memory = opened()
    memory.sync(root)
    settle(memory, listed)
    write(elsewhere, "The kettle is red and hot.")
    assert found(memory) == ["The kettle is red and hot."]


def test_the_file_system_of_a_path_is_that_of_the_deepest_mount(tmp_path: Path) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "1 0 8:1 / / rw - ext4 /dev/a rw\n"
        f"2 1 0:9 / {tmp_path}/far rw shared:1 - nfs4 host:/ rw\n"
        f"3 1 0:9 / {tmp_path}/with\\040space rw - fuse x rw\n"
    )
    names = ["far/away", "farther", "with space", "far"]
    assert [file_system(str(tmp_path / one), str(mounts)) for one in names] == [
        "nfs4",
        "ext4",
        "fuse",
        "nfs4",
    ]
