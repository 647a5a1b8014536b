"""Static embeddings: the bundled token table and its byte-pair tokenizer.

Importing the library and parsing its 1.8 MB file costs 160 ms, half of what a cold search may take; this reads a 0.5 MB
table. It is faster in bulk, too: no merge of this vocabulary crosses the edges of ``_UNIT``, so each distinct word is
merged once. ``compile_table`` refuses a vocabulary that breaks the rule.

The bundled model is WordLlama's ``l2_supercat``, 256 dimensions, 32,000 tokens (MIT). Only the files of its wheel are
read: the package's loader would download a tokenizer that is in the wheel. Any other table of token vectors
(model2vec's, for one) can be used from a folder.
"""

from __future__ import annotations

import hashlib
import heapq
import json
import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from scrubjay.embeddings.base import (
    even_spans,
    file_sha256,
    package_file,
    replace_surrogates,
    unit_rows,
    verify_file,
    write_cache,
)
from scrubjay.errors import ProviderError
from scrubjay.frozen import frozen
from scrubjay.models.ids import EmbeddingModel
from scrubjay.text.normalize import normalize_typography

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.embeddings.base import TextKind


MAGIC = b"scrubjay-bpe-01\n"
MAX_CACHED_UNITS = 1 << 16
"""Distinct words whose ids are cached, about 10 MB."""
LONGEST_CACHED_UNIT = 72
"""Longer units (encoded data, mostly) hardly ever recur."""

SEARCHES_BEFORE_DICT = 4096
"""Binary searches before a dictionary of merges is built, which takes 8 ms; a query needs about 100."""

_SPECIAL = {"<unk>": 0, "<s>": 1, "</s>": 2}
_AROUND_SPECIAL = re.compile("(<unk>|<s>|</s>)")
# Letters; other characters but new line; blanks at the end; the first two with the blanks before them. "²" is a
# letter to `\w` and no digit to `\d`, yet the vocabulary merges it with punctuation. ASCII is tried first: its
# classes are faster, and the second expression, for texts whose letters are all ASCII, is faster still.
_UNIT = re.compile(
    " *+(?:[A-Za-z]++[^\\W\\d_²]*+|(?>(?:[!-@\\[-`{-~]++|[^\\w \n]|[\\d_²])+)|[^\\W\\d_²]++)| ++|\n"
)
_UNIT_ASCII = re.compile(" *+(?:[A-Za-z]++|[^A-Za-z \n]++)| ++|\n")

LONGEST_RUN_TOKEN = 16
"""Length of the longest run of one character that is a token."""
_RUN = re.compile(r"([ ./=_*#-])\1{63,}")
"""A run so long that its two ends do not meet; of characters whose `LONGEST_RUN_TOKEN` is a token."""

SHORT_UNIT = 24
"""Characters up to which a unit is merged without a heap."""
NO_MERGE = 1 << 40
"""Sorts after every merge: ranks and ids fill 32 bits."""

FindMerge: TypeAlias = Callable[[int, int], int]
"""Returns the merge of a pair, or the given default."""


@frozen
class BpeTable:
    """A BPE vocabulary in the form merging needs.

    Attributes:
        characters: Id of each character that is a token; of a blank, that of "▁".
        byte_ids: Id of each of the 256 byte tokens, for other characters.
        pairs: Sorted uint32, ``left id << 16 | right id`` of each pair that merges.
        merges: For each pair ``rank << 16 | id of both``; the lowest rank goes first.
    """

    characters: dict[str, int]
    byte_ids: tuple[int, ...]
    pairs: memoryview
    merges: memoryview


