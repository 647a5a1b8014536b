import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scrubjay.errors import InputError
from scrubjay.ingest.files import MAX_FILE_BYTES
from scrubjay.ingest.scanner import ScanResult, scan_files


def write(root: Path, *paths: str, text: str = "x") -> None:
    for path in paths:
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


def paths(found: ScanResult) -> list[str]:
    return [state.path for state in found.files]


@contextmanager
def unprivileged() -> Iterator[None]:
    """A superuser may read everything, so as one the check runs as nobody."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_folder_gives_its_markdown_and_text_files_in_order_with_size_and_time(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a/z.markdown", "a/y.mdx", "C.MD", "n.txt", "x.py", "y.png", text="four")
    found = scan_files(tmp_path)
    assert paths(found) == ["C.MD", "a/y.mdx", "a/z.markdown", "b.md", "n.txt"]
    state = found.files[-2]
    info = (tmp_path / "b.md").stat()
    assert (state.mtime_ns, state.size) == (info.st_mtime_ns, info.st_size) == (info.st_mtime_ns, 4)
    assert not found.missing
    assert found.problems == ()


def test_include_and_exclude_are_gitignore_patterns_from_the_root(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "docs/b.rst", "docs/deep/c.rst", "d.rst", "docs/skip/e.rst")
    found = scan_files(tmp_path, include=("/docs/**/*.rst", "*.md"), exclude=("skip/", "!a.md"))
    assert paths(found) == ["a.md", "docs/b.rst", "docs/deep/c.rst"]


def test_a_pattern_that_is_none_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is not a pattern"):
        scan_files(tmp_path, exclude=("broken\\",))


def test_hidden_names_and_built_folders_are_skipped_unless_a_pattern_names_them(tmp_path: Path) -> None:
    write(tmp_path, "a.md", ".git/b.md", ".github/c.md", "node_modules/p/d.md", ".e.md", "x/__pycache__/f.md")
    write(tmp_path, "env/pyvenv.cfg", "env/lib/g.md")
    assert paths(scan_files(tmp_path)) == ["a.md"]
    found = scan_files(tmp_path, include=("*.md", ".github/**", "node_modules/p/*"))
    assert paths(found) == [".github/c.md", "a.md", "node_modules/p/d.md"]


def test_ignore_files_speak_in_every_folder_and_the_deeper_one_wins(tmp_path: Path) -> None:
    write(
        tmp_path,
        "keep.md",
        "draft.md",
        "a/draft.md",
        "a/b/draft.md",
        "build/x.md",
        "a/build.md",
        "docs/build/y.md",
    )
    write(tmp_path, ".gitignore", text="# drafts\ndraft.md\nbuild/\nbroken\\\n")
    write(tmp_path, "a/b/.gitignore", text="!draft.md\r\n")
    assert paths(scan_files(tmp_path)) == ["a/b/draft.md", "a/build.md", "keep.md"]


def test_scrubjayignore_has_the_last_word_in_its_folder(tmp_path: Path) -> None:
    write(tmp_path, "private.md", "diary.md", "a.md")
    write(tmp_path, ".gitignore", text="diary.md\n")
    write(tmp_path, ".scrubjayignore", text="private.md\n!diary.md\n")
    assert paths(scan_files(tmp_path)) == ["a.md", "diary.md"]


def test_ignore_files_above_the_root_are_not_read(tmp_path: Path) -> None:
    write(tmp_path, ".gitignore", text="notes/\n")
    write(tmp_path, "notes/a.md")
    assert paths(scan_files(tmp_path / "notes")) == ["a.md"]


def test_links_inside_the_root_are_followed_once_and_circles_end(tmp_path: Path) -> None:
    write(tmp_path, "real/a.md", ".store/b.md", ".store/deep/c.md")
    (tmp_path / "real" / "up").symlink_to(tmp_path)
    (tmp_path / "again").symlink_to("real")
    (tmp_path / "copy.md").symlink_to("real/a.md")
    (tmp_path / "kept.md").symlink_to(".store/b.md")
    (tmp_path / "zz-kept.md").symlink_to(".store/b.md")
    (tmp_path / "deep").symlink_to(".store/deep")
    (tmp_path / "self.md").symlink_to("self.md")
    (tmp_path / "gone.md").symlink_to("nowhere.md")
    found = scan_files(tmp_path)
    assert paths(found) == ["deep/c.md", "kept.md", "real/a.md"]
    assert found.problems == ()


def test_a_link_out_of_the_root_is_reported_and_not_followed(tmp_path: Path) -> None:
    write(tmp_path, "out/secret.md", "rootish/x.md", "root/a.md")
    (tmp_path / "root" / "link").symlink_to(tmp_path / "out")
    (tmp_path / "root" / "b.md").symlink_to(tmp_path / "rootish" / "x.md")
    (tmp_path / "root" / "ignored.py").symlink_to(tmp_path / "rootish" / "x.md")
    found = scan_files(tmp_path / "root")
    assert paths(found) == ["a.md"]
    assert [(problem.path, problem.hides) for problem in found.problems] == [("b.md", False), ("link", False)]
    assert found.problems[1].hint == f"scrubjay sync {tmp_path / 'out'}"


def test_a_root_that_is_a_link_is_a_root(tmp_path: Path) -> None:
    write(tmp_path, "real/a.md")
    (tmp_path / "root").symlink_to("real")
    assert paths(scan_files(tmp_path / "root")) == ["a.md"]


def test_pipes_and_sockets_are_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "link.md").symlink_to("pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket.md"))
        assert scan_files(tmp_path) == ScanResult((), (), False)
    assert scan_files(tmp_path / "pipe.md").missing


def test_a_folder_that_cannot_be_read_is_one_problem_and_the_rest_goes_on() -> None:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        root.chmod(0o755)
        write(root, "a.md", "shut/b.md", "z/c.md")
        (root / "shut").chmod(0)
        with unprivileged():
            found = scan_files(root)
        (root / "shut").chmod(0o755)
    assert paths(found) == ["a.md", "z/c.md"]
    assert [(problem.path, problem.hides) for problem in found.problems] == [("shut", True)]
    assert "Permission denied" in found.problems[0].message


def test_a_root_that_is_not_there_is_missing_and_says_so(tmp_path: Path) -> None:
    for root in (tmp_path / "nowhere", tmp_path / "file.md" / "below"):
        write(tmp_path, "file.md")
        found = scan_files(root)
        assert found.missing
        assert found.files == ()
        assert str(root) in found.problems[0].message


def test_an_empty_root_is_not_missing(tmp_path: Path) -> None:
    assert scan_files(tmp_path) == ScanResult((), (), False)


def test_a_root_that_is_a_file_lists_that_file_whatever_its_name(tmp_path: Path) -> None:
    write(tmp_path, "NOTES", "other.md")
    assert paths(scan_files(tmp_path / "NOTES")) == ["NOTES"]


def test_a_file_over_the_limit_is_refused_unread(tmp_path: Path) -> None:
    with open(tmp_path / "huge.md", "wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    with open(tmp_path / "most.md", "wb") as file:
        file.truncate(MAX_FILE_BYTES)
    found = scan_files(tmp_path)
    assert paths(found) == ["most.md"]
    assert "104,857,601 bytes" in found.problems[0].message
    assert scan_files(tmp_path / "huge.md").problems == found.problems


def test_a_name_that_is_not_unicode_is_a_problem_that_can_be_printed(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.md")).touch()
    write(tmp_path, "café.md")
    found = scan_files(tmp_path)
    assert paths(found) == ["café.md"]
    assert found.problems[0].path == "caf\\xe9.md"
    found.problems[0].message.encode()


def test_depth_is_bounded_by_the_disk_alone(tmp_path: Path) -> None:
    place = str(tmp_path)
    for _ in range(1500):
        place += "/d"
        os.mkdir(place)
    Path(place, "end.md").touch()
    assert paths(scan_files(tmp_path)) == ["d/" * 1500 + "end.md"]
    # Taken down from below: what sweeps old test folders goes down by recursion and would fail at this depth.
    os.remove(place + "/end.md")
    os.removedirs(place)


def test_an_ignore_file_that_is_no_text_is_a_problem_and_the_folder_is_listed(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    (tmp_path / ".gitignore").write_bytes(b"caf\xe9\n")
    found = scan_files(tmp_path)
    assert paths(found) == ["a.md"]
    assert found.problems[0].path == ".gitignore"


def test_a_scan_whose_time_is_up_says_so_and_names_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    given_up = scan_files(tmp_path, until=0.0)
    assert (given_up.complete, given_up.files, given_up.missing) == (False, (), False)
    assert scan_files(tmp_path).complete
