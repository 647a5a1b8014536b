"""Answer: an event -> what the agent is told, from a resident or from the store; and what is left to be done later."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping

from scrubjay.agents.hooks.event import ASKED, CAPTURED, Event
from scrubjay.agents.hooks.forms import FORMS
from scrubjay.config_start import data_folder, fingerprint, runtime_folder
from scrubjay.log import Log
from scrubjay.resident import keep
from scrubjay.resident.ask import ask
from scrubjay.resident.place import place
from scrubjay.text.display import line
from scrubjay.verbs.errands import Errands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NIGHTLY = ("heartbeat", "session-end")
"""Events after which old memories are told in short, where it is time."""
SHOWN = 3
"""Memories that are named to the person."""
MOST_SHOWN = 200
"""Characters of the line that the person sees."""
KEPT_BACK = 0.04
"""Seconds of the budget that are not spent on waiting for a resident."""


class Near:
    """What a hook has around it: the environment, the folders, the resident's socket, and its time.

    Attributes:
        alone: Whether there was no resident to ask, and the settings, where they are known, wish for one.
    """

    def __init__(self, around: Mapping[str, str], end: Callable[[], float], until: Callable[[float], None]):
        """Args: the environment; tells when the time is up; sets that, in milliseconds from the start."""
        self.around = around
        self.data = data_folder(around)
        self.mark = fingerprint(around)
        self.socket = place(runtime_folder(around), self.mark)
        self.errands = Errands(self.data, self.mark)
        self.log = Log(self.data)
        self.end = end
        self.until = until
        self.alone = False

    def ask(self, verb: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """Ask the resident, as long as there is time."""
        left = self.end() - time.monotonic() - KEPT_BACK
        return ask(self.socket, self.mark, verb, arguments, left) if left > 0 else None


def answer(event: Event, near: Near) -> tuple[dict[str, Any] | None, int]:
    """Return what the agent is answered, None for nothing, and how many memories that tells."""
    if event.name not in ASKED:
        return None, 0
    session = "" if event.afresh else event.session
    asked = {"name": event.name, "folder": event.folder, "session": session, "prompt": event.prompt}
    found = near.ask("remind", asked)
    if found is None:
        found = _cold(asked, near)
    if not found.get("text"):
        return None, 0
    cited = [str(one) for one in found["cited"]]
    told = FORMS[event.agent][0].reply(event, found["text"], shown(cited))
    return (told, len(cited)) if told else (None, 0)


def _cold(asked: Mapping[str, Any], near: Near) -> dict[str, Any]:
    near.alone = True  # as far as is known before the settings are read: they may take all the time there is
    from scrubjay.config import load
    from scrubjay.engine import Memory
    from scrubjay.verbs.remind import remind

    settings = load(environ=near.around)
    near.until(settings.hooks.budget_ms)
    near.alone = settings.resident.auto
    near.log = settings.log.open(near.data)
    # Never closed: the process ends in a moment, and SQLite's log is for the next writer to fold.
    memory = Memory.open(settings=settings, cold=True)
    return remind(memory, settings.hooks, asked)


def shown(cited: list[str]) -> str:
    r"""Return the line that the person sees: how many memories, and where the first of them stand.

    >>> shown(["a.md:1-3", "notes/\x1b[31mb.md:4-4"])
    'scrubjay: 2 memories (a.md:1-3, b.md:4-4)'
    """
    names = [line(os.path.basename(one)) for one in cited[:SHOWN]]
    more = ", …" if len(cited) > SHOWN else ""
    noun = "memory" if len(cited) == 1 else "memories"
    return f"scrubjay: {len(cited)} {noun} ({', '.join(names)}{more})"[:MOST_SHOWN]


def afterwards(event: Event, near: Near) -> None:
    """Leave to others what takes longer than a hook may.

    Raises:
        OSError: It cannot be written down, or nobody can be started who does it.
    """
    if near.alone and near.socket is not None:
        keep.detach(["resident", "serve", "--if-wanted"], near.around)
    roots = FORMS[event.agent][1](near.around)
    found = captured(event.transcript, roots) if event.name in CAPTURED else None
    if found:
        near.errands.put("capture", event=event.name, root=found[0], path=found[1])
    if event.name == "session-start":
        near.errands.put("catch-up", event=event.name, root=roots[0] if roots else "")
    if event.name in NIGHTLY:
        near.errands.put("consolidate", event=event.name)
    if not (found or event.name in ("session-start", *NIGHTLY)):
        return
    if event.name in CAPTURED and near.ask("errands", {}) is not None:
        return
    if not near.errands.busy():
        keep.detach(["hook", "--errands"], near.around)


def captured(transcript: str, roots: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the folder and the transcript in it that are to be taken in; None for one that lies elsewhere.

    An agent that names no transcript has them where only a look at all of them tells which is new.
    """
    for root in roots:
        if not transcript:
            return (root, "") if os.path.isdir(root) else None
        real, inside = os.path.realpath(transcript), os.path.realpath(root)
        if real.startswith(inside.rstrip(os.sep) + os.sep):
            return root, os.path.join(root, os.path.relpath(real, inside))
    return None
