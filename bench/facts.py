"""Statements: how well they are extracted, learned, verified and superseded, without a language model.

`facts`: labelled turns (labels/FACTS.md, "Scoring"), with intervals over resampled turns. Assistants' turns give
nothing, as in the product. With DATA (the development data) also LongMemEval's answers that a person stated.
``answer``: one of at most eight content words, all of them in the evidence turns: are all in these turns' statements?
``sentence``: does a statement hold half of the content words that question and answer share with the evidence
sentence that shares most of them? ``--speed``: processor time of 50 words by people, the best of several rounds.

`learned`: sessions synced as transcripts, each in a store of its own. A line of FILE is a ``session`` with ``date``,
``turns`` (``role``, ``text``) and ``statements``, which are sentences of it. A learned statement is right when it lies
within a labelled sentence or holds one; all are printed, for readers to judge what is not labelled.

`ownership`: sentences labelled with whose they are (labels/FACTS.md, "Whose it is"), by the rule alone and as turns of
a project: what is learned of them, and which of a project's rules then hold in all projects. Those are the harm.

`vouching`: what the verifier of a model's statements accepts of three stand-ins for the model. ``perfect`` proposes
each labelled fact word for word: the most that a model can add. ``eager`` proposes every sentence and part between
commas. ``lying`` proposes labelled facts with one number, negation, word or order changed: all must be refused.

`changes`: verdicts of the change check on labelled pairs (labels/CHANGES.md); a ``duplicate`` counts as ``new``, since
both statements stay either way.

`supersede`: pairs of statements (``old``, ``new``, ``old_date``, ``new_date``, ``same_session``, ``kind``), added to an
empty store. Of a ``compatible`` or ``unclear`` pair neither may be superseded; a ``change`` should supersede.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bench.command import Command, HollowError
from bench.data import find_sets, load, rows
from bench.metrics import RESAMPLES, SEED, figure, shown
from scrubjay import Memory
from scrubjay.config.loader import load_settings
from scrubjay.consolidation.llm import verify_answer
from scrubjay.facts.claims import parse_claim
from scrubjay.facts.conflicts import VERDICTS, Verdict, classify_change, count_denials
from scrubjay.facts.extractor import Statement, find_statements
from scrubjay.facts.lexicon import language_evidence
from scrubjay.facts.ownership import is_personal
from scrubjay.facts.quantities import statement_tokens
from scrubjay.models.lifecycle import NewMemory
from scrubjay.text.language import function_words
from scrubjay.text.paraphrase import NEGATIONS, claim_words
from scrubjay.text.summaries import text_units
from scrubjay.text.tokenizer import stem_word

LABELS = Path(__file__).parent / "labels"
SHORTER_SHARE, LONGER_SHARE = 1 / 2, 1 / 3
"""Shares of the words of the shorter and the longer of two spans that must be common (FACTS.md)."""
ROUNDS = 15
LONGEST_ANSWER = 8
NOT_STATED = ("single-session-assistant", "single-session-preference")
"""LongMemEval's categories whose answers no person stated."""
_WORD = re.compile(r"[^\W_]+(?:['’.,:][^\W_]+)*")

Row = dict[str, Any]


def labelled(file: str | Path) -> list[Row]:
    """The rows of a JSONL file; a bare name is one of ``labels/``."""
    found = [json.loads(line) for line in (LABELS / file).read_text("utf-8").splitlines() if line.strip()]
    if not found:
        raise HollowError(f"{file} is empty.")
    return found


def facts(args: argparse.Namespace) -> Row:
    turns = labelled(f"facts_{args.half}.jsonl")
    scores = [score_turn(turn) for turn in turns]
    result: Row = {"half": args.half, **summary(scores)}
    print(f"{args.half}: {len(turns)} turns, {result['facts']} facts, {result['extracted']} extracted")
    for name in ("precision", "recall", "junk"):
        print("  {:9} {:.3f}  [{:.3f}, {:.3f}]".format(name, *result[name]))
    confused = (f"{a}>{b} {n}" for (a, b), n in sorted(_kinds(scores).items()) if a != b)
    print(f"  kinds right {result['kind right']:.3f}; label > found:", "  ".join(confused))
    if args.wrong:
        print("\n".join(note for score in scores for note in score.notes))
    if args.speed:
        result["us per 50 words"] = speed([turn["text"] for turn in turns if turn["role"] == "user"])
        print(f"  {result['us per 50 words']:.0f} us per 50 words")
    if args.data is not None:
        result["longmemeval"] = longmemeval(args.data, args.sample, misses=args.wrong)
    return result


