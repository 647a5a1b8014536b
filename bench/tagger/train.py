"""Train the tagger of secrets that is shipped (scrubjay/redaction/classifier.py). Needs `pip install --group train`.

The labelled texts are those of secrets_*.jsonl but the blind ones. Their random parts, and every second password, are
made anew eight times. In the sets from which rules were written, a quarter of what the rules find is hidden from the
tagger, since of unseen text they find less. The texts below DIR and Python's own library, where hardly anything is a
secret, are shown in pieces in which the rules find nothing, whole or a line, a name, some words of each, and so are
tables of numbers and names and ordinary lists: a few each epoch, and of many more all those in which the shipped tagger
takes something. The tables of all of them are shown once more, row by row. So a second run learns from the mistakes of
the first; with ``--begin`` it goes on from given weights, at a fifth of the rate. ``--documents`` are folders of pages
in which hardly anything is a secret: every second file is used.

A network is trained for each seed, and the mean of all counts. Texts whose ids begin as ``--without`` says are left out
and measured: by the rules alone, and with the tagger at several thresholds.

The shipped weights: `--data DIR --documents DIR… --epochs 22 --seeds 0`, the same with 1, then `--begin`, 3 epochs.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Mapping, Sequence
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.command import Command
from bench.redaction import judge
from bench.tagger.items import SETS, Item, made_anew, templates
from bench.tagger.lists import ordinary
from bench.tagger.texts import WORD, mistaken, pieces, tables, with_tables
from scrubjay.redaction import classifier, evidence
from scrubjay.redaction.classifier import BYTE_WEIGHTS, Tagger, unpack_weights

TABLES = 600
"""Tables of numbers and names an epoch."""
LISTS = 1000
"""Lists of people, goods and so on an epoch."""


def pack_weights(weights: Mapping[str, NDArray[np.float32]]) -> bytes:
    """Serialize weights, most of them as a byte each, scaled by the largest of their column."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for name, array in weights.items():
        if name not in BYTE_WEIGHTS:
            arrays[name] = array
            continue
        scale = np.maximum(np.abs(array).max(axis=-2, keepdims=True), 1e-12) / 127
        arrays[name] = np.round(array / scale).astype(np.int8)
        arrays[f"{name}_scale"] = scale.astype(np.float32)
    buffer = BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def measured(items: Sequence[Item]) -> str:
    """Recall and precision of labelled texts, with whatever the scrubber uses."""
    gone, right = [], []
    for item in items:
        own, replaced = judge(item)
        gone += own
        right += [touches for *_, touches in replaced]
    return f"recall {np.mean(gone):.3f} of {len(gone)}, precision {np.mean(right):.3f} of {len(right)}"


def run(args: argparse.Namespace) -> dict[str, Any]:
    from bench.tagger.network import alone, joined, train  # needs the group `train`

    others = list(pieces(args.data, args.documents, random.Random(0), 0.05))
    words = WORD.findall(" ".join(others))
    others += [*tables(TABLES, words, random.Random(2)), *ordinary(LISTS, random.Random(4))]
    others = list(with_tables(others))
    believe(-0.5)
    candidates = chain(
        pieces(args.data, args.documents, random.Random(1), 0.35),
        tables(5 * TABLES, words, random.Random(3)),
        ordinary(5 * LISTS, random.Random(5)),
    )
    wrong = list(mistaken(with_tables(candidates)))
    print(f"{len(others):,} pieces without secrets, {len(wrong):,} in which something was taken", flush=True)
    begin = unpack_weights(args.begin.read_bytes()) if args.begin else None
    nets = [
        train(args.without, (others, wrong), args.epochs, seed, alone(begin, net) if begin else None)
        for net, seed in enumerate(args.seeds)
    ]
    weights = pack_weights(joined(nets))
    print(f"{len(weights):,} bytes")
    if args.write:
        args.write.write_bytes(weights)
    if args.without:
        tagger = Tagger(unpack_weights(weights))
        classifier.load_tagger = lambda: tagger  # type: ignore[assignment]
        chance = random.Random(0)
        left = [row for name in SETS for row in templates(name) if row["id"].startswith(tuple(args.without))]
        items = [made_anew(row, chance) for row in left]
        for sure in (np.inf, 1.0, 0.5, 0.0, -0.5):
            believe(sure)
            print(f"above {sure}: {measured(items)}", flush=True)
    return {"bytes": len(weights)}


def believe(odds: float) -> None:
    """Have the tagger propose, and the check of its proposals believe, what has log odds above these."""
    classifier.SURE_LOG_ODDS = odds  # type: ignore[misc]
    evidence.SURE_LOG_ODDS = odds  # type: ignore[misc]


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, required=True, help="folder of texts that hold hardly a secret")
    parser.add_argument(
        "--without", nargs="*", default=[], help="beginnings of ids of texts to leave out and measure"
    )
    parser.add_argument("--documents", type=Path, nargs="*", default=[], help="more of them, as files")
    parser.add_argument("--epochs", type=int, default=22)
    parser.add_argument("--begin", type=Path, help="weights to go on from")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--write", type=Path, help="where to put the weights")


TAGGER = Command(__doc__, run, _options)
