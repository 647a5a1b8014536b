"""Behind: what happens behind an agent's back, as `status` tells it: a resident, a pause."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from scrubjay.config import data_dir
from scrubjay.pauses import Pauses
from scrubjay.surfaces.cli import pause, resident
from scrubjay.surfaces.cli.command import Call
from scrubjay.surfaces.serve.open_servers import WARNING, running


def facts(call: Call) -> dict[str, Any]:
    """Return what `status` tells.

    ``resident`` is what one tells of itself, or None; ``paused`` agent (or ``all``) to until when; ``open_servers`` the
    URLs of servers that run with ``--open``.
    """
    from scrubjay.resident import keep

    path, mark, _ = resident.where(call)
    pauses = Pauses(str(data_dir())).running()
    paused = {who or "all": None if math.isinf(until) else until for who, until in pauses.items()}
    return {"resident": keep.state(path, mark), "paused": paused, "open_servers": running(data_dir())}


def lines(found: Mapping[str, Any]) -> list[str]:
    """Return the lines that a person reads."""
    told = [f"resident   {resident.line_of(found['resident'])}"]
    for who, until in found["paused"].items():
        told.append(f"hooks      {'' if who == 'all' else who + ' '}paused {pause.told(until)}")
    told += [f"warning    {WARNING.format(url=url, user='you')}" for url in found["open_servers"]]
    return told
