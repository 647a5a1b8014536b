import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from scrubjay.errors import SourceError
from scrubjay.ingest import files as reading
from scrubjay.ingest.files import MAX_FILE_BYTES, read_file


def put(root: Path, data: bytes, name: str = "n.md") -> None:
    (root / name).write_bytes(data)


def test_text_comes_with_the_hash_of_its_bytes_and_its_state(tmp_path: Path) -> None:
    data = "Zeile\r\nälter\n".encode()
    put(tmp_path, data)
    got = read_file(tmp_path, "n.md")
    assert got.text == "Zeile\r\nälter\n"
    assert got.content_hash == hashlib.sha256(data).hexdigest()
    assert (got.size, got.mtime_ns) == (len(data), (tmp_path / "n.md").stat().st_mtime_ns)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_names_the_encoding_and_is_no_text(tmp_path: Path, encoding: str) -> None:
    put(tmp_path, "# Größe\n".encode(encoding))
    assert read_file(tmp_path, "n.md").text == "# Größe\n"


def test_big_endian_marks_are_read_too(tmp_path: Path) -> None:
    put(tmp_path, b"\xfe\xff" + "ä".encode("utf-16-be"))
    assert read_file(tmp_path, "n.md").text == "ä"
    put(tmp_path, b"\x00\x00\xfe\xff" + "ä".encode("utf-32-be"))
    assert read_file(tmp_path, "n.md").text == "ä"


def test_a_broken_byte_is_named_by_path_offset_and_line_with_the_way_out(tmp_path: Path) -> None:
    put(tmp_path, b"\xef\xbb\xbfone\ntwo\ncaf\xe9 three\n")
    with pytest.raises(SourceError, match=r"n\.md is not UTF-8: byte 0xe9 at offset 14, line 3") as caught:
        read_file(tmp_path, "n.md")
    assert f"iconv -f LATIN1 -t UTF-8 {tmp_path / 'n.md'}" in caught.value.hint
    assert "stored of it before" not in str(caught.value)


@pytest.mark.skipif(shutil.which("iconv") is None, reason="iconv is not installed")
def test_the_hint_for_a_file_in_latin1_makes_it_readable(tmp_path: Path) -> None:
    folder = tmp_path / "old notes"
    folder.mkdir()
    (folder / "n.md").write_bytes("Café".encode("latin-1"))
    with pytest.raises(SourceError) as caught:
        read_file(folder, "n.md")
    subprocess.run(caught.value.hint.partition(": ")[2], shell=True, check=True)
    assert read_file(folder, "n.md").text == "Café"
    assert [file.name for file in folder.iterdir()] == ["n.md"]


def test_half_a_utf16_character_is_an_error(tmp_path: Path) -> None:
    put(tmp_path, "a\nb".encode("utf-16") + b"\x00")
    with pytest.raises(SourceError, match=r"UTF-16-LE: byte 0x00 at offset 8, line 2"):
        read_file(tmp_path, "n.md")


def test_data_is_refused_and_a_stray_nul_is_made_storable_in_place(tmp_path: Path) -> None:
    put(tmp_path, "words".encode("utf-16-le"))
    with pytest.raises(SourceError, match="5 of its 10 bytes are NUL"):
        read_file(tmp_path, "n.md")
    put(tmp_path, b"a\0b" + b"c" * 200)
    assert read_file(tmp_path, "n.md").text == "a\ufffdb" + "c" * 200


@pytest.mark.parametrize(
    "path", ["../out.md", "/etc/hostname", "a/../../out.md", "", ".", "a//n.md", "./n.md", "n\0.md"]
)
def test_a_path_that_is_not_inside_the_root_is_refused(tmp_path: Path, path: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    put(tmp_path, b"outside", "out.md")
    with pytest.raises(SourceError, match="is not a path inside"):
        read_file(root, path)


def test_a_link_is_read_inside_the_root_and_refused_outside(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)
    put(root, b"inside", "a/n.md")
    put(tmp_path, b"outside", "out.md")
    (root / "in.md").symlink_to("a/n.md")
    (root / "folder").symlink_to("a")
    (root / "out.md").symlink_to(tmp_path / "out.md")
    (root / "up").symlink_to(tmp_path)
    assert read_file(root, "in.md").text == read_file(root, "folder/n.md").text == "inside"
    for path in ("out.md", "up/out.md"):
        with pytest.raises(SourceError, match="is not a path inside"):
            read_file(root, path)


@pytest.mark.parametrize("swapped", ["a", "a/n.md"])
def test_a_link_swapped_in_after_the_check_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swapped: str
) -> None:
    root = tmp_path / "root"
    for folder in (root, tmp_path / "out"):
        (folder / "a").mkdir(parents=True)
        put(folder, b"outside" if folder != root else b"inside", "a/n.md")
    real = os.path.realpath

    def check_then_swap(path: str, *, strict: bool = False) -> str:
        found = real(path, strict=strict)
        if os.fspath(path).endswith("n.md"):
            (root / swapped).rename(root / "old")
            (root / swapped).symlink_to(tmp_path / "out" / swapped)
        return found

    monkeypatch.setattr(reading.os.path, "realpath", check_then_swap)
    with pytest.raises(SourceError, match="cannot be read"):
        read_file(root, "a/n.md")


def test_a_pipe_a_folder_and_nothing_are_errors_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    for path in ("pipe.md", "folder.md"):
        with pytest.raises(SourceError, match="is not a regular file"):
            read_file(tmp_path, path)
    with pytest.raises(SourceError, match=r"gone\.md cannot be read: No such file"):
        read_file(tmp_path, "gone.md")


def test_a_root_that_is_a_file_is_read_by_its_own_name_only(tmp_path: Path) -> None:
    put(tmp_path, b"alone")
    put(tmp_path, b"other", "o.md")
    assert read_file(tmp_path / "n.md", "n.md").text == "alone"
    with pytest.raises(SourceError, match="is not a path inside"):
        read_file(tmp_path / "n.md", "o.md")


def grow_while_read(monkeypatch: pytest.MonkeyPatch, place: Path, times: int) -> None:
    """Append to the file after the first part of each of the first ``times`` readings, as a writer does."""
    real, left = os.read, [times]

    def grown(descriptor: int, size: int) -> bytes:
        first = os.lseek(descriptor, 0, os.SEEK_CUR) == 0
        data = real(descriptor, size)
        if first and left[0]:
            left[0] -= 1
            with place.open("ab") as file:
                file.write(b"+")
        return data

    monkeypatch.setattr(reading.os, "read", grown)


def test_a_file_that_changes_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, b"text")
    grow_while_read(monkeypatch, tmp_path / "n.md", times=2)
    assert read_file(tmp_path, "n.md").text == "text++"


def test_a_file_that_never_rests_is_left_for_the_next_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, b"text")
    grow_while_read(monkeypatch, tmp_path / "n.md", times=3)
    with pytest.raises(SourceError, match="changed during each of 3 readings") as caught:
        read_file(tmp_path, "n.md")
    assert caught.value.hint == "it will be read at the next sync"


def test_a_file_grown_over_the_limit_since_the_scan_is_refused(tmp_path: Path) -> None:
    with open(tmp_path / "n.md", "wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    with pytest.raises(SourceError, match="more than the 104,857,600 bytes"):
        read_file(tmp_path, "n.md")
