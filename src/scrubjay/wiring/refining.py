"""Refining: a desk and a night -> the night with the language model that the settings name, and what keeps it away."""

from __future__ import annotations

from dataclasses import replace

from scrubjay.config import api_key
from scrubjay.consolidate.asking import Asking
from scrubjay.consolidate.night import Night
from scrubjay.errors import ConfigError
from scrubjay.providers.llms.open import open_llm
from scrubjay.providers.llms.spec import LlmSpec
from scrubjay.wiring.desk import Desk


def refining(desk: Desk, night: Night) -> tuple[Night, Asking | None, tuple[str, ...]]:
    """Return a night with what it may ask, that by itself, and why there is none though the settings name one.

    A model that cannot be used keeps no night from being done.
    """
    wanted = desk.settings.llm
    if not wanted.model or not wanted.refine:
        return night, None, ()
    try:
        model = open_llm(LlmSpec(wanted.base_url, wanted.model, api_key("llm", wanted)))
    except ConfigError as exc:
        return night, None, (f"{wanted.model} was not asked: {exc}",)
    asking = Asking(model, wanted.deadline, wanted.requests, desk.announce)
    facts = asking if "facts" in wanted.refine else None
    digests = asking if "digests" in wanted.refine else None
    return replace(night, facts=facts, digests=digests), asking, ()