class BpeTokenizer:
    """Turns a text into token ids; caches the words it has met."""

    def __init__(self, table: BpeTable) -> None:
        self._units = _UnitCache(table)

    def __call__(self, text: str) -> NDArray[np.uint16]:
        """``<s>``, ``</s>`` and ``<unk>`` in the text are those tokens, as in the library; no others are added."""
        parts = _AROUND_SPECIAL.split(text) if "<" in text else [text]
        ids = [self._encode_part(part) for part in parts]
        return np.frombuffer(ids[0] if len(ids) == 1 else b"".join(ids), np.uint16)

    def _encode_part(self, part: str) -> bytes:
        special = _SPECIAL.get(part)
        if special is not None or not part:
            return b"" if special is None else array("H", (special,)).tobytes()
        part = " " + part.replace("▁", " ")
        pattern = _UNIT_ASCII if normalize_typography(part).isascii() else _UNIT
        return b"".join(map(self._units.__getitem__, pattern.findall(part)))


class _UnitCache(dict[str, bytes]):
    def __init__(self, table: BpeTable) -> None:
        self._table = table
        self._searches = 0
        self._find: FindMerge = self._search

    def __missing__(self, unit: str) -> bytes:
        ids = array("H", self._merge(unit)).tobytes()
        if len(unit) <= LONGEST_CACHED_UNIT:
            if len(self) >= MAX_CACHED_UNITS:
                self.clear()
            self[unit] = ids
        return ids

    def _merge(self, unit: str) -> Sequence[int]:
        run = _RUN.search(unit) if len(unit) > LONGEST_CACHED_UNIT else None
        # The longest run is recognised by a token that no other run of the unit may contain.
        if run is None or unit.count(run[1]) - len(run[0]) >= LONGEST_RUN_TOKEN:
            ids = self._character_ids(unit)
            return (_merge_short if len(ids) <= SHORT_UNIT else _merge_long)(ids, self._find)
        omitted = len(run[0]) // LONGEST_RUN_TOKEN - 3
        shortened = unit[: run.start()] + unit[run.start() + omitted * LONGEST_RUN_TOKEN :]
        ids = array("H", self[shortened]).tolist()
        (run_token,) = _merge_short(self._character_ids(run[1] * LONGEST_RUN_TOKEN), self._find)
        at = ids.index(run_token)
        return [*ids[:at], *[run_token] * omitted, *ids[at:]]

    def _search(self, pair: int, never: int) -> int:
        """Find a pair's merge by binary search; after ``SEARCHES_BEFORE_DICT``, by a dictionary."""
        table = self._table
        self._searches += 1
        if self._searches == SEARCHES_BEFORE_DICT:
            self._find = dict(zip(table.pairs.tolist(), table.merges.tolist(), strict=True)).get
        at = bisect_left(table.pairs, pair)
        return table.merges[at] if at < len(table.pairs) and table.pairs[at] == pair else never

    def _character_ids(self, unit: str) -> list[int]:
        ids: list[int] = []
        for character, id in zip(unit, map(self._table.characters.get, unit), strict=True):
            if id is None:
                ids += [self._table.byte_ids[byte] for byte in character.encode("utf-8", "replace")]
            else:
                ids.append(id)
        return ids


def _merge_short(ids: list[int], find: FindMerge) -> list[int]:
    """Look over all pairs for each merge: four times as fast as a heap for the words of a language."""
    ids = list(ids)
    merges = [find(left << 16 | right, NO_MERGE) for left, right in pairwise(ids)]
    while merges and (best := min(merges)) != NO_MERGE:
        at = merges.index(best)
        ids[at] = both = best & 0xFFFF
        del ids[at + 1], merges[at]
        if at:
            merges[at - 1] = find(ids[at - 1] << 16 | both, NO_MERGE)
        if at < len(merges):
            merges[at] = find(both << 16 | ids[at + 1], NO_MERGE)
    return ids


def _merge_long(ids: list[int], find: FindMerge) -> list[int]:
    """The same with a heap, in O(n log n): a megabyte without a blank is one unit."""
    end = len(ids)
    after = list(range(1, end + 1))
    before = list(range(-1, end - 1))
    heap: list[tuple[int, int, int, int]] = []

    def push(i: int, j: int) -> None:
        merge = find(ids[i] << 16 | ids[j], NO_MERGE)
        if merge != NO_MERGE:
            heapq.heappush(heap, (merge, i, ids[i], ids[j]))

    for i in range(end - 1):
        push(i, i + 1)
    while heap:
        merge, i, left, right = heapq.heappop(heap)
        j = after[i]
        if ids[i] != left or j >= end or ids[j] != right:
            continue  # one of the two has been merged with another since
        ids[i], ids[j] = merge & 0xFFFF, -1
        after[i] = after[j]
        if after[i] < end:
            before[after[i]] = i
            push(i, after[i])
        if before[i] >= 0:
            push(before[i], i)
    return [id for id in ids if id >= 0]


