"""Model files: cached SHA-256 sums of them, and small caches beside them.

Hashing 16-23 MB costs 40 ms at every cold start, so the sum is remembered under (path, size, modification time). That
proves a file was not mixed up, truncated or upgraded; it is no defence against whoever can write to its folder.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from scrubjay.errors import ProviderError

CHECKSUMS_FILE = "checksums.json"


def file_sha256(path: Path, cache_dir: Path | None) -> str:
    """Return the sha256 of a file in hex; without ``cache_dir`` it is hashed each time."""
    try:
        state = path.stat()
        identity = [state.st_size, state.st_mtime_ns]
        known = read_cache(cache_dir / CHECKSUMS_FILE) if cache_dir is not None else {}
        entry = known.get(str(path))
        if isinstance(entry, list) and entry[:2] == identity and isinstance(entry[-1], str):
            return entry[-1]
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as exc:
        raise ProviderError(f"Model file {path} cannot be read: {exc.strerror}.") from exc
    if cache_dir is not None:
        known[str(path)] = [*identity, digest]
        write_cache(cache_dir / CHECKSUMS_FILE, json.dumps(known).encode())
    return digest


def verify_file(path: Path, expected: str, cache_dir: Path | None, *, hint: str) -> None:
    """Make sure a file is the expected one.

    Raises:
        ProviderError: It is missing, or its checksum differs.
    """
    actual = file_sha256(path, cache_dir)
    if actual != expected:
        raise ProviderError(
            f"Model file {path} has sha256 {actual[:12]}…, expected {expected[:12]}…. It was not loaded.",
            hint=hint,
        )


def write_cache(path: Path, data: bytes) -> None:
    """Write a rebuildable file atomically, for its owner alone (0600, folder 0700); a failure is only logged."""
    import tempfile  # 5 ms that a cold search need not pay

    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # mkstemp makes the file 0600 from its first moment.
        handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            Path(draft).replace(path)
        except OSError:
            Path(draft).unlink(missing_ok=True)
            raise
    except OSError as exc:
        import logging

        logging.getLogger(__name__).warning("Cache %s was not written: %s", path, exc.strerror)


def read_cache(path: Path) -> dict[str, object]:
    """Return a JSON object from a cache file; a missing or torn file is empty."""
    try:
        known = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}