@dataclass(slots=True)
class TurnScore:
    """Counts of one turn: labelled facts, those that were extracted, and right and wrong statements."""

    facts: int = 0
    found: int = 0
    right: int = 0
    wrong: int = 0
    notes: list[str] = field(default_factory=list)
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)


def score_turn(turn: Row) -> TurnScore:
    """Compare a labelled turn with the statements extracted from it."""
    text = turn["text"]
    statements = find_statements(text) if turn["role"] == "user" else ()
    score = TurnScore(facts=len(turn["facts"]))
    for fact in turn["facts"]:
        hit = next((one for one in statements if hits(text, one, fact["quote"])), None)
        score.found += hit is not None
        if hit:
            score.kinds[fact["kind"], hit.kind] += 1
        else:
            score.notes.append(f"{turn['id']} missed {fact['kind']}: {fact['quote']!r}")
    for statement in statements:
        if hits_any(text, statement, turn["facts"]):
            score.right += 1
        elif not hits_any(text, statement, turn["optional"]):
            score.wrong += 1
            score.notes.append(f"{turn['id']} WRONG {statement.kind} ({statement.rule}): {statement.text!r}")
    return score


def hits(text: str, statement: Statement, quote: str) -> bool:
    """Whether a statement and a quote share half of the words of the shorter and a third of the longer."""
    at = text.index(quote)
    ours = {word.start() for word in _WORD.finditer(text, statement.start, statement.end)}
    theirs = {word.start() for word in _WORD.finditer(text, at, at + len(quote))}
    shared = len(ours & theirs)
    shorter, longer = sorted((len(ours), len(theirs)))
    return shared > 0 and shared >= SHORTER_SHARE * shorter and shared >= LONGER_SHARE * longer


def hits_any(text: str, statement: Statement, labels: Sequence[Row]) -> bool:
    return any(hits(text, statement, label["quote"]) for label in labels)


def summary(scores: Sequence[TurnScore]) -> Row:
    """Precision, recall and wrong statements per 100 turns, each as [value, low, high]; and counts."""
    table = np.array([(one.facts, one.found, one.right, one.wrong, 1) for one in scores], np.float64)
    rng = np.random.default_rng(SEED)
    sums = np.array([table[rng.integers(0, len(table), len(table))].sum(axis=0) for _ in range(RESAMPLES)])
    measures = {
        "precision": lambda s: s[2] / max(s[2] + s[3], 1),
        "recall": lambda s: s[1] / max(s[0], 1),
        "junk": lambda s: 100 * s[3] / s[4],
    }
    kinds = _kinds(scores)
    return {
        name: [
            float(value(table.sum(axis=0))),
            *map(float, np.nanpercentile([value(one) for one in sums], [2.5, 97.5])),
        ]
        for name, value in measures.items()
    } | {
        "turns": len(scores),
        "facts": sum(one.facts for one in scores),
        "extracted": sum(one.right + one.wrong for one in scores),
        "kind right": sum(n for (a, b), n in kinds.items() if a == b) / max(kinds.total(), 1),
    }


def _kinds(scores: Sequence[TurnScore]) -> Counter[tuple[str, str]]:
    return sum((one.kinds for one in scores), Counter())


def speed(turns: Sequence[str]) -> float:
    """Microseconds of processor time that 50 words take to read."""
    took = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        for turn in turns:
            find_statements(turn)
        took.append(time.process_time() - begun)
    return min(took) / sum(len(turn.split()) for turn in turns) * 50e6