def load_table(path: Path, expected: str, cache_dir: Path | None) -> BpeTable:
    """Read the vocabulary from the cache folder, or compile it there from the tokenizer's JSON.

    ``expected`` is the sha256 of the compiled table: the JSON's own differs between releases of the wheel that hold the
    same vocabulary in another order.
    """
    cache = None if cache_dir is None else cache_dir / f"static-{expected[:12]}.bpe"
    body = None if cache is None else _read_compiled(cache, expected)
    if body is None:
        body = compile_table(path)
        actual = hashlib.sha256(body).hexdigest()
        if actual != expected:
            raise ProviderError(
                f"Tokenizer {path} holds vocabulary {actual[:12]}…, expected {expected[:12]}….",
                hint=_REINSTALL,
            )
        if cache is not None:
            write_cache(cache, MAGIC + body)
    return _unpack(body)


def compile_table(path: Path) -> bytes:
    """Return the tokenizer's JSON as little-endian uint32: counts, characters, byte tokens, merges, all sorted.

    Raises:
        ProviderError: The file cannot be read, or describes another kind of tokenizer.
    """
    try:
        raw: Any = json.loads(path.read_bytes())
        model: dict[str, Any] = raw["model"]
        vocabulary: dict[str, int] = model["vocab"]
        specials = {token["content"]: token["id"] for token in raw["added_tokens"]}
        pairs = [m if isinstance(m, str) else " ".join(m) for m in model["merges"]]  # by rank
        sides = np.array([vocabulary[side] for pair in pairs for side in pair.split(" ")], np.uint32)
        both = np.array([vocabulary[pair.replace(" ", "")] for pair in pairs], np.uint32)
        bytes_named = [f"<0x{byte:02X}>" for byte in range(256)]
        byte_ids = [vocabulary[name] for name in bytes_named]
        is_expected = model["byte_fallback"] is True and raw["pre_tokenizer"] is None and specials == _SPECIAL
    except OSError as exc:
        raise ProviderError(f"Tokenizer {path} cannot be read: {exc.strerror}.") from exc
    except (KeyError, TypeError, ValueError) as exc:
        raise ProviderError(f"Tokenizer {path} is not a tokenizer file: {exc!r}.") from exc
    words = vocabulary.keys() - _SPECIAL - set(bytes_named)
    if not is_expected or not all(_UNIT.fullmatch(word.replace("▁", " ")) for word in words):
        raise ProviderError(
            f"Tokenizer {path} is not the byte-fallback BPE that the static model was made with."
        )
    characters = sorted((ord(token), id) for token, id in vocabulary.items() if len(token) == 1)
    keys = sides[::2] << 16 | sides[1::2]
    order = np.argsort(keys)
    header = [
        len(characters),
        len(keys),
        *byte_ids,
        *(code for code, _ in characters),
        *(i for _, i in characters),
    ]
    merges = np.arange(len(keys), dtype=np.uint32) << 16 | both
    return np.concatenate((np.array(header, np.uint32), keys[order], merges[order])).astype("<u4").tobytes()


def _read_compiled(path: Path, expected: str) -> bytes | None:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise ProviderError(f"Cache {path} cannot be read: {exc.strerror}.", hint=f"rm {path}") from exc
    body = data[len(MAGIC) :]
    is_valid = data.startswith(MAGIC) and hashlib.sha256(body).hexdigest() == expected
    return body if is_valid else None


