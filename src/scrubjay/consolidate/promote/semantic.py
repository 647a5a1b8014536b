"""Semantic: observations, known facts -> Borne. What at least two sources say becomes a fact, or a fact surer.

Of every record its gist is looked at, never its text: numbers of pairs of rare words are held, with whose they are,
24 bytes each. Only what shares a pair with another source is read. Likeness nominates,
sentences are the same fact only where they are the same words in the same order, and none is drawn where something said
later may have changed it (``change``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from scrubjay.consolidate.order import order
from scrubjay.consolidate.promote.alike import Form, Place, overtaken, wording
from scrubjay.consolidate.promote.drawn import Drawn, confidence, drawn, source, usable
from scrubjay.consolidate.promote.facts import facts, plain
from scrubjay.consolidate.promote.gist import Gist, ground_of, places, sentence
from scrubjay.consolidate.promote.shared import Shared
from scrubjay.memory.records import Record

Told = Iterable[tuple[Record, Gist]]
"""Records, each with its gist."""
Get = Callable[[Collection[str]], Iterable[Record]]
"""Gives the records of some ids, whole."""


@dataclass(frozen=True, slots=True)
class Support:
    """What bears out a fact that is known already.

    Attributes:
        memory: Id of the known memory.
        confidence: How sure it is by all that says it; never less than it was.
        before: How sure it was.
        evidence: Ids of what says it and is not yet among its evidence, sorted, each with its share.
    """

    memory: str
    confidence: float
    evidence: tuple[tuple[str, float], ...]
    before: float


@dataclass(frozen=True, slots=True)
class Borne:
    """What is borne out.

    Attributes:
        facts: New facts, sorted by key, project and text.
        supports: What is known and borne out by more than it knew of, sorted by id.
    """

    facts: tuple[Drawn, ...]
    supports: tuple[Support, ...]


def semantic(told: Told, get: Get, known: Iterable[Record], evidence: Mapping[str, Collection[str]]) -> Borne:
    """Return the facts that observations bear out.

    Args:
        told: All records in any order; observations are looked at, archived ones too.
        get: Where the texts are.
        known: Memories of tiers semantic and lesson, of every status: what was superseded or archived is not
            drawn again.
        evidence: Ids that each known memory already rests on.
    """
    shared = Shared()
    for record, gist in told:
        if gist.said and usable(record):
            shared.note(record, (place for said in gist.said for place in places(record, said)))
    wanted = shared.wanted()
    forms: dict[Place, Form] = {}
    blocks: defaultdict[int, set[Place]] = defaultdict(set)
    for record in get(wanted.records) if wanted.records else ():
        for text in facts(record):
            _put(record, text, wanted.pairs, forms, blocks)
    for record in known:
        if record.origin != "untrusted":
            _put(record, " ".join(record.content.split()), wanted.pairs, forms, blocks)
    changed = overtaken(forms, blocks)
    found: list[Drawn] = []
    supports: list[Support] = []
    for place in sorted(forms.keys() - changed):
        _settle(forms[place], evidence, (found, supports))
    found.sort(key=lambda one: (one.key, one.project or "", one.text))
    return Borne(tuple(found), tuple(sorted(supports, key=lambda one: one.memory)))


def _put(
    record: Record,
    text: str,
    pairs: Collection[int],
    forms: dict[Place, Form],
    blocks: Mapping[int, set[Place]],
) -> None:
    said = sentence(text)
    held = [mark for mark in places(record, said) if mark in pairs]
    if not held:
        return
    place = (record.key, ground_of(record, said), plain(text))
    form = forms.setdefault(place, Form(text, [], []))
    form.text = min(form.text, text, key=wording)
    (form.said if record.tier == "observation" else form.known).append(record)
    for mark in held:
        blocks[mark].add(place)


def _settle(
    form: Form, evidence: Mapping[str, Collection[str]], out: tuple[list[Drawn], list[Support]]
) -> None:
    said = sorted({record.id: record for record in form.said}.values(), key=order)
    known = form.known
    count = len({source(record) for record in said})
    if count < 2:
        return
    if not known:
        out[0].append(drawn("semantic", form.text, "", said, said[0].event))
        return
    active = [record for record in known if record.status == "active"]
    if not active:
        return
    one = min(active, key=lambda record: (record.recorded_at, record.id))
    missing = sorted({record.id for record in said} - set(evidence.get(one.id, ())))
    sure = max(one.confidence, confidence(count))
    if missing or sure > one.confidence:
        shares = tuple((memory, 1 / len(said)) for memory in missing)
        out[1].append(Support(one.id, sure, shares, one.confidence))
