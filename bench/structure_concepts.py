"""Structure, concepts: labelled passages and the trees they come from -> recall and precision of linking.

``python bench/structure_concepts.py DATA [--half dev|test|dev2|test2|both|again] [--wrong]``. Discovery runs over a
whole tree as the product cuts it (``chunk_text``); the dictionary it finds is looked for in the labelled passages. Nothing
is given by hand.

How a passage is scored (bench/labels/GUIDELINES.md): a concept that was linked is a hit when one of its names,
or what matched, is a required surface or its canonical name; neutral when that is so of an optional one, or
when what matched lies in or around a required surface; wrong otherwise. Spellings are compared in their normal
form, a last word in the plural counting as its singular. Recall is over required items, precision over hits and
wrong ones. Intervals are 95 % percentiles of bootstrap samples of passages.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "labels"))
import check
import sample

from scrubjay.entities.discovery import DiscoveredName, DiscoveryPassage, discover_names
from scrubjay.entities.matcher import EntityMatcher
from scrubjay.entities.normalization import normalize_name
from scrubjay.ingest.chunker import chunk_text
from scrubjay.ingest.reader import extract_metadata
from scrubjay.models.graph import Entity
from scrubjay.text.markdown import extract_links

WINDOW = 4_000_000
"""Characters that are discovered over at once, as a sync of a large tree does."""
RESAMPLES, SEED = 2000, 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """One passage: how many required items were linked, and what the linked concepts were."""

    name: str
    half: str
    required: int
    found: int
    hits: int
    wrong: tuple[str, ...]
    missed: tuple[str, ...]


def seen(path: str, text: str) -> Iterator[DiscoveryPassage]:
    """A document's passages as the pipeline hands them to discovery."""
    facts = extract_metadata(text, path=path)
    for passage in chunk_text(text, name=PurePosixPath(path).name):
        body = text[passage.start : passage.end]
        named = tuple(
            target.name for target in extract_links(body) if target.rule == "wikilink" and target.name
        )
        yield DiscoveryPassage(body, passage.title, passage.heading_path, facts.tags, named, path)


def windows(data: Path, name: str) -> Iterator[list[DiscoveryPassage]]:
    """A set's documents in windows."""
    window: list[DiscoveryPassage] = []
    size = 0
    for doc, document, text in sample.documents(data, name):
        turn = name in ("locomo", "longmemeval_s")
        if text.strip():
            window += [DiscoveryPassage(text, "", (), (), (), document)] if turn else seen(doc, text)
        size += len(text)
        if size > WINDOW:
            yield window
            window, size = [], 0
    if window:
        yield window


def dictionary(data: Path, name: str) -> tuple[list[DiscoveredName], float, int]:
    """What is discovered in a set, with the seconds and the characters that took."""
    known: dict[str, DiscoveredName] = {}
    seconds, size = 0.0, 0
    for window in windows(data, name):
        start = time.perf_counter()
        for found in discover_names(window):
            known.setdefault(normalize_name(found.name), found)
        seconds += time.perf_counter() - start
        size += sum(len(one.text) for one in window)
    return list(known.values()), seconds, size


def singular(name: str) -> str:
    """A normal form with its last word without a plural's ending."""
    form = normalize_name(name)
    if form.endswith("ies"):
        return form[:-3] + "y"
    if form.endswith(("xes", "ches", "shes", "sses")):
        return form[:-2]
    return form[:-1] if form.endswith("s") and not form.endswith("ss") else form


def forms(names: Sequence[str]) -> frozenset[str]:
    """Normal forms of names, with those of generic types without their parameters."""
    return frozenset(singular(name) for name in names) | frozenset(
        singular(name.partition("<")[0]) for name in names if "<" in name[1:]
    )


