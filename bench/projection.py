"""Fit the projection of the late-interaction model on a folder of texts that are in no evaluation set.

The first eigenvectors of the uncentred second moment of its token vectors keep the most of every dot product. A
rotation then spreads their variance evenly over all numbers, which changes no cosine and lets a quantiser with one step
serve all. The mean of the projected vectors, which is most of their length, is the last row.
"""

from __future__ import annotations

import argparse
import io
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.command import Command, HollowError
from scrubjay.embeddings.base import unit_rows
from scrubjay.embeddings.late_interaction import DIMENSIONS, STEPS, LateInteractionEmbedder, TokenCodec

TEXTS = 3_000
"""Paragraphs that are read: about 200,000 tokens."""
LENGTHS = range(40, 1_500)
"""Characters of a paragraph that is read."""


def paragraphs(folder: Path) -> list[str]:
    found = set()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            text = path.read_text("utf-8", "ignore")
            found |= {part.strip() for part in re.split(r"\n\s*\n", text) if len(part.strip()) in LENGTHS}
    chosen = sorted(found)
    random.Random(1).shuffle(chosen)
    return chosen[:TEXTS]


def fit(tokens: NDArray[np.float32], dimensions: int) -> NDArray[np.float16]:
    """Return the table of `scrubjay.embeddings.late_interaction.TokenCodec`: projection, then the mean."""
    moment = tokens.astype(np.float64).T @ tokens / len(tokens)
    _, vectors = np.linalg.eigh(moment)
    rotation, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((dimensions, dimensions)))
    projection = (vectors[:, : -dimensions - 1 : -1] @ rotation).astype(np.float16)
    mean = unit_rows(tokens @ projection.astype(np.float32)).mean(axis=0)
    return np.concatenate([projection, mean[None].astype(np.float16)])


def code_error(table: NDArray[np.float32], tokens: NDArray[np.float32], bits: int) -> float:
    """Return by how much the cosine of a projected vector and a coded one is off, root mean square over pairs."""
    codec = TokenCodec(table[:-1], table[-1], bits)
    rows = unit_rows(codec.project(tokens[:: max(1, len(tokens) // 4_000)]))
    coded = unit_rows(codec.decode(codec.encode(rows)).astype(np.float32))
    return float(np.sqrt(np.mean((rows[:500] @ rows.T - rows[:500] @ coded.T) ** 2)))


def run(args: argparse.Namespace) -> Mapping[str, Any]:
    texts = paragraphs(args.texts)
    if not texts:
        raise HollowError(f"{args.texts} holds no paragraph of {LENGTHS.start} to {LENGTHS.stop} characters")
    tokens = np.concatenate(LateInteractionEmbedder(args.model).token_vectors(texts))
    table = fit(tokens[: -len(tokens) // 10], args.dimensions)
    held_back = tokens[-len(tokens) // 10 :]
    projected = held_back @ table[:-1].astype(np.float32)
    kept = float((projected**2).sum() / (held_back**2).sum())
    errors = {bits: round(code_error(table.astype(np.float32), held_back, bits), 4) for bits in STEPS}
    draft = io.BytesIO()
    np.save(draft, table)
    args.out.write_bytes(draft.getvalue())
    print(f"{len(texts)} texts, {len(tokens)} tokens, {kept:.3f} of squared length kept: {args.out}")
    print(f"error of a cosine by codes of so many bits, root mean square: {errors}")
    return {"texts": len(texts), "tokens": len(tokens), "kept": round(kept, 4), "errors": errors}


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--texts", type=Path, required=True, help="folder of text files")
    parser.add_argument("--out", type=Path, required=True, help="file to write (.npy)")
    parser.add_argument("--dimensions", type=int, default=DIMENSIONS, help="numbers of a projected vector")
    parser.add_argument("--model", type=Path, help="folder of another model; the bundled one when left out")


PROJECTION = Command(__doc__, run, options)
