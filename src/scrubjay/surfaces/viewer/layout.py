"""Layout: concepts and their ties -> where each is drawn.

Concepts push each other apart and ties pull them together (Fruchterman and Reingold, 1991), from a sunflower in which
the heaviest stand in the middle. Each is pushed by at most 200 others a round, so 2,000 take a second;
here and not in the browser, whose page stays quick. The same web is always drawn alike.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scrubjay.memory.looks import Web

ROUNDS: Final = 60
PUSHED_BY: Final = 200
APART: Final = 90.0
"""Distance at which a tie's pull and the push of its ends are equal: room for a name."""
HOLD: Final = 1.2
"""How strongly the middle holds what nothing else does, so that no single one drifts out of sight."""
TURN: Final = math.pi * (3 - math.sqrt(5))


def spread(web: Web) -> list[tuple[float, float]]:
    """Return x and y of each concept."""
    import numpy as np

    count = len(web.concepts)
    if not count:
        return []
    numbers = {known.id: place for place, known in enumerate(web.concepts)}
    one = np.array([numbers[tie.one] for tie in web.ties], np.int64)
    other = np.array([numbers[tie.other] for tie in web.ties], np.int64)
    steps = np.arange(count)
    far = APART * np.sqrt(steps + 0.5) * 0.6
    at = np.stack([far * np.cos(steps * TURN), far * np.sin(steps * TURN)], axis=1)
    tied = np.maximum(np.bincount(np.concatenate([one, other]), minlength=count), 1)
    bonds = np.sqrt(tied[one] * tied[other])  # or what hangs together closely would fall into one spot
    random = np.random.default_rng(count)
    for step in range(ROUNDS):
        some = random.choice(count, min(count, PUSHED_BY), replace=False)
        way = at[:, None, :] - at[some][None, :, :]
        square = np.maximum((way**2).sum(axis=2), 1.0)
        push = (way * (APART**2 / square)[:, :, None]).sum(axis=1) * (count / len(some))
        pull = np.zeros_like(at)
        if len(one):
            along = at[other] - at[one]
            drawn = along * (np.sqrt((along**2).sum(axis=1)) / APART / bonds)[:, None]
            np.add.at(pull, one, drawn)
            np.add.at(pull, other, -drawn)
        move = push + pull - at * HOLD
        long = np.maximum(np.sqrt((move**2).sum(axis=1)), 1e-9)
        most = APART * 2 * (1 - step / ROUNDS) + 1
        at = at + move / long[:, None] * np.minimum(long, most)[:, None]
    return [(round(float(x), 1), round(float(y), 1)) for x, y in at]