def outcome(row: check.Row, text: str, matcher: EntityMatcher, concepts: dict[str, Entity]) -> Outcome:
    """Judge what is linked in one passage."""
    required = [forms(pair) for pair in row["required"]]
    optional = frozenset[str]().union(*(forms(pair) for pair in row["optional"]), frozenset())
    surfaces = [f" {singular(surface)} " for surface, _ in row["required"]]
    left, hits, wrong = set(range(len(required))), 0, []
    for mention in matcher.match(text):
        concept = concepts[mention.concept]
        matched = text[mention.start : mention.end]
        mine = forms((concept.name, *concept.aliases, matched))
        here = {index for index, forms_ in enumerate(required) if forms_ & mine}
        if here:
            hits += 1
            left -= here
        elif not mine & optional:
            form = f" {singular(matched)} "
            if not any(form in surface or surface in form for surface in surfaces):
                wrong.append(f"{matched}|{concept.kind}")
    missed = tuple(row["required"][index][0] for index in sorted(left))
    total = len(required)
    return Outcome(row["set"], row["split"], total, total - len(left), hits, tuple(wrong), missed)


def outcomes(data: Path, half: str, *, told: bool = True) -> list[Outcome]:
    """Judge every labelled passage of one half, or of both."""
    halves = {"both": ("dev", "test"), "again": ("dev2", "test2")}.get(half, (half,))
    rows = [(row, text) for row, text in check.labelled(data) if row["split"] in halves]
    judged = []
    for name in dict.fromkeys(row["set"] for row, _ in rows):
        found, seconds, size = dictionary(data, name)
        if told:
            kinds = " ".join(
                f"{kind} {count}" for kind, count in Counter(f.kind for f in found).most_common()
            )
            print(
                f"{name:22} {size / 1e6:6.1f} MB discovered in {seconds:6.2f} s: {len(found):5} concepts, {kinds}"
            )
        concepts = {
            f"con_{at}": Entity(f"con_{at}", "", f.name, f.aliases, f.kind) for at, f in enumerate(found)
        }
        matcher = EntityMatcher(concepts.values())
        judged += [outcome(row, text, matcher, concepts) for row, text in rows if row["set"] == name]
    return judged


def figures(judged: Sequence[Outcome]) -> tuple[float, float, float]:
    """Recall, precision and F1 over passages."""
    required, found = sum(one.required for one in judged), sum(one.found for one in judged)
    hits, wrong = sum(one.hits for one in judged), sum(len(one.wrong) for one in judged)
    recall, precision = found / max(1, required), hits / max(1, hits + wrong)
    return recall, precision, 2 * recall * precision / max(1e-9, recall + precision)


def line(title: str, judged: Sequence[Outcome]) -> str:
    """One line: passages, recall, precision, F1, each with its interval."""
    draw = np.random.default_rng(SEED)
    picks = draw.integers(0, len(judged), (RESAMPLES, len(judged)))
    spread = np.array([figures([judged[at] for at in pick]) for pick in picks])
    low, high = np.percentile(spread, (2.5, 97.5), axis=0)
    cells = [f"{mean:.3f} [{a:.3f}, {b:.3f}]" for mean, a, b in zip(figures(judged), low, high, strict=True)]
    return f"{title:28} {len(judged):3} passages  recall {cells[0]}  precision {cells[1]}  F1 {cells[2]}"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--half", choices=("dev", "test", "both", "dev2", "test2", "again"), default="both")
    parser.add_argument("--wrong", action="store_true", help="list what was wrong and what was missed")
    asked = parser.parse_args()
    judged = outcomes(asked.data, asked.half)
    for half in dict.fromkeys(one.half for one in judged):
        mine = [one for one in judged if one.half == half]
        for name in dict.fromkeys(one.name for one in mine):
            print(line(f"{half} {name}", [one for one in mine if one.name == name]))
        print(line(f"{half}, all", mine))
    if asked.wrong:
        for name in dict.fromkeys(one.name for one in judged):
            print(
                name,
                "WRONG",
                Counter(w for one in judged if one.name == name for w in one.wrong).most_common(60),
            )
            print(
                name,
                "MISSED",
                Counter(w for one in judged if one.name == name for w in one.missed).most_common(60),
            )


if __name__ == "__main__":
    main()