def longmemeval(root: Path, sample: int, *, misses: bool) -> Row:
    """Whether the evidence is among the statements of its turns, and how many statements all turns give."""
    data = load("longmemeval_s", find_sets(root, ["longmemeval_s"]).popitem()[1])
    docs = {doc.id: doc for doc in data.docs}
    relevant = next(task.relevant for task in data.tasks if task.name == "documents")
    answers = {row["_id"]: str(row["answer"]) for row in rows(data.folder / "queries.jsonl.gz")}
    outcomes: dict[str, dict[str, list[bool]]] = {"answer": defaultdict(list), "sentence": defaultdict(list)}
    for query in data.asked():
        evidence = [docs[one] for one in sorted(relevant.get(query.id, ())) if one in docs]
        turns = [doc.text for doc in evidence if doc.role == "user"]
        if not turns or query.category in NOT_STATED:
            continue
        statements = [one.text for turn in turns for one in find_statements(turn)]
        answer = content(answers[query.id])
        if answer and len(answer) <= LONGEST_ANSWER and answer <= content(" ".join(turns)):
            outcomes["answer"][query.category].append(answer <= content(" ".join(statements)))
        topic = answer | content(query.text)
        sentences = [sentence for turn in turns for _, sentence in text_units(turn)]
        key = max(sentences, key=lambda sentence: len(topic & content(sentence)))
        shared = topic & content(key)
        hit = bool(shared) and any(2 * len(shared & content(one)) >= len(shared) for one in statements)
        outcomes["sentence"][query.category].append(hit)
        if misses and not hit:
            print(f"{query.id} {query.text!r} -> {answers[query.id]!r}\n    {key!r}\n    {statements}")
    result: Row = {}
    for name, categories in outcomes.items():
        every = [hit for own in categories.values() for hit in own]
        result[name] = [sum(every) / len(every), len(every)]
        each = ", ".join(f"{c} {sum(own)}/{len(own)}" for c, own in sorted(categories.items()))
        print(f"LongMemEval, {name}: {sum(every) / len(every):.3f} of {len(every)}; {each}")
    people = [doc.text for doc in data.docs if doc.role == "user"]
    found = [statement for text in people for statement in find_statements(text)]
    result["statements per 100 turns"] = 100 * len(found) / len(people)
    print(f"  {len(found)} statements of {len(people)} turns by people")
    for one in random.Random(SEED).sample(found, sample):
        print(f"  - [{one.kind}, {one.rule}] {one.text}")
    return result


def content(text: str) -> frozenset[str]:
    """Stems of the words that are no function words; numbers as they stand."""
    words = (
        word.casefold().replace("’", "'").removesuffix("'s").replace(",", "") for word in _WORD.findall(text)
    )
    return frozenset(stem_word(word, "en") for word in words if word not in function_words("en"))


def learned(args: argparse.Namespace) -> Row:
    sessions = labelled(args.file.resolve())
    right: list[float] = []
    found: list[float] = []
    for session in sessions:
        statements = learned_from(session)
        labels = [_flat(one["text"]) for one in session["statements"]]
        for turn, text in statements:
            right.append(float(any(_meets(text, label) for label in labels)))
            print(f"{session['session']} turn {turn} {'+' if right[-1] else '?'} {text}")
        for label in labels:
            found.append(float(any(_meets(text, label) for _, text in statements)))
            if args.missed and not found[-1]:
                print(f"{session['session']} missed: {label}")
    if not right or not found:
        raise HollowError("Nothing was learned, or nothing is labelled.")
    precision, recall = figure(right), figure(found)
    each = len(right) / len(sessions)
    print(f"{len(sessions)} sessions, {len(right)} learned, {each:.1f} a session (wanted at most 2)")
    print(f"precision {shown(precision)}\nrecall {shown(recall)} of {len(found)} labelled")
    return {"a session": each, "precision": asdict(precision), "recall": asdict(recall)}


@contextmanager
def _empty_memory() -> Iterator[tuple[Memory, Path]]:
    """An empty store with default settings, and a folder beside it."""
    with tempfile.TemporaryDirectory() as place:
        (config := Path(place, "none.toml")).touch()
        with Memory.open("memory://", settings=load_settings(config, {})) as memory:
            yield memory, Path(place)


def learned_from(session: Row) -> list[tuple[int, str]]:
    """What is learned from one session: turns and texts, in order."""
    shared = {"session": session["session"], "timestamp": session["date"]}
    turns = [{"role": turn["role"], "content": turn["text"], **shared} for turn in session["turns"]]
    with _empty_memory() as (memory, folder):
        transcript = folder / f"{session['session']}.jsonl"
        transcript.write_text("".join(f"{json.dumps(turn)}\n" for turn in turns), encoding="utf-8")
        memory.sync(transcript)
        statements = []
        with memory.workspace.store.reader(memory.workspace.scope) as reader:
            derived = [record for record in reader.page("", 10_000) if record.origin == "derived"]
        for record in derived:
            evidence = memory.get(list(memory.history(record.id).evidence)).records
            statements.append(((evidence[0].turn if evidence else None) or 0, _flat(record.content)))
    return sorted(statements)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _meets(one: str, other: str) -> bool:
    return one.strip(" .!") in other or other.strip(" .!") in one


