"""Access tokens: from a bearer token to a principal; only hashes are stored.

A token is a principal (tenant, user, groups, agent); nothing that comes with a request can widen it. The file lies
beside the settings, is its owner's alone (0600), and is read again when it changed, so that a token that is revoked
opens nothing from then on. A token is 32 random bytes, so one round of SHA-256 is all the hash that it needs.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from scrubjay import atomic_files
from scrubjay.config.loader import config_path
from scrubjay.errors import ConfigError, ForbiddenError, InputError, NotFoundError, SourceError

if sys.platform != "win32":
    import fcntl

TOKEN_PREFIX: Final = "scrubjay_"
"""What a token begins with, so that people and scanners of secrets know one when they see it."""
MAX_NAME: Final = 100
"""Characters of a name."""
SCOPES: Final = ("read", "write", "curate", "admin")
"""What may be done: ask; add, and change and forget one's own; change and forget what others shared; name files of the
server, and do what is done to a whole store."""
DEFAULT_SCOPES: Final = ("read", "write")
"""What a token may do of which nothing else was said."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Who is let in: what they may see and do, and how what they add is signed."""

    tenant: str
    user: str
    groups: tuple[str, ...] = ()
    agent: str = ""
    scopes: tuple[str, ...] = SCOPES

    @property
    def curates(self) -> bool:
        """Whether they may change what others shared; an administrator may."""
        return "curate" in self.scopes or "admin" in self.scopes

    def need(self, scope: str) -> None:
        """Raise unless they may do this.

        Raises:
            ForbiddenError: They may not.
        """
        if scope not in self.scopes:
            held = ", ".join(self.scopes)
            raise ForbiddenError(
                f"The token may {held}, and this takes {scope}. Nothing was done.",
                hint=f"scrubjay token create NAME --scope {' --scope '.join((*self.scopes, scope))}",
            )


@dataclass(frozen=True, slots=True)
class Token:
    """One token, as it is kept.

    Attributes:
        name: What its owner calls it.
        hash: SHA-256 of the secret, hexadecimal.
        tenant: The principal's walled garden,
        user: the principal's name,
        groups: and groups.
        agent: What additions are signed with; may be empty.
        scopes: What may be done with it, of `SCOPES`.
        created: When it was made, seconds since 1970.
        expires: When it ends, seconds since 1970; None for never.
    """

    name: str
    hash: str
    tenant: str
    user: str
    groups: tuple[str, ...]
    agent: str
    created: int
    expires: int | None
    scopes: tuple[str, ...] = DEFAULT_SCOPES

    @property
    def principal(self) -> Principal:
        """Who it stands for."""
        return Principal(self.tenant, self.user, self.groups, self.agent, self.scopes)

    def expired(self, now: float) -> bool:
        """Tell whether it has ended."""
        return self.expires is not None and self.expires <= now


def tokens_path() -> Path:
    """Return where tokens are kept: beside the settings file."""
    return config_path().parent / "tokens.json"


