"""Oracle: what consolidation can cost recall at best, before any of it is wired into the product.

    python bench/oracle.py DATA [--set longmemeval_s] [--questions N] [--when question|half|later] [--only a,b]
                           [--json FILE] [--log]

The state that a consolidation leaves is built directly, through ``Memory`` alone: sessions older than 14 days lose
turns (archived ones leave default results, so they are left out) and get a digest, a memory of tier crystal with
the session's id, whose hit counts for the session, as a person would follow its evidence. ``--when question`` takes
the question's date as now, so that a fourth of the sessions are old; ``half`` the day on which half of each
haystack's are; ``later`` a day a year on, when all are. Recall is of sessions, on words and the static model;
differences are paired with all turns.

Exit code 1 when the run was hollow.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time as clock
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ask import HollowError, embedders, open_memory
from data import DataError, Doc, Query, find_sets, load, spaces
from kit import CONCEPT, MEMORY, kit
from metrics import DEPTH, SEED, Figure, difference, figure, first_seen, measure
from report import circumstances, log_rows, short, shown, table, write_json
from scrubjay import Memory
from scrubjay.consolidation.summary import MAX_SHARE, Digest, distil_digest, verbatim_sentences
from scrubjay.models.dates import micros, to_datetime
from scrubjay.models.lifecycle import NewMemory
from scrubjay.models.records import EventTime, Record
from scrubjay.search.request import MAX_RESULTS
from scrubjay.text.display import estimate_tokens
from scrubjay.text.tokenizer import index_terms

METRICS = ("recall@5", "hit@5", "all@5", "ndcg@10")
AFTER_DAYS = 14
DAY = 86_400_000_000
LATER = 365 * DAY
TURNS = 100
"""Results asked for at first, from which sessions are ranked; doubled until they name ten."""

Session = Sequence[Record]
State = tuple[list[Record], str]
"""Turns that stay active, and the digest's text; empty for none."""
Variant = Callable[[Session], State]


@dataclass(slots=True)
class Cost:
    """What a variant left of the old sessions.

    Attributes:
        turns: Turns before.
        active: Turns after.
        tokens: Tokens of the turns that digests were made of.
        digest: Tokens of the digests.
        words: Words of the same turns, and
        digest_words: of their digests.
        seconds: Spent making them.
        ranked: Question to its sessions, best first.
    """

    turns: int = 0
    active: int = 0
    tokens: int = 0
    digest: int = 0
    words: int = 0
    digest_words: int = 0
    seconds: float = 0.0
    ranked: dict[str, list[str]] = field(default_factory=dict)


