"""Entry: the process's command line -> an agent's hook, which has no time for more, or any other command."""

from __future__ import annotations

import sys

from scrubjay.wiring.garbage import look_seldom

NAMED = ("--store", "--user")


def main() -> None:
    """Run what the process was called with, and exit with its code."""
    look_seldom()
    words = sys.argv[1:]
    given = dict.fromkeys(NAMED, "")
    at = 0
    while at < len(words) and words[at].partition("=")[0] in NAMED:
        name, mark, value = words[at].partition("=")
        at += 1
        if not mark and at < len(words):
            value, at = words[at], at + 1
        given[name] = value
    if words[at : at + 1] == ["hook"] and not {"-h", "--help"} & set(words[at:]):
        from scrubjay.surfaces.cli import hooked

        if words[at + 1 :] == ["--errands"]:
            hooked.errands(given["--store"], given["--user"])
        else:
            hooked.hooked(words[at + 1 :], given["--store"], given["--user"])
        return
    from scrubjay.surfaces.cli.main import main as others

    others()
