"""The network of the tagger as it is trained: what scrubjay/redaction/classifier.py works out, and what it is to learn.

Needs the dependency group `train`.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from bench.tagger.items import READ, SETS, Item, made_anew, templates
from bench.tagger.texts import Text, amid, encoded, pools, scrubbed, table_rows, varied
from scrubjay.redaction.classifier import (
    BUCKETS,
    CONVOLUTION_STEPS,
    FORM_FEATURES,
    MAX_TOKENS,
    POSITION_FEATURES,
    RULE_COLUMNS,
    SCREENING_REACH,
)

TABLE, WIDTH = 32, 96
DROPPED = 0.3
LOST = 0.2
"""Share of a token's buckets that is left out while learning."""
SIZES = (32, 64, 128, 256, 400)
BATCH = 4096
FOUND = 0.98
"""Share of the secrets that are found whose surroundings must promise something."""
VARIANTS = 8
PLAIN = 1500
"""Pieces of texts without secrets an epoch."""
AMID = 0.4
"""Share of the labelled texts that are shown amid another text."""
MARKED = 0.25
"""Share of the labelled texts in which part of the secrets has given way to marks."""
RATE, DECAY = 2e-3, 1e-2
Rows = dict[str, Any]


def train(
    leaving: Sequence[str],
    without: tuple[Sequence[str], Sequence[str]],
    epochs: int,
    seed: int,
    begin: Rows | None = None,
) -> Rows:
    """Learn; `without` are pieces without secrets: some are drawn each epoch, and some are seen in all of them."""
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
        return [encoded(one, chance if read else None) for one in (item, *table_rows(item))]

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


def begun(key: Any) -> Rows:
    keys = jax.random.split(key, 8)
    marks = POSITION_FEATURES + RULE_COLUMNS
    width = TABLE + FORM_FEATURES + marks
    return {
        "table": jax.random.normal(keys[0], (BUCKETS + 1, TABLE)) * 0.1,
        "word": jax.random.normal(keys[1], (TABLE + FORM_FEATURES, WIDTH)) * width**-0.5,
        "marks": jax.random.normal(keys[2], (marks, WIDTH)) * width**-0.5,
        "bias": jnp.zeros(WIDTH),
        "mix": jax.random.normal(keys[3], (len(CONVOLUTION_STEPS), 3 * WIDTH, WIDTH))
        * (3 * WIDTH) ** -0.5
        * 0.7,
        "shift": jnp.zeros((len(CONVOLUTION_STEPS), WIDTH)),
        "out": jax.random.normal(keys[4], (WIDTH,)) * WIDTH**-0.5,
        "last": jnp.array(-2.0),
        "worth": jnp.zeros((BUCKETS + 1 + FORM_FEATURES, 4)),
        "worth bias": jnp.array(-2.0),
    }


def odds(weights: Rows, rows: Rows, key: Any = None) -> Any:
    """The log odds of each token's being of a secret; with a key some of what there is to see is left out."""
    here, there = rows["buckets"], rows["there"]
    keep = (here < BUCKETS).astype(jnp.float32)
    keys = jax.random.split(key if key is not None else jax.random.PRNGKey(0), len(CONVOLUTION_STEPS) + 4)
    if key is not None:
        keep *= jax.random.uniform(keys[0], here.shape) > LOST
        keep *= jax.random.uniform(keys[1], (*here.shape[:2], 1)) > LOST / 2
    table = weights["table"].at[BUCKETS].set(0.0)
    spelt = (table[here] * keep[..., None]).sum(2) / jnp.sqrt(jnp.maximum(keep.sum(2), 1.0))[..., None]
    word = jnp.concatenate([spelt, rows["form"]], -1) @ weights["word"]
    hidden = jax.nn.relu(word + rows["marks"] @ weights["marks"] + weights["bias"])
    hidden = _dropped(hidden, keys[2], key is not None) * there[..., None]
    length = hidden.shape[1]
    for at, step in enumerate(CONVOLUTION_STEPS):
        padded = jnp.pad(hidden, ((0, 0), (step, step), (0, 0)))
        three = [padded[:, shift : shift + length] for shift in (0, step, 2 * step)]
        mixed = jax.nn.relu(jnp.concatenate(three, -1) @ weights["mix"][at] + weights["shift"][at])
        mixed = _dropped(mixed, keys[3 + at], key is not None and at in (2, 4))
        hidden = (hidden + mixed) * there[..., None]
    return hidden @ weights["out"] + weights["last"]


def _dropped(values: Any, key: Any, really: bool) -> Any:
    return values * (jax.random.uniform(key, values.shape) > DROPPED) / (1 - DROPPED) if really else values