def _unpack(body: bytes) -> BpeTable:
    flat = np.frombuffer(body, dtype="<u4").astype(np.uint32)
    characters, merges = int(flat[0]), int(flat[1])
    edges = np.cumsum([2, 256, characters, characters, merges, merges]).tolist()
    byte_ids, codes, ids, pairs, values = (flat[a:b] for a, b in pairwise(edges))
    character_ids = dict(zip(map(chr, codes.tolist()), ids.tolist(), strict=True))
    character_ids[" "] = character_ids["▁"]
    return BpeTable(character_ids, tuple(byte_ids.tolist()), pairs.data, values.data)


if TYPE_CHECKING:
    Ids: TypeAlias = "NDArray[np.integer] | list[int]"
    TableAndTokenizer: TypeAlias = "tuple[NDArray[Any], Callable[[Sequence[str]], Sequence[Ids]]]"

WEIGHTS = "weights/l2_supercat_256.safetensors"
WEIGHTS_SHA256 = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
TABLE_SHA256 = "1d56f820265bbd0b504de7dd35b5720e5d7780b735515caab296fd0c82111cbc"
STATIC_MODEL = "wordllama-l2-supercat"
STATIC_DIMENSIONS = 256
STATIC_WINDOW = 256
"""A mean over more tokens blurs: a longer text is scored by its best window."""
BULK_TEXTS = 50_000
"""Tokens in one call from which on its rows are copied to float32 (10 MB): four times faster, and the same bits."""

_REINSTALL = "pip install --force-reinstall --no-deps wordllama==0.2.2.post0"
_DTYPES: dict[str, np.dtype[Any]] = {"F16": np.dtype("<f2"), "F32": np.dtype("<f4")}


class StaticEmbedder:
    """A table of token vectors; weights are memory-mapped at the first text, so processes share the pages.

    ``folder`` has one ``*.safetensors`` file with one 2-D table and a ``tokenizer.json``; None is the bundled model.
    """

    def __init__(self, folder: Path | None = None, *, cache_dir: Path | None = None) -> None:
        self._folder = folder
        self._cache_dir = cache_dir
        self._model: EmbeddingModel | None = None
        self._open: TableAndTokenizer | None = None

    @property
    def model(self) -> EmbeddingModel:
        if self._folder is None:
            return EmbeddingModel(
                "bundled", STATIC_MODEL, WEIGHTS_SHA256[:12], STATIC_DIMENSIONS, "mean", STATIC_WINDOW
            )
        if self._model is None:
            weights, tokenizer = _custom_files(self._folder)
            sums = "+".join(file_sha256(path, self._cache_dir)[:12] for path in (weights, tokenizer))
            self._model = EmbeddingModel(
                "local", self._folder.name, sums, _map_weights(weights).shape[1], "mean", STATIC_WINDOW
            )
        return self._model

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> list[NDArray[np.float32]]:
        table, tokenise = self._load()
        ids = tokenise(texts)
        if table.dtype != np.float32 and sum(map(len, ids)) > BULK_TEXTS:
            table, ids = _used_rows(table, ids)
        return _mean_rows(table, ids)

    def tokens(self, texts: Sequence[str]) -> tuple[NDArray[Any], list[NDArray[np.int64]]]:
        """Return the table of token vectors, a row each of any length, and the rows of each text, in order."""
        table, tokenise = self._load()
        return table, [np.asarray(ids, dtype=np.int64) for ids in tokenise(texts)]

    def _load(self) -> TableAndTokenizer:
        if self._open is None:
            self._open = self._open_bundled() if self._folder is None else _open_custom(self._folder)
        return self._open

    def _open_bundled(self) -> TableAndTokenizer:
        folder = package_file("wordllama")
        if folder is None:
            raise ProviderError("The bundled static model is not installed.", hint=_REINSTALL)
        verify_file(folder / WEIGHTS, WEIGHTS_SHA256, self._cache_dir, hint=_REINSTALL)
        bpe = BpeTokenizer(load_table(folder / TOKENIZER, TABLE_SHA256, self._cache_dir))
        return _map_weights(folder / WEIGHTS), lambda texts: [bpe(text) for text in texts]


