"""Progress: long work -> its answer at the end, or a stream of events that says how far it is.

Work that has begun goes on when its client goes away: what it does is done whole, or as far as the server lives.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, Final

from fastapi import Request
from fastapi.responses import StreamingResponse
from starlette.responses import Response

from scrubjay.errors import ScrubjayError
from scrubjay.surfaces.http.answered import Told
from scrubjay.surfaces.serve.problems import UNEXPECTED, status
from scrubjay.verbs import shape

if TYPE_CHECKING:
    from scrubjay.engine import Memory
    from scrubjay.memory.reports import Progress
    from scrubjay.surfaces.serve.session import Session
    from scrubjay.verbs.tokens import Principal

EVENTS: Final = "text/event-stream"
PAUSE: Final = 0.1
"""Least seconds between two events: a sync of thousands of files would else say little else."""
BEAT: Final = 10.0
"""Seconds without an event after which a comment is sent, so that proxies and clients see that it lives."""
STREAMED: Final = {
    "application/json": {},
    EVENTS: {
        "schema": {
            "type": "string",
            "description": "Events: `progress` (stage, done, total, seconds), and at the end `done` with the answer, "
            "or `error` as every error is told, with its `status`.",
        },
        "example": 'event: progress\ndata: {"stage": "write", "done": 3, "total": 12, "seconds": 0.2}\n\n'
        "event: done\ndata: {}\n\n",
    },
}
"""What OpenAPI says of an answer that may be streamed."""

Report = Callable[["Progress"], None]


async def long(
    request: Request,
    session: Session,
    who: Principal,
    work: Callable[[Memory, Report], Any],
    ended: Callable[[], None] = lambda: None,
) -> Response:
    """Return what long work comes to.

    Args:
        request: Which may ask for events.
        session: What does the work.
        who: Who asks.
        work: What is done, told where to report.
        ended: Called when it has ended, or was never begun.
    """
    step = Latest(asyncio.get_running_loop())

    def report(reached: Progress) -> None:
        session.going_on()
        step.report(reached)

    doing = asyncio.ensure_future(
        session.do(who, lambda memory: shape.plain(work(memory, report)), at_length=True)
    )

    def over(done: asyncio.Future[Any]) -> None:
        ended()
        if not done.cancelled():
            done.exception()  # looked at, or asyncio complains where nobody is there to hear it any more

    doing.add_done_callback(over)
    if EVENTS not in request.headers.get("accept", ""):
        return Told(await asyncio.shield(doing))
    return StreamingResponse(_events(doing, step), media_type=EVENTS, headers={"cache-control": "no-store"})


class Latest:
    """The last step that was reported, from whichever thread; a client that is slow misses those between."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._step: Progress | None = None
        self.came = asyncio.Event()

    def report(self, step: Progress) -> None:
        """Remember a step."""
        self._step = step
        self._loop.call_soon_threadsafe(self.came.set)

    def taken(self) -> Progress | None:
        """Return the step that nobody has taken yet."""
        self.came.clear()
        step, self._step = self._step, None
        return step


async def _events(doing: asyncio.Future[Any], step: Latest) -> AsyncIterator[str]:
    while not doing.done():
        came = asyncio.ensure_future(step.came.wait())
        await asyncio.wait({doing, came}, timeout=BEAT, return_when=asyncio.FIRST_COMPLETED)
        came.cancel()
        reported = step.taken()
        if reported is not None:
            yield event("progress", shape.plain(reported))
            await asyncio.wait({doing}, timeout=PAUSE)
        elif not doing.done():
            yield ": \n\n"
    failed = doing.exception()
    if failed is None:
        yield event("done", doing.result())
    elif isinstance(failed, ScrubjayError):
        yield event("error", {**shape.error(failed), "status": status(failed)})
    else:
        yield event("error", {**shape.error(UNEXPECTED), "status": 500})
        raise failed


def event(name: str, said: Any) -> str:
    r"""Return one event of a stream.

    >>> event("done", {"embedded": 3})
    'event: done\ndata: {"embedded": 3}\n\n'
    """
    return f"event: {name}\ndata: {json.dumps(said)}\n\n"