def ownership(args: argparse.Namespace) -> Row:
    sentences = labelled(f"ownership_{args.half}.jsonl")
    personal = [one["owner"] == "person" for one in sentences]
    if not any(personal) or all(personal):
        raise HollowError("All sentences have one owner.")
    promoted = [is_personal(one["text"]) for one in sentences]
    for one, said, found in zip(sentences, personal, promoted, strict=True):
        if args.wrong and said != found:
            print("WRONG" if found else "missed", one["text"])
    stored = _owners([one["text"] for one in sentences])
    pairs = list(zip(personal, promoted, strict=True))
    result: Row = {
        "sentences": len(sentences),
        "right": asdict(figure([float(said == found) for said, found in pairs])),
        "wrong promotions": asdict(figure([float(found) for said, found in pairs if not said])),
        "found": asdict(figure([float(found) for said, found in pairs if said])),
        "learned": len(stored),
        "of them the person's": sum(personal[number] for number in stored),
        "promoted": sum(owner is None for owner in stored.values()),
        "promoted wrongly": sum(owner is None and not personal[number] for number, owner in stored.items()),
    }
    print(f"{args.half}: {len(sentences)} sentences, {sum(personal)} of the person")
    for name in ("right", "wrong promotions", "found"):
        print(
            f"  {name:17} {result[name]['mean']:.3f}  [{result[name]['low']:.3f}, {result[name]['high']:.3f}]"
        )
    print("  as turns: " + ", ".join(f"{name} {result[name]}" for name in list(result)[-4:]))
    return result


def _owners(texts: Sequence[str]) -> dict[int, str | None]:
    """The project of what is learned from each text, said as a turn of a project of its own; None for all projects."""
    with _empty_memory() as (memory, _):
        turns = [
            NewMemory(text, session=f"s{number}", role="user", turn=0, project=f"p{number}")
            for number, text in enumerate(texts)
        ]
        learned = {fact: number for number, one in enumerate(memory.add_many(turns)) for fact in one.learned}
        return {number: memory.get(fact).records[0].project for fact, number in learned.items()}


def vouching(args: argparse.Namespace) -> Row:
    turns = [turn for turn in labelled(f"facts_{args.half}.jsonl") if turn["role"] == "user"]
    result = {"half": args.half, "turns": len(turns)}
    result |= perfect(turns, show=args.refused) | eager(turns) | lying(turns)
    for name, value in result.items():
        print(f"{name:24} {value}")
    return result


def perfect(turns: Sequence[Row], *, show: bool) -> dict[str, int]:
    """Facts, those that the rules find, and those that are accepted besides."""
    by_rules = more = 0
    for turn in turns:
        text = turn["text"]
        known = find_statements(text)
        accepted_ones = accepted(text, [(fact["quote"], fact["quote"]) for fact in turn["facts"]])
        for fact in turn["facts"]:
            if any(hits(text, one, fact["quote"]) for one in known):
                by_rules += 1
            elif any(hits(text, one, fact["quote"]) for one in accepted_ones):
                more += 1
            elif show:
                print(f"{turn['id']} refused: {fact['quote']!r}")
    total = sum(len(turn["facts"]) for turn in turns)
    return {"facts": total, "by the rules": by_rules, "more, perfect": more}


def eager(turns: Sequence[Row]) -> dict[str, int]:
    """Accepted sentences that are labelled facts, and accepted ones that are not."""
    right = wrong = 0
    for turn in turns:
        text = turn["text"]
        pieces = {part.strip() for _, one in text_units(text) for part in (one, *one.split(","))}
        for statement in accepted(text, [(piece, piece) for piece in sorted(pieces)]):
            is_fact = hits_any(text, statement, turn["facts"])
            right += is_fact
            wrong += not is_fact and not hits_any(text, statement, turn["optional"])
    if not right + wrong:
        raise HollowError("Nothing that an eager model proposes is accepted.")
    return {"right, eager": right, "wrong, eager": wrong}


