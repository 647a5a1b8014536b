"""Paths: a tree of messages and its leaf -> the sessions that its messages belong to.

A conversation in which somebody went back and said something else is a tree. The path from the root to the
leaf that the tool shows is the session itself; every other path is a session of its own that begins where it
leaves (`format.branch`), so no message is lost and none is there twice. For files that are read whole; a log
that grows knows no leaf yet.
"""

from __future__ import annotations

from collections.abc import Mapping

from scrubjay.ingest.sources.transcripts.format import branch


def paths(parents: Mapping[str, str], leaf: str, session: str) -> list[tuple[str, list[str]]]:
    """Return each session with its messages in the order they were said, the main one first.

    Args:
        parents: Of each message, by key and in the order of the file; "" or a key that is not there is none.
            Parents may go in circles: a circle is cut where it was entered.
        leaf: The last message that the tool shows; one that is not there means the last of the file.
        session: The name of the main session.

    >>> paths({"a": "", "b": "a", "c": "a", "d": "c"}, "b", "s")
    [('s', ['a', 'b']), ('s~c', ['c', 'd'])]
    """
    if not parents:
        return []
    main = leaf if leaf in parents else next(reversed(list(parents)))
    placed: dict[str, int] = {}
    found: list[tuple[str, list[str]]] = []
    for end in (main, *parents):
        chain: dict[str, None] = {}
        at = end
        while at in parents and at not in placed and at not in chain:
            chain[at] = None
            at = parents[at]
        if not chain:
            continue
        keys = list(reversed(chain))
        place = placed.get(at, len(found))
        # A path goes on where it stopped, unless another went on there already, or it is the main one.
        if not 0 < place < len(found) or found[place][1][-1] != at:
            place = len(found)
            found.append((branch(session, keys[0]) if found else session, []))
        found[place][1].extend(keys)
        placed.update(dict.fromkeys(keys, place))
    return found