class TokenStore:
    """The tokens of one file, which need not be there."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._guard = threading.Lock()
        self._read: tuple[tuple[int, ...], tuple[Token, ...]] | None = None

    @property
    def file(self) -> Path:
        """Where they are kept."""
        return self._file

    def all(self) -> tuple[Token, ...]:
        """Return all of them, the oldest first.

        Raises:
            ConfigError: The file is not what `create` writes, or others may read or change it.
        """
        try:
            found = self._file.stat()
        except FileNotFoundError:
            return ()
        stamp = (found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode)
        with self._guard:
            if self._read is None or self._read[0] != stamp:
                self._read = stamp, self._loaded(found.st_mode)
            return self._read[1]

    def find(self, secret: str, now: float | None = None) -> Token | None:
        """Return the token of a secret, unless there is none, or it has expired. All are compared, in equal time."""
        wanted = _hash_secret(secret)
        found = None
        for token in self.all():
            if hmac.compare_digest(token.hash, wanted):
                found = token
        at = time.time() if now is None else now
        return None if found is None or found.expired(at) else found

    def in_force(self, mark: str) -> Token | None:
        """Return the token with this hash, unless it was revoked or has expired.

        Raises:
            ConfigError: As `all`.
        """
        now = time.time()
        return next((token for token in self.all() if token.hash == mark and not token.expired(now)), None)

    def create(self, name: str, principal: Principal, expires: int | None) -> str:
        """Make a token and return its secret, which is kept nowhere.

        Args:
            name: Not that of another token.
            principal: Who it stands for.
            expires: Seconds until it ends; None for never.

        Raises:
            InputError: The name is taken or none, or the user is empty.
            SourceError: The file cannot be written.
        """
        self._named(name, principal)
        secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
        with self._changing() as tokens:
            if any(token.name == name for token in tokens):
                raise InputError(
                    f"There is a token {name} already. Nothing was written.",
                    hint=f"scrubjay token revoke {name}",
                )
            now = int(time.time())
            ends = None if expires is None else now + expires
            made = Token(name, _hash_secret(secret), **asdict(principal), created=now, expires=ends)
            self._write([*tokens, made])
        return secret

    def revoke(self, name: str) -> Token:
        """Take a token away: it opens nothing from now on.

        Raises:
            NotFoundError: There is none of that name.
            SourceError: The file cannot be written.
        """
        with self._changing() as tokens:
            kept = [token for token in tokens if token.name != name]
            if len(kept) == len(tokens):
                names = ", ".join(token.name for token in tokens) or "none"
                raise NotFoundError(f"There is no token {name}; there are: {names}. Nothing was changed.")
            self._write(kept)
        return next(token for token in tokens if token.name == name)

    def _named(self, name: str, principal: Principal) -> None:
        texts = (name, principal.tenant, principal.user, principal.agent, *principal.groups)
        for text in texts:
            if len(text) > MAX_NAME or not text.isprintable() or text != text.strip():
                raise InputError(
                    f"{text!r:.120} is no name: at most {MAX_NAME} characters that can be printed, without spaces "
                    "around them. Nothing was written."
                )
        for scope in principal.scopes:
            if scope not in SCOPES:
                raise InputError(
                    f"There is no scope {scope!r:.40}. Nothing was written.", hint=", ".join(SCOPES)
                )
        if not principal.scopes:
            raise InputError("A token needs a scope. Nothing was written.", hint=", ".join(SCOPES))
        if not name or not principal.user or not principal.tenant or "" in principal.groups:
            raise InputError(
                "A token needs a name, a user and a tenant, and no empty group. Nothing was written."
            )

    def _loaded(self, mode: int) -> tuple[Token, ...]:
        if sys.platform != "win32" and mode & 0o077:
            raise ConfigError(
                f"{self._file} can be read or changed by others (mode {mode & 0o777:04o}), so no token is accepted.",
                hint=f"chmod 600 {self._file}",
            )
        try:
            held = json.loads(self._file.read_text("utf-8"))["tokens"]
            lists = {"scopes": DEFAULT_SCOPES}
            return tuple(
                Token(**{name: _list_to_tuple(value) for name, value in (lists | each).items()})
                for each in held
            )
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigError(
                f"{self._file} is no file of tokens, so no token is accepted.",
                hint="move it away and make the tokens anew with `scrubjay token create`",
            ) from error

    @contextmanager
    def _changing(self) -> Iterator[tuple[Token, ...]]:
        """The tokens, while no other process changes them."""
        atomic_files.make_folder(self._file.parent)
        held = os.open(self._file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if sys.platform != "win32":
                fcntl.flock(held, fcntl.LOCK_EX)
            yield self.all()
        finally:
            os.close(held)

    def _write(self, tokens: Sequence[Token]) -> None:
        held: list[dict[str, Any]] = [asdict(token) for token in tokens]
        try:
            atomic_files.write_file(self._file, json.dumps({"tokens": held}, indent=1).encode("ascii"))
        except OSError as error:
            raise SourceError(
                f"{self._file} cannot be written: {error.strerror or error}. The tokens are as they were.",
                hint="look at whose the folder is, and whether the disk is full",
            ) from error


def _list_to_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