def lying(turns: Sequence[Row]) -> dict[str, int]:
    """Lies proposed, and lies accepted, whether or not the rules find them too."""
    proposed = passed = 0
    for turn in turns:
        for fact in turn["facts"]:
            for lie in lies(fact["quote"]):
                proposed += 1
                item = {"turn": 0, "quote": fact["quote"], "kind": "fact", "statement": lie}
                answer = verify_answer([item], [turn["text"]])
                passed += bool(answer.kept.get(0) or answer.known)
    return {"lies": proposed, "lies let through": passed}


def lies(quote: str) -> Iterator[str]:
    """Variants of a quote with other words, or the same in another order."""
    same = [word.text for word in claim_words(quote)]
    for lie in _variants(quote.split()):
        if [word.text for word in claim_words(lie)] != same:
            yield lie


def _variants(words: Sequence[str]) -> Iterator[str]:
    for at, word in enumerate(words):
        left, right = words[:at], words[at + 1 :]
        yield " ".join((*left, re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), word), *right))
        yield " ".join((*left, "not", word, *right))
        yield " ".join((*left, word, "Lisbon", *right))
        if {one.text for one in claim_words(word)} & NEGATIONS:
            yield " ".join((*left, *right))
        if right:
            yield " ".join((*left, right[0], word, *right[1:]))


def accepted(text: str, proposals: Sequence[tuple[str, str]]) -> list[Statement]:
    """The accepted ones of (quote, statement) proposals about a turn, each verified by itself."""
    items = [
        {"turn": 0, "quote": quote, "kind": "fact", "statement": statement} for quote, statement in proposals
    ]
    return [one for item in items for one in verify_answer([item], [text]).kept.get(0, ())]


def changes(args: argparse.Namespace) -> Row:
    pairs = labelled(f"changes_{args.half}.jsonl")
    verdicts = [classify_change(pair["old"], pair["new"]) for pair in pairs]  # also loads the tables
    pairs = [pair | {"label": wanted_verdict(pair["label"])} for pair in pairs]
    judged = list(zip(pairs, verdicts, strict=True))
    for function in (parse_claim, statement_tokens, language_evidence, count_denials):
        function.cache_clear()
    cold, warm = _microseconds(pairs), _microseconds(pairs)
    accuracy = figure([float(verdict.verdict == pair["label"]) for pair, verdict in judged])
    print(f"{args.half}: {len(pairs)} pairs, accuracy {shown(accuracy)}")
    print(f"{cold:.0f} us of processor time a pair, both statements unseen; {warm:.0f} both read before")
    print("\n".join(_confusion(judged)))
    topics: dict[str, list[bool]] = defaultdict(list)
    for pair, verdict in judged:
        topics[pair["about"]].append(verdict.verdict == pair["label"])
    for about, right in sorted(topics.items()):
        print(f"{about:12} {sum(right):4} of {len(right)}")
    for pair, verdict in judged if args.wrong else ():
        if verdict.verdict != pair["label"]:
            called = f"{pair['label']}, called {verdict.verdict} ({verdict.rule})"
            print(f"{pair['id']} {pair['about']}: {called}\n    {pair['old']}\n    {pair['new']}")
    return {"half": args.half, "accuracy": asdict(accuracy), "us": [cold, warm]}


def wanted_verdict(label: str) -> str:
    return "new" if label == "duplicate" else label


def _microseconds(pairs: Sequence[Row]) -> float:
    begun = time.process_time()
    for pair in pairs:
        classify_change(pair["old"], pair["new"])
    return (time.process_time() - begun) / len(pairs) * 1e6


def _confusion(judged: Sequence[tuple[Row, Verdict]]) -> Iterator[str]:
    counts = Counter((pair["label"], verdict.verdict) for pair, verdict in judged)
    yield f"{'label / called':14}" + "".join(f"{name:>12}" for name in VERDICTS)
    for label in VERDICTS:
        yield f"{label:14}" + "".join(f"{counts[label, name]:12}" for name in VERDICTS)
    for name in VERDICTS:
        if called := sum(counts[label, name] for label in VERDICTS):
            yield f"precision of {name}: {counts[name, name] / called:.3f} of {called}"


