"""Tests of encrypted stores, for a Python whose APSW encrypts; tests/storage/test_encrypted.py runs them in one."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest

from scrubjay.storage.sqlite.connection import EncryptionKey, read_key

if not hasattr(apsw, "mc_version"):
    collect_ignore_glob = ["test_*"]


def made(file: Path) -> Path:
    """Make a key."""
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT, 0o600), "w") as opened:
        opened.write(os.urandom(32).hex() + "\n")
    return file


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    (tmp_path / "keys").mkdir()
    return made(tmp_path / "keys" / "first key")


@pytest.fixture
def cipher(key_file: Path) -> EncryptionKey:
    return read_key(key_file)


@pytest.fixture
def other_key(tmp_path: Path, key_file: Path) -> Path:
    return made(key_file.with_name("other"))
