import os
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import watchfiles
from watchfiles._rust_notify import WatchfilesRustInternalError

from scrubjay.errors import SourceError
from scrubjay.ingest.watcher import FileChanges, watch_roots

QUIET = 0.1
LONG = 60


class Watcher:
    """A watch in a thread of its own, its changes in a queue; an error it ends with is put there too."""

    def __init__(self, *roots: Path) -> None:
        self.queue: queue.Queue[FileChanges | Exception | None] = queue.Queue()
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(roots,), daemon=True)
        self.thread.start()

    def _run(self, roots: tuple[Path, ...]) -> None:
        try:
            for changes in watch_roots(roots, debounce=QUIET, stop=self.stop):
                self.queue.put(changes)
            self.queue.put(None)
        except SourceError as error:
            self.queue.put(error)

    def next(self) -> FileChanges:
        changes = self.queue.get(timeout=LONG)
        assert isinstance(changes, FileChanges), changes
        return changes

    def until(self, wanted: Callable[[FileChanges], bool]) -> list[FileChanges]:
        """All changes up to one that is wanted: a slow machine may tell one burst in two."""
        seen = [self.next()]
        while not wanted(seen[-1]):
            seen.append(self.next())
        return seen


@pytest.fixture
def start() -> Iterator[Callable[..., Watcher]]:
    started: list[Watcher] = []

    def begin(*roots: Path) -> Watcher:
        started.append(Watcher(*roots))
        first = started[-1].next()
        assert (first.complete, first.reason) == (False, "the watch has just begun")
        return started[-1]

    yield begin
    for each in started:
        each.stop.set()
        each.thread.join(timeout=LONG)
        assert not each.thread.is_alive()


Start = Callable[..., Watcher]


def test_a_new_a_changed_and_a_deleted_file_are_named(tmp_path: Path, start: Start) -> None:
    watcher = start(tmp_path)
    note = tmp_path / "a.md"
    for act in (lambda: note.write_text("1"), lambda: note.write_text("2"), note.unlink):
        act()
        assert watcher.next() == FileChanges((note,), True, (), "")


def test_an_editors_write_and_rename_is_one_change_of_the_file(tmp_path: Path, start: Start) -> None:
    note = tmp_path / "a.md"
    note.write_text("old")
    watcher = start(tmp_path)
    for swap in (".a.md.swp", "a.md~", "4913"):
        (tmp_path / swap).write_text("new")
        (tmp_path / swap).replace(note)
    assert watcher.next().paths == (note,)


def test_files_that_no_scan_lists_wake_no_one(tmp_path: Path, start: Start) -> None:
    for folder in (".git", "node_modules"):
        (tmp_path / folder).mkdir()
    watcher = start(tmp_path)
    for name in (".git/a.md", "node_modules/b.md", "c.py", ".d.md"):
        (tmp_path / name).write_text("x")
    (tmp_path / "z.md").write_text("x")
    assert watcher.next() == FileChanges((tmp_path / "z.md",), True, (), "")


def test_a_new_folder_an_ignore_file_and_a_moved_folder_ask_for_a_full_scan(
    tmp_path: Path, start: Start
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "b.md").write_text("x")
    (tmp_path / "ignore").write_text("b.md")
    watcher = start(root)
    (root / "new" / "deep").mkdir(parents=True)
    (root / "new" / "deep" / "a.md").write_text("x")
    assert not watcher.until(lambda told: "appeared" in told.reason)[-1].complete
    # A file that is moved in is one event, and once it is told nothing from before it is still to come.
    (tmp_path / "b.md").rename(root / "new" / "deep" / "b.md")
    assert watcher.until(lambda told: root / "new" / "deep" / "b.md" in told.paths)
    (tmp_path / "ignore").rename(root / ".scrubjayignore")
    assert ".scrubjayignore changed" in watcher.next().reason
    (root / "new").rename(tmp_path / "outside")
    assert "may have been a folder" in watcher.next().reason


def test_a_burst_of_ten_thousand_files_is_told_and_the_next_edit_too(tmp_path: Path, start: Start) -> None:
    watcher = start(tmp_path)
    names = {tmp_path / f"{number}.md" for number in range(10_000)}
    for name in names:
        name.touch()
    told: set[Path] = set()
    while told != names:
        changes = watcher.next()
        told = names if not changes.complete else told | set(changes.paths)
    (tmp_path / "after.md").write_text("x")
    # The end of the burst may be told with it, and then names nothing.
    watcher.until(lambda changes: tmp_path / "after.md" in changes.paths or not changes.complete)
    (tmp_path / "last.md").write_text("x")
    watcher.until(lambda changes: tmp_path / "last.md" in changes.paths)


