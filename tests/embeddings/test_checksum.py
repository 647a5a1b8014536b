from __future__ import annotations

import hashlib
import logging
import os
import stat
from pathlib import Path

import pytest

from scrubjay.embeddings.base import CHECKSUMS_FILE, file_sha256, verify_file, write_cache
from scrubjay.errors import ProviderError


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_file_is_hashed_once_for_each_state_of_it(tmp_path: Path) -> None:
    path, cache = tmp_path / "model", tmp_path / "cache"
    path.write_bytes(b"one")
    assert file_sha256(path, cache) == digest(b"one")
    state = path.stat()
    path.write_bytes(b"two")
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert file_sha256(path, cache) == digest(b"one"), "same identity: the sum comes from memory"
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    assert file_sha256(path, cache) == digest(b"two")


def test_without_a_cache_folder_it_is_hashed_each_time(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(b"one")
    assert file_sha256(path, None) == digest(b"one")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("torn", [b"", b"{", b"[]", b'{"x": 1}'])
def test_a_torn_memory_is_written_anew_and_keeps_nothing_wrong(tmp_path: Path, torn: bytes) -> None:
    path, cache = tmp_path / "model", tmp_path / "cache"
    path.write_bytes(b"one")
    cache.mkdir()
    (cache / CHECKSUMS_FILE).write_bytes(torn)
    assert file_sha256(path, cache) == digest(b"one")
    assert str(path) in (cache / CHECKSUMS_FILE).read_text()


def test_cache_files_are_private_and_leave_no_drafts(tmp_path: Path) -> None:
    write_cache(tmp_path / "new" / "file", b"x")
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["file"]
    assert stat.S_IMODE((tmp_path / "new" / "file").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_a_cache_that_cannot_be_written_is_logged_and_the_sum_is_right(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, blocked = tmp_path / "model", tmp_path / "blocked"
    path.write_bytes(b"one")
    blocked.mkdir()
    (blocked / CHECKSUMS_FILE).mkdir()
    (blocked / CHECKSUMS_FILE / "x").touch()
    with caplog.at_level(logging.WARNING):
        write_cache(blocked / CHECKSUMS_FILE, b"{}")
    assert "was not written" in caplog.text
    assert [p.name for p in blocked.iterdir()] == [CHECKSUMS_FILE]


def test_another_sum_is_refused_and_the_hint_passed_on(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(b"one")
    with pytest.raises(
        ProviderError, match=f"sha256 {digest(b'one')[:12]}…, expected 000000000000…"
    ) as caught:
        verify_file(path, "0" * 64, None, hint="reinstall")
    assert caught.value.hint == "reinstall"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="gone cannot be read: No such file"):
        file_sha256(tmp_path / "gone", tmp_path)
