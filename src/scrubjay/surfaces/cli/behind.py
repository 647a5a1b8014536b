"""Behind: what happens behind an agent's back, as `status` tells it: a resident, a pause."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from scrubjay.config import data_dir
from scrubjay.pauses import Pauses
from scrubjay.surfaces.cli import pause, resident
from scrubjay.surfaces.cli.command import Call


def facts(call: Call) -> dict[str, Any]:
    """Return ``resident``, what one tells of itself or None, and ``paused``, agent (or ``all``) to until when."""
    from scrubjay.resident import keep

    path, mark, _ = resident.where(call)
    running = Pauses(str(data_dir())).running()
    paused = {who or "all": None if math.isinf(until) else until for who, until in running.items()}
    return {"resident": keep.state(path, mark), "paused": paused}


def lines(found: Mapping[str, Any]) -> list[str]:
    """Return the lines that a person reads."""
    told = [f"resident   {resident.line_of(found['resident'])}"]
    for who, until in found["paused"].items():
        told.append(f"hooks      {'' if who == 'all' else who + ' '}paused {pause.told(until)}")
    return told