def promise(weights: Rows, rows: Rows) -> Any:
    """The sum of what the tokens around each are worth."""
    keep = (rows["buckets"] < BUCKETS).astype(jnp.float32)
    spelt = (weights["worth"][rows["buckets"]] * keep[..., None]).sum(2)
    worth = (
        spelt / jnp.sqrt(jnp.maximum(keep.sum(2), 1.0))[..., None]
        + rows["form"] @ weights["worth"][BUCKETS + 1 :]
    )
    near, own, after, before = jnp.moveaxis(worth * rows["there"][..., None], -1, 0)
    summed = jnp.cumsum(jnp.pad(near, ((0, 0), (SCREENING_REACH + 1, SCREENING_REACH))), 1)
    around = jnp.pad(after[:, :-1], ((0, 0), (1, 0))) + jnp.pad(before[:, 1:], ((0, 0), (0, 1)))
    return (
        summed[:, 2 * SCREENING_REACH + 1 :]
        - summed[:, : -2 * SCREENING_REACH - 1]
        + own
        + around
        + weights["worth bias"]
    )


def loss(weights: Rows, rows: Rows, key: Any) -> Any:
    """Cross entropy of the tags, and of what a token's surroundings promise."""
    count = rows["counts"] * rows["there"]
    tags = optax.sigmoid_binary_cross_entropy(odds(weights, rows, key), rows["secret"]) * count
    worth = optax.sigmoid_binary_cross_entropy(promise(weights, rows), rows["secret"]) * count
    held = 3e-6 * (weights["worth"] ** 2).sum()
    return (tags.sum() + 0.2 * (worth * (1 + 4 * rows["secret"])).sum()) / count.sum() + held


def batches(rows: list[Text], chance: random.Random) -> Iterator[Rows]:
    """Texts of about one length, together."""
    by: dict[int, list[Text]] = {}
    for row in rows:
        if len(row.secret):
            by.setdefault(_room(row), []).append(row)
    out = []
    for size, those in by.items():
        chance.shuffle(those)
        count = BATCH // size
        for at in range(0, len(those), count):
            part = those[at : at + count]
            out.append((part + [those[n % len(those)] for n in range(count - len(part))], size))
    chance.shuffle(out)
    for part, size in out:
        yield stacked(part, size)


def _room(text: Text) -> int:
    """The size that a text fits into; of one that is longer the rest is not seen."""
    return next((size for size in SIZES if len(text.secret) <= size), SIZES[-1])


def stacked(part: Sequence[Text], size: int) -> Rows:
    shape = (len(part), size)
    out = {
        "buckets": np.full((*shape, MAX_TOKENS), BUCKETS, np.int32),
        "form": np.zeros((*shape, FORM_FEATURES), np.float32),
        "marks": np.zeros((*shape, POSITION_FEATURES + RULE_COLUMNS), np.float32),
        **{name: np.zeros(shape, np.float32) for name in ("secret", "counts", "there")},
    }
    for at, text in enumerate(part):
        length = min(size, len(text.secret))
        for name, values in text._asdict().items():
            out[name][at, :length] = values[:length]
        out["there"][at, :length] = 1
    return out


def alone(held: Rows, net: int) -> Rows:
    """One network of a tagger as it is trained."""
    own = {name: array if name in ("worth", "least") else array[net] for name, array in held.items()}
    full = {name: np.insert(own[name], BUCKETS, 0, 0) for name in ("table", "worth")}
    return (
        {name: array for name, array in own.items() if name != "least"} | full | {"worth bias": -own["least"]}
    )


def joined(nets: Sequence[Rows]) -> Rows:
    """Several networks as one tagger; what is promised is what the first says."""
    together = [name for name in nets[0] if name not in ("worth", "least")]
    return nets[0] | {name: np.stack([net[name] for net in nets]) for name in together}


def least(weights: Rows, rows: Sequence[Text]) -> float:
    """What the surroundings of nearly every secret that is found promise at least."""
    found = []
    full = dict(weights) | {"worth": np.insert(weights["worth"], BUCKETS, 0, 0)}
    for text in rows:
        if text.secret.any():
            made = stacked([text], _room(text))
            values = np.asarray(_promise(full, made))[0]
            length = min(len(text.secret), SIZES[-1])
            edges = np.flatnonzero(np.diff(np.concatenate([[0], text.secret[:length], [0]])))
            tags = np.asarray(_odds(full, made))[0]
            found += [
                values[a:b].max() for a, b in zip(edges[::2], edges[1::2], strict=True) if tags[a:b].max() > 0
            ]
    return float(np.quantile(found, 1 - FOUND))


_promise, _odds = jax.jit(promise), jax.jit(odds)
