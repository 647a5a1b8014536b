"""What a model pays for the results of `memory_search`: tokens of whole answers, and of what stands beside the texts.

``DIR`` is a set as of `mixed`: notes and sessions, synced into one store. Each question is asked through the tool, with
its own defaults; only answers of six results are counted. Tokens are counted by both bundled vocabularies: Llama 2's,
which takes each digit for itself, and BERT's. ``json`` is what clients showed before: the structured result with
snippets of 700 characters. ``ends whole``: the share of texts that end with a sentence or line; ``holds``: the share of
questions whose first six results show the sentence that answers.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import mean
from typing import Any

from bench.command import Command, HollowError, Row
from bench.harness import embedders, open_memory, scratch
from bench.mixed import write_transcripts
from bench.serving import count_tokens
from scrubjay.api.serializers import compact_answer
from scrubjay.api.tools import find_tool, reply_to_tool
from scrubjay.embeddings.onnx import bert_tokenizer
from scrubjay.text.normalize import CUT_MARK

SIX = 6
SENTENCE_END = re.compile(rf"[.!?:|`)\"']{CUT_MARK}?$|[^{CUT_MARK}]$")


def run(args: argparse.Namespace) -> dict[str, Any]:
    questions = [json.loads(line) for line in (args.dir / "questions.jsonl").read_text("utf-8").splitlines()]
    vocabularies = {"llama2": count_tokens, "bert": _bert_counter()}
    told: list[dict[str, Any]] = []
    holds: dict[str, list[bool]] = {"text": [], "json": []}
    with scratch() as folder:
        shutil.copytree(args.dir / "notes", folder / "notes")
        write_transcripts(args.dir / "sessions", folder / "sessions")
        with open_memory(folder / "memory.db", embedders()) as memory:
            for name in ("notes", "sessions"):
                memory.sync(folder / name)
            for question in questions:
                text = reply_to_tool(memory, find_tool("memory_search"), {"query": question["q"]}).text
                fields = compact_answer(memory.search(question["q"]))
                quotes = [" ".join(gold["quote"].split()) for gold in question["gold"]]
                texts = _texts(text)
                shown = {"text": texts, "json": [one["snippet"] for one in fields["results"]]}
                for form, parts in shown.items():
                    seen = [" ".join(part.split()) for part in parts]
                    holds[form].append(any(quote in part for quote in quotes for part in seen))
                if len(texts) == SIX:
                    told.append(
                        {"text": text, "texts": texts, "json": json.dumps(fields, ensure_ascii=False)}
                    )
    if not told:
        raise HollowError(f"None of {len(questions)} questions has {SIX} results.")
    found: dict[str, Any] = {"answers": len(told), "questions": len(questions)}
    for name, count in vocabularies.items():
        whole = mean(count(one["text"]) for one in told)
        beside = mean(count(one["text"]) - sum(map(count, one["texts"])) for one in told)
        found[name] = {
            "json": round(mean(count(one["json"]) for one in told)),
            "text": round(whole),
            "beside each text": round(beside / SIX, 1),
        }
    every = [part for one in told for part in one["texts"]]
    found["words"] = round(mean(len(part.split()) for part in every), 1)
    found["ends whole"] = round(mean(bool(SENTENCE_END.search(part)) for part in every), 3)
    found["holds"] = {form: round(mean(each), 3) for form, each in holds.items()}
    print(json.dumps(found, indent=1))
    return found


def _bert_counter() -> Callable[[str], int]:
    tokenizer = bert_tokenizer()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def _texts(text: str) -> list[str]:
    """Return the texts of the results, as they were before each line was quoted."""
    blocks = re.findall(r"(?:^>.*\n)+", text, re.MULTILINE)
    return [re.sub(r"^> ?", "", block, flags=re.MULTILINE).rstrip("\n") for block in blocks]


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dir", type=Path, nargs="?", default=Path(__file__).parent / "labels" / "mixed_dev")


def _rows(result: Mapping[str, Any]) -> list[Row]:
    what = f"tokens of six results of memory_search, {result['answers']} answers: json before, text now"
    names = ("llama2", "bert", "words", "ends whole", "holds")
    return [(what, "; ".join(f"{name} {result[name]}" for name in names), "sync")]


TOOL_TOKENS = Command(__doc__, run, _options, _rows)
