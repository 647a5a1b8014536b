"""Train the tagger: labelled texts, and texts without secrets -> the weights of scrubjay/redaction/classifier.py.

    pip install --group train
    python bench/train_tagger.py --data DIR [--documents DIR...] [--without ID...] [--epochs N] [--seeds N...]
        [--begin FILE] [--write FILE]

The labelled texts are those of labels/secrets_*.jsonl but the blind ones. What is random in them, and every second
password, is made anew eight times. In the sets from which rules were written, a quarter of what the rules find is
hidden from the tagger: of text that nobody has seen they find less. The texts below DIR and Python's own library, where
hardly anything is a secret, are shown in pieces that the rules leave alone, whole or a line, a name, some words of
each, and so are tables of numbers and names and ordinary lists: a few each epoch, and of many more all those in which
the tagger that comes with the package takes something. Of all of them tables are shown once more, row by row. So a
second run learns from the mistakes of the first; with ``--begin`` it goes on from weights that there are, at a fifth of
the rate.
``--documents`` are folders of pages and texts in which hardly anything is a secret: every second file is learnt from.

A network is trained for each seed, and the mean of all counts. Texts whose ids begin as ``--without`` says are left out
and measured: by the rules alone, and with the tagger at several thresholds.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import jax
import numpy as np
import optax

from ordinary import ordinary
from scrubbing import judge
from scrubjay.redaction import classifier, evidence
from scrubjay.redaction.classifier import BUCKETS, Tagger, pack_weights, unpack_weights
from tagger_network import Rows, alone, batches, begun, joined, least, loss
from tagger_texts import (
    WORD,
    Text,
    amid,
    encoded,
    mistaken,
    pieces,
    pools,
    scrubbed,
    tables,
    told,
    varied,
    with_tables,
)

sys.path.insert(0, str(Path(__file__).parent / "labels"))
from secret_items import Item, made_anew, templates

READ = ("dev", "test", "dev2", "test2", "test3", "test4", "dev5", "test5", "dev6")
"""The sets from which rules were written."""
SETS = (*READ, "dev7", "dev8", "dev9")
VARIANTS = 8
PLAIN = 1500
"""Pieces of texts without secrets an epoch."""
TABLES = 600
"""Tables of numbers and names among those."""
LISTS = 1000
"""Lists of people, goods and so on among those."""
AMID = 0.4
"""Share of the labelled texts that are shown amid another text."""
MARKED = 0.25
"""Share of the labelled texts in which part of the secrets has given way to marks."""
RATE, DECAY = 2e-3, 1e-2


def train(
    leaving: Sequence[str],
    without: tuple[Sequence[str], Sequence[str]],
    epochs: int,
    seed: int,
    begin: Rows | None = None,
) -> Rows:
    """Learn.

    Args:
        leaving: Beginnings of ids of what is left out.
        without: Pieces without secrets, of which each epoch sees some; and those of which it sees all.
        epochs: How often all texts are seen.
        seed: Of all that is random.
        begin: Weights to go on from.
    """
    chance = random.Random(seed)
    rows = [
        (row, name in READ)
        for name in SETS
        for row in templates(name)
        if not row["id"].startswith(tuple(leaving))
    ]
    passwords = pools([row for row, _ in rows])
    negative, always = ([encoded(Item("", "", text, (), ())) for text in some] for some in without)
    kept: list[list[Text]] = []
    weights = begin or begun(jax.random.PRNGKey(seed))
    highest = RATE / 5 if begin else RATE
    key = jax.random.PRNGKey(seed + 1)
    state: Any = None

    prose = [text for text in without[0] if text.count("\n") < len(text) / 40]

    def seen_amid(row: dict[str, str], number: int) -> dict[str, str]:
        row = varied(row, chance, passwords) if number else row
        return amid(row, chance, prose) if chance.random() < AMID else row

    def shown(row: dict[str, str], read: bool, number: int) -> list[Text]:
        item = made_anew(seen_amid(row, number), chance)
        item = scrubbed(item, chance) if chance.random() < MARKED else item
        return [encoded(one, chance if read else None) for one in (item, *told(item))]

    def epoch(number: int) -> list[Rows]:
        if number < VARIANTS:
            kept.append([text for row, read in rows for text in shown(row, read, number)])
        some = chance.sample(negative, min(PLAIN, len(negative)))
        return list(batches([*kept[number % VARIANTS], *some, *always], chance))

    first = epoch(0)
    steps = int(len(first) * 1.03 * epochs)
    rate = optax.warmup_cosine_decay_schedule(0.0, highest, steps // 20 + 1, steps, highest * 0.02)
    by = optax.adamw(rate, weight_decay=DECAY)
    state = by.init(weights)

    @jax.jit
    def step(weights: Rows, state: Any, rows: Rows, key: Any) -> Any:
        value, slope = jax.value_and_grad(loss)(weights, rows, key)
        change, state = by.update(slope, state, weights)
        return optax.apply_updates(weights, change), state, value

    for number in range(epochs):
        began, losses = time.monotonic(), []
        for part in first if not number else epoch(number):
            key, own = jax.random.split(key)
            weights, state, value = step(weights, state, part, own)
            losses.append(value)
        print(
            f"epoch {number + 1}: {float(np.mean(losses)):.4f} in {time.monotonic() - began:.0f} s",
            flush=True,
        )
    weights = jax.tree.map(np.asarray, weights)
    weights["table"] = weights["table"][:BUCKETS]
    weights["worth"] = np.concatenate([weights["worth"][:BUCKETS], weights["worth"][BUCKETS + 1 :]])
    weights["least"] = np.array(least(weights, kept[0]) - weights["worth bias"], np.float32)
    del weights["worth bias"]
    return {name: np.asarray(array, np.float32) for name, array in weights.items()}


def measured(items: Sequence[Item]) -> str:
    """Recall and precision of labelled texts, with whatever the scrubber uses."""
    gone, right = [], []
    for item in items:
        own, replaced = judge(item)
        gone += own
        right += [touches for *_, touches in replaced]
    return f"recall {np.mean(gone):.3f} of {len(gone)}, precision {np.mean(right):.3f} of {len(right)}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, measure, write; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of texts that hold hardly a secret")
    parser.add_argument(
        "--without", nargs="*", default=[], help="beginnings of ids of texts to leave out and measure"
    )
    parser.add_argument("--documents", type=Path, nargs="*", default=[], help="more of them, as files")
    parser.add_argument("--epochs", type=int, default=22)
    parser.add_argument("--begin", type=Path, help="weights to go on from")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--write", type=Path, help="where to put the weights")
    args = parser.parse_args(arguments)
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
    return 0


def believe(odds: float) -> None:
    """Have the tagger propose, and the check of its proposals believe, what has log odds above these."""
    classifier.SURE_LOG_ODDS = odds  # type: ignore[misc]
    evidence.SURE_LOG_ODDS = odds  # type: ignore[misc]


if __name__ == "__main__":
    sys.exit(main())