def variants() -> dict[str, Variant]:
    """The states that are compared, by name; the first is the one before consolidation."""
    rng = random.Random(SEED)

    def at_random(session: Session) -> State:
        chosen = set(rng.sample(range(len(session)), len(session) // 2))
        return [record for place, record in enumerate(session) if place in chosen], ""

    def ours(session: Session) -> str:
        return _text(distil_digest(session))

    return {
        "all turns": lambda session: (list(session), ""),
        "half at random": at_random,
        "half without the redundant": lambda session: (_unlike(session), ""),
        "users' turns": lambda session: (_said(session), ""),
        "Kit's digest": lambda session: ([], _kit(session)),
        "Kit's order at our size": lambda session: ([], _kit_filled(session)),
        "digest": lambda session: ([], ours(session)),
        "digest and users' turns": lambda session: (_said(session), ours(session)),
    }


def _text(digest: Digest | None) -> str:
    return digest.text if digest else ""


def _said(session: Session) -> list[Record]:
    """The person's turns, at most half of all."""
    return [record for record in session if record.role == "user"][: len(session) // 2]


def _unlike(session: Session) -> list[Record]:
    """Half of the turns: again and again the one goes whose terms the others hold most of."""
    bags = {record.id: set(index_terms(record.content).counts) for record in session}
    left = list(session)
    while len(left) > len(session) // 2:
        held: dict[str, int] = {}
        for record in left:
            for term in bags[record.id]:
                held[term] = held.get(term, 0) + 1

        def alone(record: Record, held: Mapping[str, int] = held) -> tuple[float, str]:
            own = bags[record.id]
            return sum(held[term] == 1 for term in own) / (1 + len(own)), record.id

        left.remove(min(left, key=alone))
    return left


def _rated(session: Session) -> list[tuple[float, int, str]]:
    """Every sentence with Kit's score and its place, the best first."""
    found = [(-kit(text), text) for record in session for text in verbatim_sentences(record.content)]
    return sorted((score, place, text) for place, (score, text) in enumerate(found))


def _kit(session: Session) -> str:
    best: list[tuple[float, int, str]] = []
    for place, record in enumerate(session):
        best += [(score, 1000 * place + i, text) for score, i, text in _rated([record])[:MEMORY]]
    return " ".join(text for _, _, text in sorted(sorted(best)[:CONCEPT], key=lambda one: one[1]))


def _kit_filled(session: Session) -> str:
    room = int(MAX_SHARE * sum(estimate_tokens(record.content) for record in session))
    taken = []
    for _, place, text in _rated(session):
        if estimate_tokens(text) <= room:
            taken.append((place, text))
            room -= estimate_tokens(text)
    return " ".join(text for _, text in sorted(taken))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    args = _parser().parse_args(arguments)
    try:
        result = run(args)
    except (DataError, HollowError) as error:
        print(f"oracle: {error}", file=sys.stderr)
        return 1
    print(shown_table(result))
    write_json(args.json, result)
    if args.log:
        log_rows(_log(result))
    return 0


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Build every variant of every haystack, ask, and score.

    Raises:
        HollowError: The set has no sessions, none was old, or nothing was found.
    """
    [(name, folder)] = find_sets(args.data, [args.set]).items()
    data = load(name, folder)
    relevant = next((task.relevant for task in data.tasks if task.name == "session"), None)
    if relevant is None or not data.haystacks:
        raise HollowError(f"Set {name} has no judged sessions in haystacks.")
    chosen = {n: v for n, v in variants().items() if not args.only or n in args.only.split(",")}
    costs = {n: Cost() for n in chosen}
    models = embedders()
    old = sessions = 0
    with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as place:
        for number, space in enumerate(spaces(data, data.asked(args.questions))):
            query = space.queries[0]
            young, aged = _by_age(space.docs, _now(query, space.docs, args.when))
            old, sessions = old + len(aged), sessions + len(aged) + len({r.session for r in young})
            for variant, make in chosen.items():
                memories = [_memory(record) for record in young]
                for session in aged:
                    memories += _after(session, make, costs[variant])
                file = Path(place) / f"{number % 8}.db"
                with open_memory(
                    file, models, f"{len(costs)}-{number}-{variant}", connect=(), learn=()
                ) as memory:
                    memory.add_many(memories)
                    costs[variant].ranked[query.id] = _sessions(memory, query.text)
            print(f"\r{number + 1}", end="", file=sys.stderr, flush=True)
    if not old or not any(cost.ranked for cost in costs.values()):
        raise HollowError(f"{old} of {sessions} sessions were old.")
    return {
        "what": "oracle", "set": name, "when": args.when, **circumstances(),
        "questions": len(data.asked(args.questions)), "old": old / sessions,
        "variants": summarise(costs, relevant),
    }  # fmt: skip


def summarise(costs: Mapping[str, Cost], relevant: Mapping[str, frozenset[str]]) -> dict[str, Any]:
    """Figures and paired differences from the first variant, with what each leaves."""
    scores = {
        name: {q: measure(ranked, relevant[q]) for q, ranked in cost.ranked.items() if q in relevant}
        for name, cost in costs.items()
    }
    base = next(iter(scores.values()))
    return {
        name: {
            "active": cost.active / cost.turns,
            "tokens": cost.digest / cost.tokens if cost.tokens else 0.0,
            "words": cost.digest_words / cost.words if cost.words else 0.0,
            "ms_per_turn": 1000 * cost.seconds / cost.turns,
            "metrics": {
                metric: asdict(figure([row[metric] for row in scores[name].values()]))
                | {
                    "against_all": asdict(
                        difference(
                            [scores[name][q][metric] for q in base], [r[metric] for r in base.values()]
                        )
                    )
                }
                for metric in METRICS
            },
        }
        for name, cost in costs.items()
    }


def shown_table(result: Mapping[str, Any]) -> str:
    """The result as a table: recall with its interval, differences from all turns with theirs."""
    rows = []
    for name, own in result["variants"].items():
        cells = [
            name,
            short(own["active"]),
            short(own["tokens"]),
            short(own["words"]),
            f"{own['ms_per_turn']:.2f}",
        ]
        for metric in METRICS:
            found = dict(own["metrics"][metric])
            change = Figure(**found.pop("against_all"))
            value = shown(Figure(**found)) if metric == "recall@5" else short(found["mean"])
            cells.append(
                f"{value} {change.mean:+.3f}"
                + (f" [{change.low:+.3f} {change.high:+.3f}]" if metric == "recall@5" else "")
            )
        rows.append(cells)
    head = (
        f"{result['set']} (n={result['questions']}), {result['old']:.0%} of sessions old ({result['when']})\n"
    )
    return head + table(["state", "active", "tokens", "words", "ms/turn", *METRICS], rows)


def _log(result: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    value = "; ".join(
        f"{name}: recall@5 {short(own['metrics']['recall@5']['mean'])}"
        f" ({own['metrics']['recall@5']['against_all']['mean']:+.3f}"
        f" [{own['metrics']['recall@5']['against_all']['low']:+.3f}"
        f" {own['metrics']['recall@5']['against_all']['high']:+.3f}]),"
        f" active {short(own['active'])}, digest {short(own['tokens'])} of the tokens"
        for name, own in result["variants"].items()
    )
    what = f"{result['set']} sessions (n={result['questions']}) consolidated, {result['old']:.0%} of them old"
    return [(what, value, "sync")]


def _now(query: Query, docs: Sequence[Doc], when: str) -> int:
    if when == "half":
        days = sorted({doc.session: micros(_moment(doc.ts or "")) for doc in docs}.values())
        return days[len(days) // 2] + AFTER_DAYS * DAY
    return micros(_moment(query.ts or "")) + (LATER if when == "later" else 0)


def _by_age(docs: Iterable[Doc], now: int) -> tuple[list[Record], list[list[Record]]]:
    """The turns of young sessions, and the old sessions."""
    sessions: dict[str, list[Record]] = {}
    for doc in docs:
        if doc.text.strip():
            record = _record(doc)
            sessions.setdefault(record.session or "", []).append(record)
    young: list[Record] = []
    aged = []
    for session in sessions.values():
        last = max(record.recorded_at for record in session)
        if last < now - AFTER_DAYS * DAY:
            aged.append(session)
        else:
            young += session
    return young, aged


def _moment(text: str) -> datetime:
    """A set's time, read as UTC where it has no zone."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _record(doc: Doc) -> Record:
    at = micros(_moment(doc.ts or ""))
    return Record(
        doc.id, "observation", doc.text, "", doc.title, "user:bench", "bench", at, at,
        session=doc.session, role=doc.role, turn=doc.turn, event=EventTime(at, at, "second", "UTC"),
        origin="owner" if doc.role == "user" else "agent",
    )  # fmt: skip


def _memory(record: Record) -> NewMemory:
    return NewMemory(
        record.content, title=record.title, date=to_datetime(record.recorded_at), session=record.session, role=record.role,
        turn=record.turn,
    )  # fmt: skip


def _after(session: Session, make: Variant, cost: Cost) -> list[NewMemory]:
    """What one old session leaves: its active turns and its digest."""
    begun = clock.perf_counter()
    active, digest = make(session)
    cost.seconds += clock.perf_counter() - begun
    if not digest and not active:  # too small to digest: it stays
        active = list(session)
    cost.turns += len(session)
    cost.active += len(active)
    found = [_memory(record) for record in active]
    if digest:
        cost.tokens += sum(estimate_tokens(record.content) for record in session)
        cost.digest += estimate_tokens(digest)
        cost.words += sum(index_terms(record.content).length for record in session)
        cost.digest_words += index_terms(digest).length
        found.append(
            NewMemory(
                digest,
                tier="crystal",
                date=to_datetime(session[0].recorded_at),
                session=session[0].session,
                origin="derived",
            )
        )
    return found


def _sessions(memory: Memory, question: str) -> list[str]:
    """The ten best sessions, by their first memory: a turn or the digest."""
    limit = TURNS
    while True:
        results = memory.search(question, limit=limit).results
        ranked = first_seen(result.session or "" for result in results)
        if len(ranked) >= DEPTH or len(results) < limit or limit == MAX_RESULTS:
            return ranked[:DEPTH]
        limit = min(2 * limit, MAX_RESULTS)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Measure what digests in place of turns cost recall of sessions."
    )
    parser.add_argument("data", type=Path, help="folder of sets, or one set")
    parser.add_argument("--set", default="longmemeval_s", help="a set with haystacks")
    parser.add_argument("--questions", type=int, help="ask only the first N")
    parser.add_argument(
        "--when", choices=("question", "half", "later"), default="question", help="what now is"
    )
    parser.add_argument(
        "--only", default="", help="names of variants, separated by commas; the first is compared with"
    )
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument("--log", action="store_true", help="put the figures on top of LOG.md")
    return parser


if __name__ == "__main__":
    sys.exit(main())
