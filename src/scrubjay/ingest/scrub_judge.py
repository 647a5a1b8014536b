"""Judge: the tokens near words that name a secret -> those of them that are secrets.

What each sign of a token (`scrub_signs`) weighs was learnt from labelled texts and from texts that hold nearly none
(bench/weigh_secrets.py); the weights and where they come from stand in scrub_judge.json. A rule says yes to what its
writer had seen; a sum of signs says yes to what is like it, too.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Final, NamedTuple

from scrubjay.ingest.scrub_cues import Candidate
from scrubjay.ingest.scrub_hopeless import hopeless
from scrubjay.ingest.scrub_near import candidates
from scrubjay.ingest.scrub_signs import signs, told
from scrubjay.ingest.scrub_values import Places, Span

_KINDS: Final = ("token", "secret", "code", "key")


class Weights(NamedTuple):
    """What signs weigh.

    Attributes:
        bias: What every candidate begins with.
        least: A sum above it is a secret.
        of: The weight of each sign, in log odds; one that is not in it weighs nothing.
    """

    bias: float
    least: float
    of: Mapping[str, float]

    def sum(self, one: Candidate) -> float:
        """The log odds of a candidate's being a secret."""
        return self.bias + math.fsum(self.of.get(sign, 0.0) for sign in signs(one))


@cache
def learnt() -> Weights:
    """The weights that come with the package."""
    read = json.loads(resources.files(__package__).joinpath("scrub_judge.json").read_text("utf-8"))
    return Weights(read["bias"], read["least"], read["weights"])


def judged(text: str, low: bytes, places: Places, weights: Weights | None = None) -> Iterator[Span]:
    """The secrets among the tokens near words that name one.

    Args:
        text: The text.
        low: It in Latin-1 and lower case, one byte a character.
        places: Where what stands in ``low``.
        weights: Other weights than those that come with the package.
    """
    never = weights is not None and math.isinf(weights.least)
    for one in candidates(text, low, places):
        if hopeless(one):
            continue
        if (weights or learnt()).sum(one) > (weights or learnt()).least or (told(one) and not never):
            yield Span(one.start, one.end, _kind(one), False)


def _kind(one: Candidate) -> str:
    if one.password:
        return "password"
    word = one.word.lower()
    name = next((name for name in _KINDS if name in word), "key")
    return {"code": "secret", "key": "api-key"}.get(name, name)
