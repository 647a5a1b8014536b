"""Access tokens: a bearer token stands for a principal; only hashes are stored.

The token file lies beside the settings with mode 0600 and is read again when it changes, so revoking takes effect at
once. A token is 32 random bytes, so a single round of SHA-256 suffices.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from scrubjay import atomic_files
from scrubjay.config.loader import config_path
from scrubjay.errors import ConfigError, ForbiddenError, InputError, NotFoundError, SourceError
from scrubjay.models.records import Scope

TOKEN_PREFIX: Final = "scrubjay_"
"""Makes tokens recognisable to people and secret scanners."""
MAX_NAME: Final = 100
SCOPES: Final = ("read", "write", "curate", "admin")
"""read: search; write: add, and change and forget one's own; curate: change and forget what others shared,
and share with all users; admin: name files of the server, and operate on the whole store."""
DEFAULT_SCOPES: Final = ("read", "write")


@dataclass(frozen=True, slots=True)
class Principal:
    """Who sends a request: what they may see and do, and the agent that signs what they add."""

    tenant: str
    user: str
    groups: tuple[str, ...] = ()
    agent: str = ""
    scopes: tuple[str, ...] = SCOPES

    @property
    def curates(self) -> bool:
        """Whether they may change memories that others shared, and share with all users."""
        return "curate" in self.scopes or "admin" in self.scopes

    def need_to_share(self, visibility: object) -> None:
        """Raise ForbiddenError if they may not add something of this visibility: `public` reaches every user."""
        if visibility == "public" and not self.curates:
            self.need("curate")

    def need(self, scope: str) -> None:
        """Raise ForbiddenError unless the principal has a scope."""
        if scope not in self.scopes:
            raise ForbiddenError(
                f"The token lacks the `{scope}` scope; it has {', '.join(self.scopes)}. Nothing was done.",
                hint="the server's operator can create another: scrubjay token create NAME "
                f"{Scope(self.tenant, self.user, self.groups).token_options} "
                f"--scope {' --scope '.join((*self.scopes, scope))}",
            )


@dataclass(frozen=True, slots=True)
class Token:
    """A stored token. ``hash`` is the SHA-256 of its secret in hexadecimal; times are seconds since 1970."""

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
        return Principal(self.tenant, self.user, self.groups, self.agent, self.scopes)

    def expired(self, now: float) -> bool:
        return self.expires is not None and self.expires <= now


def tokens_path(env: Mapping[str, str] | None = None) -> Path:
    """Return the path of the token file, beside the settings file."""
    return config_path(env).parent / "tokens.json"


class TokenStore:
    """The tokens of one file, which may not exist yet."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._lock = threading.Lock()
        self._cached: tuple[tuple[int, ...], tuple[Token, ...]] | None = None

    def all(self) -> tuple[Token, ...]:
        """Return all tokens, oldest first.

        Raises:
            ConfigError: The file is damaged or cannot be read, or others may read or change it.
        """
        try:
            stat = self.file.stat()
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise self._unreadable(error) from error
        stamp = (stat.st_mtime_ns, stat.st_size, stat.st_ino, stat.st_mode)
        with self._lock:
            if self._cached is None or self._cached[0] != stamp:
                self._cached = stamp, self._load(stat.st_mode)
            return self._cached[1]

    def find(self, secret: str, now: float | None = None) -> Token | None:
        """Return the unexpired token of a secret. Every token is compared, in constant time."""
        digest, match = _hash_secret(secret), None
        for token in self.all():
            if hmac.compare_digest(token.hash, digest):
                match = token
        return None if match is None or match.expired(time.time() if now is None else now) else match

    def in_force(self, digest: str) -> Token | None:
        """Return the token with this hash unless it was revoked or has expired."""
        now = time.time()
        return next((token for token in self.all() if token.hash == digest and not token.expired(now)), None)

    def create(self, name: str, principal: Principal, expires: int | None) -> str:
        """Create a token and return its secret, which is not stored.

        ``expires`` is in seconds; None for never.
        """
        _check_names(name, principal)
        secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
        with self._locked() as tokens:
            if any(token.name == name for token in tokens):
                raise InputError(
                    f"A token named {name} already exists. Nothing was written.",
                    hint=f"scrubjay token revoke {name}",
                )
            now = int(time.time())
            expiry = None if expires is None else now + expires
            token = Token(name, _hash_secret(secret), **asdict(principal), created=now, expires=expiry)
            self._write([*tokens, token])
        return secret

    def revoke(self, name: str) -> Token:
        """Remove a token."""
        with self._locked() as tokens:
            revoked = next((token for token in tokens if token.name == name), None)
            if revoked is None:
                names = ", ".join(token.name for token in tokens) or "none"
                raise NotFoundError(f"No token is named {name}; existing: {names}. Nothing was changed.")
            self._write([token for token in tokens if token is not revoked])
        return revoked

    def _load(self, mode: int) -> tuple[Token, ...]:
        if sys.platform != "win32" and mode & 0o077:
            raise ConfigError(
                f"{self.file} can be read or changed by others (mode {mode & 0o777:04o}), so no token is accepted.",
                hint=f"chmod 600 {self.file}",
            )
        try:
            rows = json.loads(self.file.read_text("utf-8"))["tokens"]
            return tuple(Token(**_lists_to_tuples(row)) for row in rows)
        except OSError as error:
            raise self._unreadable(error) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConfigError(
                f"{self.file} is not a valid token file, so no token is accepted.",
                hint="move it away and create the tokens again with `scrubjay token create`",
            ) from error

    def _unreadable(self, error: OSError) -> ConfigError:
        return ConfigError(
            f"{self.file} cannot be read ({error.strerror or error}), so no token is accepted.",
            hint="check the owner of the file and of its folder",
        )

    @contextmanager
    def _locked(self) -> Iterator[tuple[Token, ...]]:
        atomic_files.make_folder(self.file.parent)
        with atomic_files.hold_lock(self.file.with_suffix(".lock"), seconds=None):
            yield self.all()

    def _write(self, tokens: Sequence[Token]) -> None:
        text = json.dumps({"tokens": [asdict(token) for token in tokens]}, indent=1)
        try:
            atomic_files.write_file(self.file, text.encode("ascii"))
        except OSError as error:
            raise SourceError(
                f"{self.file} cannot be written: {error.strerror or error}. The tokens are unchanged.",
                hint="check the folder's owner and the free disk space",
            ) from error


def is_valid_name(text: str) -> bool:
    """Return whether a text may name a user, a group, a tenant, an agent or a token, or is empty."""
    return len(text) <= MAX_NAME and text.isprintable() and text == text.strip()


def _check_names(name: str, principal: Principal) -> None:
    for text in (name, principal.tenant, principal.user, principal.agent, *principal.groups):
        if not is_valid_name(text):
            raise InputError(
                f"{text!r:.120} is not a valid name: use at most {MAX_NAME} printable characters without "
                "surrounding spaces. Nothing was written."
            )
    for scope in principal.scopes:
        if scope not in SCOPES:
            raise InputError(f"{scope!r:.40} is not a scope. Nothing was written.", hint=", ".join(SCOPES))
    if not principal.scopes:
        raise InputError("A token needs a scope. Nothing was written.", hint=", ".join(SCOPES))
    if not name or not principal.user or not principal.tenant or "" in principal.groups:
        raise InputError(
            "A token needs a name, a user and a tenant, and no empty group. Nothing was written."
        )


def _lists_to_tuples(row: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}


def _hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