def _used_rows(table: NDArray[Any], texts: Sequence[Ids]) -> tuple[NDArray[Any], Sequence[Ids]]:
    """Return the rows of these ids in float32, and the ids as rows of that."""
    used = np.flatnonzero(np.bincount(np.concatenate([np.asarray(ids, np.intp) for ids in texts])))
    places = np.zeros(len(table), np.intp)
    places[used] = np.arange(len(used))
    return table[used].astype(np.float32), [places[ids] for ids in texts]


def _mean_rows(table: NDArray[Any], texts: Sequence[Ids]) -> list[NDArray[np.float32]]:
    """Return the unit mean of each window; the sum has the mean's direction, so nothing is divided."""
    windows = [even_spans(len(ids), STATIC_WINDOW) for ids in texts]
    sums = np.zeros((sum(map(len, windows)), table.shape[1]), dtype=np.float32)
    free_rows = iter(sums)
    for ids, spans in zip(texts, windows, strict=True):
        for start, end in spans:
            # Row after row in float32: the same sum whether the table is float16 or its float32 copy.
            rows = table.take(ids[start:end], axis=0).astype(np.float32, copy=False)
            np.add.reduce(rows, axis=0, out=next(free_rows))
    ends = list(accumulate((len(spans) for spans in windows), initial=0))
    units = unit_rows(sums)
    return [units[start:end] for start, end in pairwise(ends)]


def _map_weights(path: Path) -> NDArray[Any]:
    """Memory-map the only 2-D tensor of a safetensors file; the library would copy what it loads.

    8 bytes little-endian length of a JSON header, the header, the data (https://huggingface.co/docs/safetensors).
    """
    try:
        with path.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            header: dict[str, Any] = json.loads(stream.read(min(length, 1 << 20)))
        tables = [
            entry for key, entry in header.items() if key != "__metadata__" and len(entry["shape"]) == 2
        ]
        if len(tables) != 1 or tables[0]["dtype"] not in _DTYPES:
            raise ProviderError(f"Model file {path} holds {len(tables)} float tables; exactly one is needed.")
        mapped: NDArray[Any] = np.memmap(
            path,
            dtype=_DTYPES[tables[0]["dtype"]],
            mode="r",
            offset=8 + length + tables[0]["data_offsets"][0],
            shape=tuple(tables[0]["shape"]),
        )
    except OSError as exc:
        raise ProviderError(f"Model file {path} cannot be read: {exc.strerror}.", hint=_REINSTALL) from exc
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise ProviderError(f"Model file {path} is not a safetensors file: {exc}.") from exc
    return np.asarray(mapped)


def _custom_files(folder: Path) -> tuple[Path, Path]:
    weights = sorted(folder.glob("*.safetensors"))
    tokenizer = folder / "tokenizer.json"
    if len(weights) != 1 or not tokenizer.is_file():
        raise ProviderError(
            f"Static model folder {folder} holds {len(weights)} *.safetensors files and "
            f"{'a' if tokenizer.is_file() else 'no'} tokenizer.json; one of each is needed."
        )
    return weights[0], tokenizer


def _open_custom(folder: Path) -> TableAndTokenizer:
    from tokenizers import Tokenizer

    weights, path = _custom_files(folder)
    table = _map_weights(weights)
    try:
        tokenizer = Tokenizer.from_str(path.read_text(encoding="utf-8"))
    except Exception as exc:  # the library raises it bare
        raise ProviderError(f"Tokenizer {path} cannot be read: {exc}.") from exc
    if tokenizer.get_vocab_size() > len(table):
        raise ProviderError(
            f"Tokenizer {path} has {tokenizer.get_vocab_size()} tokens, {weights.name} {len(table)} rows."
        )
    tokenizer.no_padding()
    tokenizer.no_truncation()

    def tokenise(texts: Sequence[str]) -> list[list[int]]:
        # One by one: encode_batch would start threads, after which the library warns at every fork.
        return [tokenizer.encode(replace_surrogates(text), add_special_tokens=False).ids for text in texts]

    return table, tokenise
