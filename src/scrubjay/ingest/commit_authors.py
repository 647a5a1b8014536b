"""Authors of a repository's last commits, and whose work it is by them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from typing import Final

from scrubjay.memory.records import FOREIGN, JOINT, OWN

LAST: Final = 300
"""Commits that are looked at."""
SECONDS: Final = 3.0
"""Time that git has to answer; it takes some hundredths."""
_WIDTH: Final = 120
"""Characters of an author's address that are read: a stranger wrote it, of any length."""
_OFFLINE: Final = tuple(
    word
    for name in ("file", "ext", "ssh", "git", "http", "https")
    for word in ("-c", f"protocol.{name}.allow=never")
)
"""A partial clone would fetch what it lacks; its configuration may name a program to do it."""


def authors(git_dir: str) -> list[str] | None:
    """Return the addresses of the authors of a repository's last commits; None where git does not tell.

    Args:
        git_dir: Its ``.git`` directory. Nothing is fetched, no hook, pager or signature program is run.
    """
    asked = (
        "log",
        f"--max-count={LAST}",
        f"--format=%<({_WIDTH},trunc)%ae",
        "--no-show-signature",
        "HEAD",
        "--",
    )
    return _git(git_dir, asked)


def addresses(git_dir: str) -> frozenset[str]:
    """Return the e-mail addresses under which whoever works here commits: those that are set, and git's guess."""
    signed = _git(git_dir, ("var", "GIT_AUTHOR_IDENT")) or ()
    guessed = {line.rpartition(">")[0].rpartition("<")[2] for line in signed}
    return frozenset({*(_git(git_dir, ("config", "--get-all", "user.email")) or ()), *guessed} - {""})


def work(git_dir: str) -> str:
    """Return whose work a repository is: ``OWN``, ``JOINT`` or ``FOREIGN``.

    Own is one without commits, or with at least half of them by the person; joint one with some. Where git does not
    tell (it is not installed, it takes too long), one that has commits and a remote is foreign: it may be a clone.
    """
    written = authors(git_dir)
    if written is None:
        return FOREIGN if _begun(git_dir) and _cloned(git_dir) else OWN
    mine = addresses(git_dir)
    count = sum(author in mine for author in written)
    if 2 * count >= len(written):
        return OWN
    return JOINT if count else FOREIGN


def _begun(git_dir: str) -> bool:
    """Return whether there are commits at all, as far as files tell."""
    return any(
        os.path.exists(os.path.join(git_dir, name)) for name in ("packed-refs", "logs/HEAD", "shallow")
    )


def _cloned(git_dir: str) -> bool:
    try:
        with open(os.path.join(git_dir, "config"), "rb") as file:
            return b"[remote " in file.read(1_000_000)
    except OSError:
        return False


def _git(git_dir: str, arguments: Sequence[str]) -> list[str] | None:
    """Return what git answers, line by line, folded; None where it does not."""
    command = ["git", f"--git-dir={git_dir}", "--no-pager", "--no-replace-objects", *_OFFLINE, *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS, check=False, cwd=git_dir
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode != 0:
        return None
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return [line.strip().casefold() for line in lines if line.strip()]
