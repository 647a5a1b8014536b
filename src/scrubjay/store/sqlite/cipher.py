"""Cipher: a key file -> a connection to a file that is encrypted where it lies.

SQLite3 Multiple Ciphers does it (ChaCha20-Poly1305, each page by itself, the log as well), in the build of APSW that is
called apsw-sqlite3mc. The key is used as it is, without a passphrase's slow derivation: 32 bytes by chance need none.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import apsw

from scrubjay.errors import InputError, StoreDamagedError, StoreError
from scrubjay.store.sqlite.migrations import recognise

if TYPE_CHECKING:
    from scrubjay.store.sqlite.database import Database

DIGITS: Final = 64
"""Hexadecimal digits of a key: 32 bytes."""
MOST_READ: Final = 1_024
"""Bytes of a key file that are looked at: more is no key."""
PLAIN: Final = b"SQLite format 3\0"
"""What a file begins with that is not encrypted."""
SWAP: Final = "pip uninstall --yes apsw && pip install --force-reinstall apsw-sqlite3mc"
MAKE: Final = "make one: `(umask 077; openssl rand -hex 32 > FILE)`"


@dataclass(frozen=True, slots=True)
class Key:
    """What a file is encrypted with.

    Attributes:
        file: Where it stands.
        digits: Itself; nothing prints it.
    """

    file: Path
    digits: str = field(repr=False)


def read_key(file: Path) -> Key:
    """Read a key: 64 hexadecimal digits, in a file that nobody else may read.

    Raises:
        InputError: It is not there, no key, or others may read it.
        StoreError: This Python's SQLite cannot encrypt.
    """
    try:
        with file.open("rb") as opened:
            mode, held = os.fstat(opened.fileno()).st_mode, opened.read(MOST_READ).strip()
    except OSError as error:
        raise InputError(
            f"The key {file} cannot be read ({error.strerror}). Nothing was written.", hint=MAKE
        ) from error
    if not re.fullmatch(rb"[0-9A-Fa-f]{%d}" % DIGITS, held):
        raise InputError(f"{file} holds no key: wanted are {DIGITS} hexadecimal digits.", hint=MAKE)
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise InputError(f"Others may read the key {file}. Nothing was written.", hint=f"chmod 600 {file}")
    if not hasattr(apsw, "mc_version"):  # which would pass over the key, and write as it always does
        raise StoreError(
            "A key was named, and this APSW cannot encrypt. Nothing was written.", hint=f"`{SWAP}`"
        )
    return Key(file, held.decode())


def unlock(connection: Database, key: Key | None) -> None:
    """Have a connection that was just opened encrypt and decrypt, where there is a key, before all else."""
    if key is not None:
        connection.pragma("cipher", "chacha20")
        connection.pragma("key", f"raw:{key.digits}")


def recognised(connection: Database, path: Path, key: Key | None) -> int:
    """Return the schema of a file that was opened and unlocked, as `recognise` does.

    Raises:
        StoreError: It is no database, or not by this key.
    """
    try:
        return recognise(connection, str(path))
    except apsw.NotADBError as error:
        raise _refused(path, key, error) from error


def url_of(path: Path, key: Key | None) -> str:
    """Return what a file is opened by.

    >>> url_of(Path("/srv/what?.db"), None)
    'sqlite:////srv/what%3F.db'
    """
    given = "" if key is None else f"?key_file={quote(str(key.file))}"
    return f"sqlite:///{str(path).replace('%', '%25').replace('?', '%3F')}{given}"


def _refused(path: Path, key: Key | None, error: Exception) -> StoreError:
    """Return what to say of a file that SQLite finds to be no database."""
    with path.open("rb") as opened:
        plain = opened.read(len(PLAIN)) == PLAIN
    if key is not None and plain:
        return StoreError(
            f"{path} is not encrypted, and a key was named. Nothing was written.",
            hint=f"name it without the key, or `scrubjay copy` it to a new one: sqlite:///NEW.db?key_file={key.file}",
        )
    if key is not None:
        return StoreError(
            f"{path} is not opened by the key in {key.file}, or is damaged ({error}). Nothing was written.",
            hint="name the key that it was made with; a lost key cannot be made again",
        )
    return StoreDamagedError(
        f"{path} is damaged or is not a store ({error}). Nothing was written; your files are untouched.",
        hint=f"if it is encrypted, name its key: sqlite:///{path}?key_file=FILE; else move it away, then "
        "`scrubjay sync` your folders again",
    )