def test_a_tree_that_is_never_quiet_is_told_all_the_same(tmp_path: Path, start: Start) -> None:
    watcher = start(tmp_path)
    enough = threading.Event()

    def write() -> None:
        while not enough.wait(QUIET / 5):
            (tmp_path / "log.md").write_text("x")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert watcher.next().paths == (tmp_path / "log.md",)
        assert watcher.next().paths == (tmp_path / "log.md",)
    finally:
        enough.set()
        writer.join()


def test_a_root_that_goes_and_comes_back_is_missing_and_then_watched_again(
    tmp_path: Path, start: Start
) -> None:
    root, other = tmp_path / "root", tmp_path / "other"
    root.mkdir()
    other.mkdir()
    watcher = start(root, other)
    shutil.rmtree(root)
    gone = watcher.until(lambda told: told.missing == (root,))[-1]
    assert not gone.complete
    assert "went away" in gone.reason
    (other / "a.md").write_text("x")
    assert watcher.next() == FileChanges((other / "a.md",), True, (root,), "")
    root.mkdir()
    assert not watcher.until(lambda told: told.missing == ())[-1].complete
    (root / "b.md").write_text("x")
    watcher.until(lambda told: root / "b.md" in told.paths)


def test_a_root_replaced_at_once_is_watched_again(tmp_path: Path, start: Start) -> None:
    root = tmp_path / "root"
    root.mkdir()
    watcher = start(root)
    root.rename(tmp_path / "old")
    root.mkdir()
    # On a slow machine it is told as missing first.
    assert not watcher.until(lambda told: told.missing == ())[-1].complete
    (root / "b.md").write_text("x")
    watcher.until(lambda told: root / "b.md" in told.paths)


def test_a_root_that_is_not_there_yet_is_waited_for(tmp_path: Path, start: Start) -> None:
    root = tmp_path / "later"
    watcher = start(root)
    root.mkdir()
    assert watcher.until(lambda told: told.missing == ())


def test_a_root_that_is_one_file_survives_being_replaced(tmp_path: Path, start: Start) -> None:
    note = tmp_path / "NOTES"
    note.write_text("1")
    watcher = start(note)
    for number in range(3):
        (tmp_path / "new").write_text(str(number))
        (tmp_path / "new").replace(note)
        assert watcher.until(lambda told: note in told.paths)[-1].complete
    note.write_text("in place")
    watcher.until(lambda told: note in told.paths)


def test_a_linked_root_is_told_by_the_name_it_was_given(tmp_path: Path, start: Start) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    watcher = start(tmp_path / "link")
    (tmp_path / "real" / "a.md").write_text("x")
    assert watcher.next().paths == (tmp_path / "link" / "a.md",)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_name_that_is_not_unicode_restarts_the_watcher_and_says_so(tmp_path: Path, start: Start) -> None:
    watcher = start(tmp_path)
    (tmp_path / os.fsdecode(b"caf\xe9.md")).touch()
    assert "the watcher began anew" in watcher.next().reason
    (tmp_path / "b.md").write_text("x")
    watcher.until(lambda told: tmp_path / "b.md" in told.paths)


def test_a_watch_that_is_stopped_ends(tmp_path: Path, start: Start) -> None:
    watcher = start(tmp_path)
    watcher.stop.set()
    assert watcher.queue.get(timeout=LONG) is None


@pytest.mark.parametrize(
    "failure", [OSError(28, "No space left on device"), WatchfilesRustInternalError("Too many open files")]
)
def test_a_watch_that_the_system_refuses_ends_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise failure

    monkeypatch.setattr(watchfiles, "watch", refused)
    with pytest.raises(SourceError, match="has stopped") as caught:
        next(watch_roots([tmp_path], stop=threading.Event()))
    assert "max_user_watches" in caught.value.hint


def test_the_library_is_loaded_only_when_a_watch_begins() -> None:
    code = "import sys, scrubjay.ingest.watcher; sys.exit('watchfiles' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