def supersede(args: argparse.Namespace) -> Row:
    pairs = labelled(args.file.resolve())
    if not {"change", "compatible"} <= {pair["kind"] for pair in pairs}:
        raise HollowError(f"{args.file} has no changes or no compatible pairs.")
    outcomes = [(pair, outcome(pair)) for pair in pairs]
    result: Row = {}
    for kind, name in (
        ("compatible", "superseded (wanted 0)"),
        ("unclear", "superseded (wanted 0)"),
        ("change", "superseded (wanted .7)"),
    ):
        own = [float(found["superseded"]) for pair, found in outcomes if pair["kind"] == kind]
        if not own:  # only some sets have unclear pairs
            continue
        result[kind] = asdict(share := figure(own))
        print(f"{kind} pairs {name}: {sum(own):.0f} of {len(own)}, {shown(share)}")
    marked = [found["newer"] for pair, found in outcomes if pair["kind"] == "compatible"]
    named = [found["superseded"] or found["newer"] for pair, found in outcomes if pair["kind"] == "change"]
    result["named"], result["marked"] = sum(named), sum(marked)
    result["dropped"] = sum(found["dropped"] for _, found in outcomes)
    print(f"changes superseded or named as newer: {sum(named)} of {len(named)}")
    print(f"compatible pairs named as newer: {sum(marked)} of {len(marked)}")
    print(f"pairs of which one was dropped (wanted 0): {result['dropped']}")
    for pair, found in outcomes if args.wrong else ():
        if found["superseded"] != (pair["kind"] == "change"):
            newer = ", named as newer" if found["newer"] else ""
            print(f"{pair['id']} {pair['kind']}{newer}:\n    {pair['old']}\n    {pair['new']}")
    return result


def outcome(pair: Row) -> dict[str, bool]:
    """What becomes of one pair: one superseded, the new one named as newer, one dropped."""
    with _empty_memory() as (memory, _):
        session = "s" if pair["same_session"] else None
        old = memory.add(pair["old"], date=pair["old_date"], session=session)
        new = memory.add(pair["new"], date=pair["new_date"], session=session)
        records = memory.get(list({old.id, new.id})).records
        results = memory.search(pair["old"], min_relevance=0).results
        return {
            "superseded": any(record.status == "superseded" for record in records),
            "newer": any(new.id in result.newer for result in results if result.id == old.id),
            "dropped": new.existed or len(records) != 2,
        }


def _fact_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", nargs="?", type=Path, help="the development data, for LongMemEval")
    _half(parser)
    parser.add_argument("--wrong", action="store_true", help="print missed facts and wrong statements")
    parser.add_argument("--speed", action="store_true", help="measure how long reading takes")
    parser.add_argument("--sample", type=int, default=0, help="LongMemEval's statements to print")


def _half(parser: argparse.ArgumentParser, *more: str) -> None:
    parser.add_argument("--half", choices=("dev", "dev2", "dev3", *more, "test"), default="dev")


def _learned_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", type=Path, default=LABELS / "sessions_dev.jsonl")
    parser.add_argument("--missed", action="store_true", help="print labelled sentences that are not learned")


def _ownership_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--half", choices=("dev", "test"), default="dev")
    parser.add_argument(
        "--wrong", action="store_true", help="print sentences with another owner than labelled"
    )


def _vouching_options(parser: argparse.ArgumentParser) -> None:
    _half(parser)
    parser.add_argument("--refused", action="store_true", help="print labelled facts that are refused")


def _change_options(parser: argparse.ArgumentParser) -> None:
    _half(parser, "fit")
    parser.add_argument("--wrong", action="store_true", help="print wrong verdicts")


def _supersede_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", type=Path, default=LABELS / "supersede_dev.jsonl")
    parser.add_argument("--wrong", action="store_true", help="print pairs with a wrong outcome")


FACTS = Command(__doc__, facts, _fact_options)
LEARNED = Command(__doc__, learned, _learned_options)
OWNERSHIP = Command(__doc__, ownership, _ownership_options)
VOUCHING = Command(__doc__, vouching, _vouching_options)
CHANGES = Command(__doc__, changes, _change_options)
SUPERSEDE = Command(__doc__, supersede, _supersede_options)
