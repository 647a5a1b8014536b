"""Judge: a token near a word that names a secret -> the log odds of its being one.

What each sign of a token (`scrub_signs`) weighs was learnt from labelled texts and from texts that hold nearly none
(bench/weigh_secrets.py); the weights and where they come from stand in scrub_judge.json. What the judge says of a token
is one of the things that the tagger (`scrub_tagged`) goes by.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple

from scrubjay.ingest.scrub_cues import Candidate
from scrubjay.ingest.scrub_signs import signs


class Weights(NamedTuple):
    """What signs weigh.

    Attributes:
        bias: What every candidate begins with.
        of: The weight of each sign, in log odds; one that is not in it weighs nothing.
    """

    bias: float
    of: Mapping[str, float]

    def sum(self, one: Candidate) -> float:
        """The log odds of a candidate's being a secret."""
        return self.bias + math.fsum(self.of.get(sign, 0.0) for sign in signs(one))


@cache
def learnt() -> Weights:
    """The weights that come with the package."""
    read = json.loads(resources.files(__package__).joinpath("scrub_judge.json").read_text("utf-8"))
    return Weights(read["bias"], read["weights"])
