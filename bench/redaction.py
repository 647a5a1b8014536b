"""Redaction: how many labelled secrets it removes, what else it replaces, and which published formats it leaves.

`secrets`: the rules of labels and scores, and the sets, are in tagger/SECRETS.md: each tagger/secrets_SET.jsonl is one;
``both`` is dev and test, ``blind`` is test6 to test10. Rules and tagger were made with all others in sight, so that
those no longer say how much of unseen text is found. ``--exchanges`` reads tagger/exchanges_SET.jsonl: conversations
of a few turns, each added to a store by its own call, as hooks and the proxy do, and read when the conversation is
over.

`formats`: token formats that need no word near them, of betterleaks' ``config/betterleaks.toml`` (MIT) and
kingfisher's ``crates/kingfisher-rules/data/rules`` (Apache-2.0), as they were in November 2026, as templates in
tagger/formats.tsv. Samples of each are put into a sentence that names nothing. Keys that are public by intent, ids that
open nothing, and formats that need a vendor's name near are left out.

`redactions`: everything that is replaced in files of notes and conversations, with forty characters on either side.
Markdown and plain text are read, those in a tar.gz as well, and the texts of ``corpus.jsonl``, packed or not; a turn of
a session is read with the two before it. Only a reader can tell which replacements are false.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import tarfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any, Final

from bench.command import Command, HollowError
from bench.metrics import figure, shown
from bench.tagger.items import SEED, Item, exchanges, items, made_anew, sets
from scrubjay import Memory
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.redaction import REDACTOR_VERSION
from scrubjay.redaction.redactor import redact_text

MARK = re.compile(r"\[(?:secret:[\w-]+|private)\](?:[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]*)")
GROUPS = {"both": ("dev", "test"), "blind": ("test6", "test7", "test8", "test9", "test10")}
LEAST = 8
"""Characters of a secret that may stay; of a long one a quarter may, by which its owner knows it."""
SAMPLES: Final = 20
SENTENCE: Final = "Then the output showed {} and nothing more."
NEAR: Final = 40
SUFFIXES: Final = (".md", ".markdown", ".txt", ".rst")


def run(args: argparse.Namespace) -> dict[str, Any]:
    if args.exchanges:
        return turn_by_turn(args.exchanges, misses=args.misses)
    halves = GROUPS.get(args.half, (args.half,))
    rows = [item for half in halves for item in items(half)]
    found: list[float] = []
    right: list[float] = []
    wrong: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for item in rows:
        gone, replaced = judge(item)
        found += gone
        right += [float(touches) for *_, touches in replaced]
        missed[item.about] += gone.count(0.0)
        wrong[item.about] += sum(not touches for *_, touches in replaced)
        if args.misses:
            tell(item, gone, replaced)
    if not found or not right:
        raise HollowError("Nothing was measured.")
    recall, precision = figure(found), figure(right)
    print(f"{args.half}: {len(rows)} texts, {len(found)} secrets, {len(right)} stretches replaced")
    print(f"recall    {shown(recall)}   not found: {+missed}")
    print(f"precision {shown(precision)}   wrong: {+wrong}")
    result: dict[str, Any] = {"half": args.half, "scrubber": REDACTOR_VERSION, "texts": len(rows)}
    return result | {"recall": list(astuple(recall)), "precision": list(astuple(precision))}


def turn_by_turn(name: str, *, misses: bool) -> dict[str, Any]:
    gone: list[float] = []
    eaten: list[float] = []
    with Memory.open("memory://", user="bench", embedders=[HashEmbedder(64)]) as memory:
        for number, turns in enumerate(exchanges(name)):
            session = f"talk-{number}"
            for place, turn in enumerate(turns):
                memory.add(turn.text, session=session, turn=place, role=("user", "assistant")[place % 2])
            with memory.workspace.store.reader(memory.workspace.scope) as reader:
                after = [one.content for one in reader.turns(session, 0, len(turns))]
            secrets = [
                float(not _left(turn.text[start:end], text))
                for turn, text in zip(turns, after, strict=True)
                for start, end in turn.secrets
            ]
            changed = [turn.text for turn in turns] != after
            gone += secrets
            eaten += [] if secrets else [float(changed)]
            if misses and (0.0 in secrets or (changed and not secrets)):
                print(f"  {turns[0].about}: {[turn.text for turn in turns]} became {after}")
    if not gone or not eaten:
        raise HollowError("Nothing was measured.")
    recall, wrong = figure(gone), figure(eaten)
    print(f"exchanges {name}: {sum(gone):.0f} of {len(gone)} secrets gone, {shown(recall)}")
    print(f"without a secret: {sum(eaten):.0f} of {len(eaten)} changed, {shown(wrong)}")
    result: dict[str, Any] = {"set": name, "scrubber": REDACTOR_VERSION}
    return result | {"recall": list(astuple(recall)), "changed": list(astuple(wrong))}


def judge(item: Item) -> tuple[list[float], list[tuple[int, int, bool]]]:
    """For each secret 1.0 where it is gone; and each replaced stretch that counts, with whether it is right."""
    after = redact_text(item.text).text
    gone = [float(not _left(item.text[start:end], after)) for start, end in item.secrets]
    replaced = []
    for start, end in stretches(item.text, after):
        if _touches((start, end), item.secrets):
            replaced.append((start, end, True))
        elif not _touches((start, end), item.optional):
            replaced.append((start, end, False))
    return gone, replaced


def stretches(before: str, after: str) -> list[tuple[int, int]]:
    """Where in the text before something was replaced."""
    if before == after:
        return []
    pattern = "(.*?)".join(re.escape(part) for part in MARK.split(after))
    match = re.fullmatch(pattern, before, re.DOTALL)
    if match is None:
        raise ValueError(f"{after!r} is not {before!r} with stretches replaced")
    return [match.span(group + 1) for group in range(match.re.groups) if match[group + 1]]


def tell(item: Item, gone: Sequence[float], replaced: Sequence[tuple[int, int, bool]]) -> None:
    for (start, end), is_gone in zip(item.secrets, gone, strict=True):
        if not is_gone:
            print(f"  missed {item.id} {item.about}: {item.text[start:end][:60]!r} in {item.text[:150]!r}")
    for start, end, touches in replaced:
        if not touches:
            print(f"  wrong  {item.id} {item.about}: {item.text[start:end][:60]!r} in {item.text[:150]!r}")


def _left(secret: str, after: str) -> bool:
    size = min(len(secret), max(LEAST, len(secret) // 4 + 1))
    return any(secret[at : at + size] in after for at in range(len(secret) - size + 1))


def _touches(span: tuple[int, int], others: Sequence[tuple[int, int]]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in others)


def formats(args: argparse.Namespace) -> dict[str, Any]:
    lines = (Path(__file__).parent / "tagger" / "formats.tsv").read_text("utf-8").splitlines()
    left: dict[str, int] = {}
    for name, form in (line.split("\t") for line in lines):
        tokens = samples(name, form)
        remaining = sum(sample in redact_text(SENTENCE.format(sample)).text for sample in tokens)
        if remaining:
            left[name] = remaining
            print(f"  {name}: {remaining} of {SAMPLES} stay, such as {tokens[0][:60]}")
    print(f"{len(lines)} forms, {len(left)} of which some stay")
    return {"scrubber": REDACTOR_VERSION, "forms": len(lines), "left": left}


def samples(name: str, form: str) -> list[str]:
    """Tokens of a format, always the same."""
    chance = random.Random(f"{SEED}:{name}")
    row = {"id": name, "about": name, "text": form}
    return [made_anew(row, chance).text for _ in range(SAMPLES)]


def redactions(args: argparse.Namespace) -> dict[str, Any]:
    files = characters = replaced = 0
    seconds = 0.0
    for place, text, before in (document for root in args.paths for document in documents(root)):
        files += 1
        characters += len(text)
        began = time.process_time()
        after = redact_text(text, before=before).text
        seconds += time.process_time() - began
        for start, end in stretches(text, after):
            if MARK.fullmatch(text, start, end):
                continue
            replaced += 1
            line = text.count("\n", 0, start) + 1
            before, after = text[max(0, start - NEAR) : start], text[end : end + NEAR]
            print(f"{place}:{line}: {before!r} >>{text[start:end]!r}<< {after!r}")
    if not characters:
        raise HollowError("Nothing was measured.")
    rate = replaced * 1e6 / characters
    print(f"{files} files, {characters} characters, {replaced} replaced, {rate:.2f} in a million characters")
    speed = characters / 1e6 / max(seconds, 1e-9)
    print(f"{speed:.2f} million characters a second of processor time, loading included")
    counts = {
        "files": files,
        "characters": characters,
        "replaced": replaced,
        "per_million": rate,
        "speed": speed,
    }
    return {"scrubber": REDACTOR_VERSION} | counts


def documents(root: Path) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The texts of a file, or of the files below a folder, each with its place and the turns before it."""
    paths = sorted(path for path in root.rglob("*") if path.is_file()) if root.is_dir() else [root]
    for path in paths:
        if path.name.endswith(".tar.gz"):
            with tarfile.open(path) as tar:
                for member in tar:
                    file = tar.extractfile(member) if member.name.endswith(SUFFIXES) else None
                    if file:
                        yield f"{path.name}/{member.name}", file.read().decode("utf-8", "replace"), ()
        elif path.name.startswith("corpus.jsonl"):
            with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as lines:
                session, before = None, ()
                for row in map(json.loads, lines):
                    # Turns stand in their order, a session after the other.
                    before = before[-2:] if row.get("session") == session is not None else ()
                    yield f"{path.parent.name}/{row['_id']}", row["text"], before
                    session, before = row.get("session"), (*before, row["text"])
        elif path.suffix in SUFFIXES:
            yield str(path), path.read_text("utf-8", "replace"), ()


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--half", choices=(*sets(), *GROUPS), default="dev", help="the set")
    parser.add_argument("--exchanges", choices=("dev", "test"), help="a set of conversations instead")
    parser.add_argument("--misses", action="store_true", help="print what went wrong")


def _paths(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", type=Path)


SECRETS = Command(__doc__, run, _options)
FORMATS = Command(__doc__, formats)
REDACTIONS = Command(__doc__, redactions, _paths)
