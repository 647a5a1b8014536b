"""watch: sources -> a sync whenever one of them changes, until interrupted."""

from __future__ import annotations

import signal
import threading
from datetime import datetime
from types import FrameType

from scrubjay.config_start import environment
from scrubjay.errors import NotFoundError
from scrubjay.memory.reports import Summary
from scrubjay.resident.host import hosted
from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.output import counted, line, tell, write, write_json
from scrubjay.surfaces.cli.sync import summarise
from scrubjay.verbs import shape

NAMED = 5
"""Changed files that are named after a sync."""


@command("watch")
def watch(call: Call) -> None:
    """Keep the store in step with all sources until interrupted.

    Prints the time, the files and a summary after each sync that changed something; with --json one line each.
    Meanwhile it is a resident: hooks and searches ask it.
    """
    stop = threading.Event()

    def end(_signal: int, _frame: FrameType | None) -> None:
        stop.set()

    around = environment(call.store, call.user)
    with call.open(new=True) as memory, hosted(call.settings(), lambda: memory, around, "watch"):
        sources = memory.sources()
        if not sources:
            raise NotFoundError(
                "No source is registered, so there is nothing to watch.", hint="scrubjay sync DIR"
            )
        before = {each: signal.signal(each, end) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            tell(f"Watching {counted(len(sources), 'source')}; Ctrl-C ends it.")
            memory.watch(stop=stop, report=lambda done: _report(call, done))
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def _report(call: Call, done: Summary) -> None:
    if not (done.added or done.updated or done.removed or done.problems):
        return
    if call.json:
        write_json(shape.plain(done))
    else:
        more = f" and {len(done.changed) - NAMED} more" if len(done.changed) > NAMED else ""
        names = ", ".join(line(path) for path in done.changed[:NAMED])
        write(f"{datetime.now().astimezone():%H:%M:%S}  {names}{more}")
        summarise(done)
