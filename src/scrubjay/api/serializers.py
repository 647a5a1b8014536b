"""Serializers: results of `Memory` as JSON values, and as the compact fields and text that a model reads.

A model pays for every word, so compact results leave out default values. Memory texts stand between
delimiters and each of their lines is quoted with ``> ``: nothing in a memory, title or file name can pass
for another memory or for instructions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Final

from scrubjay.models.dates import iso_seconds, local_day, record_date, to_datetime
from scrubjay.models.records import MARKED_WRONG, TIER_PREFIXES
from scrubjay.models.results import (
    BLOCK_CLOSE,
    BLOCK_OPEN,
    NOTHING_FROM_TIME,
    Notice,
    count_strong,
    line_range,
    record_citation,
)
from scrubjay.text.display import prefix_lines, shared_by, single_line, strip_control

if TYPE_CHECKING:
    from datetime import tzinfo

    from scrubjay.errors import ScrubjayError
    from scrubjay.models.records import Record
    from scrubjay.models.reports import FetchReport
    from scrubjay.models.results import Answer, Context, ReachedMemory, Result, Thread
    from scrubjay.models.views import MemoryHistory
    from scrubjay.search.browse import ShortReference


RECORD_FIELDS: Final = (
    "id", "tier", "title", "content", "path", "line_start", "line_end", "citation", "date", "session", "role", "turn",
    "project", "agent", "tags", "status", "origin", "pinned", "confidence", "marked_wrong", "valid_from", "valid_until",
    "recorded_at",
)  # fmt: skip
"""Fields shown of a memory, in HTTP, too."""
EVIDENCE_FIELDS: Final = ("id", "tier", "content", "date", "session", "role", "turn", "status")
"""Fields shown of a piece of evidence."""
OPTIONAL_RESULT_FIELDS: Final = (
    "evidence", "statements", "copies", "copied", "valid_from", "valid_until", "turns", "newer",
    "marked_wrong", "outdated", "owner",
)  # fmt: skip
"""Fields of a search result that are left out if empty."""

REACHED_FIELDS: Final = ("found", "hops", "seed", "path", "own", "carried")
ENTRY_FIELDS: Final = ("gap", "dated", "replaced_by", "contradicts")
"""Fields of an entry of a thread, after those of its memory."""


def to_plain(value: Any) -> Any:
    """Return a dataclass or collection as dicts, lists and scalars, in field order."""
    if is_dataclass(value):
        return {item.name: to_plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    if hasattr(value, "items"):
        return {str(name): to_plain(item) for name, item in value.items()}
    return value


def answer_fields(answer: Answer, *, explain: bool = False) -> dict[str, Any]:
    nearest = _result_fields(answer.nearest, explain=explain)
    results = _result_fields(answer.results, explain=explain)
    for result in results[count_strong(one.relevance for one in answer.results) :]:
        result["weak"] = True
    return {
        "results": results,
        "partial": list(answer.partial),
        "took_ms": round(answer.took_ms, 3),
        "hidden_by_age": answer.hidden,
        "silence": answer.silence,
        **({"nearest": nearest} if nearest else {}),
        **({"as_of": answer.as_of} if answer.as_of is not None else {}),
        **({"notes": list(answer.notes)} if explain else {}),
    }


def _result_fields(answers: Iterable[Result], *, explain: bool) -> list[dict[str, Any]]:
    results = []
    for result in answers:
        plain = to_plain(result)
        explanation = plain.pop("explanation")
        for name in OPTIONAL_RESULT_FIELDS:
            if not plain[name]:
                del plain[name]
        if explain and result.explanation is not None:
            for part, contribution in zip(
                explanation["contributions"], result.explanation.contributions, strict=True
            ):
                part["amount"] = contribution.amount
            plain["explanation"] = explanation
        results.append(plain)
    return results


def thread_fields(thread: Thread) -> dict[str, Any]:
    entries = []
    for entry in thread.entries:
        plain = to_plain(entry.result)
        del plain["explanation"]
        for part, names in ((entry.reached, REACHED_FIELDS), (entry, ENTRY_FIELDS)):
            plain |= {name: to_plain(getattr(part, name)) for name in names}
        entries.append(plain)
    return {
        "memories": entries,
        "left_out": thread.left_out,
        "silence": thread.silence,
        "partial": list(thread.partial),
        "took_ms": round(thread.took_ms, 3),
    }


def parse_answer(plain: Mapping[str, Any]) -> Answer | None:
    """Return the answer that `to_plain` serialized; None if another version of scrubjay did."""
    from scrubjay.models.results import Answer, Contribution, Explanation, Factor, NearbyTurn, Result

    def parse_result(result: Mapping[str, Any]) -> Result:
        explanation = result["explanation"]
        if explanation is not None:
            contributions = tuple(Contribution(**part) for part in explanation["contributions"])
            factors = tuple(Factor(**factor) for factor in explanation["factors"])
            explanation = Explanation(contributions, factors, explanation["words"], tuple(explanation["way"]))
        tuples: dict[str, Any] = {
            name: tuple(result[name]) for name in ("tags", "evidence", "statements", "copied", "newer")
        }
        tuples["turns"] = tuple(NearbyTurn(**turn) for turn in result["turns"])
        return Result(**{**result, **tuples, "explanation": explanation})

    try:
        lists = {name: tuple(map(parse_result, plain[name])) for name in ("results", "nearest")}
        texts = {name: tuple(plain[name]) for name in ("partial", "notes", "displaced")}
        return Answer(**{**plain, **lists, **texts})
    except (KeyError, TypeError):
        return None


def record_fields(record: Record, path: str | None) -> dict[str, Any]:
    first, last = line_range(record.place) or (None, None)
    shown = {
        "path": path,
        "line_start": first,
        "line_end": last,
        "citation": record_citation(record, path),
        "date": record_date(record),
        **{name: _iso_time(getattr(record, name)) for name in ("valid_from", "valid_until", "recorded_at")},
    }
    return {name: shown[name] if name in shown else to_plain(getattr(record, name)) for name in RECORD_FIELDS}


def fetched_fields(report: FetchReport) -> dict[str, Any]:
    memories = [record_fields(record, report.paths.get(record.id)) for record in report.records]
    for memory in memories:
        if memory["id"] in report.evidence:
            evidence = zip(report.evidence[memory["id"]], report.rules[memory["id"]], strict=True)
            memory["evidence"] = [
                {
                    name: value
                    for name, value in record_fields(record, None).items()
                    if name in EVIDENCE_FIELDS
                }
                | {"rule": rule}
                for record, rule in evidence
            ]
    return {
        "memories": memories,
        "unknown": list(report.unknown),
        "next_offset": report.next_offset,
        "forgotten": report.forgotten,
    }


def history_fields(history: MemoryHistory, path: str | None) -> dict[str, Any]:
    plain: dict[str, Any] = to_plain(history)
    plain["memory"] = record_fields(history.memory, path)
    for event in plain["events"]:
        event["at"] = to_datetime(event["at"]).isoformat()
    return plain


def error_fields(error: ScrubjayError) -> dict[str, Any]:
    return {
        "error": {
            "type": type(error).__name__,
            "message": str(error),
            "hint": error.hint,
            "exit_code": error.exit_code,
        }
    }


def _iso_time(micros: int | None) -> str | None:
    return None if micros is None else iso_seconds(micros)


DEFAULT_VALUES: Final = {"status": "active", "origin": "owner", "confidence": 1.0, "pinned": False}
"""Values that compact results leave out."""
MEANINGFUL_ZEROS: Final = frozenset({"confidence", "relevance", "turn"})
"""Fields whose zero says something: the first turn, no confidence."""
OMITTED_FIELDS: Final = frozenset({"path", "line_start", "line_end", "explanation"})
"""Fields that compact results leave out: the citation contains them, or they explain."""
QUOTE_PREFIX: Final = "> "
_DELIMITER: Final = re.compile(r"[<\ufe64\uff1c](?=[\s/]*scrubjay-memories)", re.IGNORECASE)


def compact_answer(answer: Answer) -> dict[str, Any]:
    rest = {"partial": list(answer.partial), "hidden_by_age": answer.hidden, "silence": answer.silence}
    rest["nearest"] = [_compact_result(result) for result in answer.nearest]
    return {
        "results": [_compact_result(result) for result in answer.results],
        **drop_defaults(rest | {"as_of": answer.as_of}),
    }


def compact_fetched(report: FetchReport) -> dict[str, Any]:
    fetched = fetched_fields(report)
    memories = [_compact_memory(memory) for memory in fetched.pop("memories")]
    return {"memories": memories} | drop_defaults(fetched)


def compact_thread(thread: Thread) -> dict[str, Any]:
    memories = []
    for entry in thread.entries:
        reached = entry.reached
        links = {
            "way": path_text(reached, entry.result.id) if reached.path and not reached.found else "",
            "gap": entry.gap,
            "replaced_by": list(entry.replaced_by),
            "contradicts": list(entry.contradicts),
        }
        memories.append(_compact_result(entry.result) | drop_defaults(links))
    rest = {"left_out": thread.left_out, "silence": thread.silence, "partial": list(thread.partial)}
    return {"memories": memories} | drop_defaults(rest)


def path_text(reached: ReachedMemory, itself: str = "") -> str:
    """Return the path by which a memory was reached, from where the search found; ``itself`` is called "this"."""
    text = reached.seed
    for step in reached.path:
        name = "this" if step.id == itself else step.name or step.id
        text += f" -{step.kind}-> {name}" if step.direction == "to" else f" <-{step.kind}- {name}"
    return text


def compact_context(context: Context) -> dict[str, Any]:
    ids = [citation.id for citation in context.memories]
    left_out = len(context.left_out)
    rest = {"left_out": left_out, "silence": context.silence, "partial": list(context.partial)}
    return {"text": context.text, "tokens": context.tokens, "ids": ids} | drop_defaults(rest)


def _compact_result(result: Result) -> dict[str, Any]:
    return _compact_memory(to_plain(result)) | {"score": round(result.score, 3)}


def _compact_memory(memory: Mapping[str, Any]) -> dict[str, Any]:
    return drop_defaults({name: value for name, value in memory.items() if name not in OMITTED_FIELDS})


def drop_defaults(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields without empty, zero and default values.

    >>> drop_defaults({"id": "obs_1", "status": "active", "tags": [], "line": 0, "turn": 0, "date": None})
    {'id': 'obs_1', 'turn': 0}
    """
    return {
        name: value
        for name, value in fields.items()
        if (value not in (None, "", [], {}, (), 0) or (value == 0 and name in MEANINGFUL_ZEROS))
        and not (name in DEFAULT_VALUES and value == DEFAULT_VALUES[name])
    }


@dataclass(frozen=True, slots=True)
class TextNames:
    """How a text names memories and projects in few tokens.

    Attributes:
        references: Short id and relative path by id; a memory without one is named by its whole id.
        project: The caller's project, which is not named.
        zone: The zone of days; None for this machine's.
    """

    references: Mapping[str, ShortReference] = field(default_factory=dict)
    project: str | None = None
    zone: tzinfo | None = None

    def id(self, memory: str) -> str:
        return self.references[memory].id if memory in self.references else memory

    def ids(self, memories: Sequence[str]) -> str:
        return ", ".join(map(self.id, memories))


NO_NAMES: Final = TextNames()
_MEMORY_ID: Final = re.compile(rf"\b(?:{'|'.join(TIER_PREFIXES.values())})[0-9a-f]{{16}}\b")
SESSION_LABEL_LENGTH: Final = 8
"""Characters of a conversation's name beside a turn; `memory_get` shows all."""
TITLE_LABEL_LENGTH: Final = 80
_PROJECT_DIGITS: Final = re.compile(r"-[0-9a-f]{6}$")


def mentioned_ids(fields: Mapping[str, Any]) -> set[str]:
    """Return the ids that the text of a search, thread or get names."""
    ids: set[str] = set()
    for memory in (*fields.get("results", fields.get("memories", ())), *fields.get("nearest", ())):
        ids |= {memory["id"], *(each["id"] for each in memory.get("evidence", ()) if isinstance(each, dict))}
        ids |= {one for name in ("newer", "replaced_by", "contradicts") for one in memory.get(name, ())}
        ids |= {*_MEMORY_ID.findall(memory.get("way", ""))}
    return ids


def results_text(answer: Mapping[str, Any], names: TextNames = NO_NAMES) -> str:
    hidden = answer.get("hidden_by_age", 0)
    older = f"\nLeft out only because of age: {hidden}. A higher limit shows more." if hidden else ""
    return _entries_text(answer, "results", names) + older + _notes_text(answer, names)


def memories_text(fetched: Mapping[str, Any], names: TextNames = NO_NAMES) -> str:
    more = f"\nMore from offset {fetched['next_offset']}." if "next_offset" in fetched else ""
    unknown = f"\nUnknown: {single_line(', '.join(fetched['unknown']))}." if "unknown" in fetched else ""
    if number := fetched.get("forgotten"):
        unknown += f"\nPassages of this file that are left out, since they were forgotten: {number}."
    entries = [_entry_text(memory, names, whole=True) for memory in fetched["memories"]]
    return (quote_text("\n".join(entries)) if entries else NOTHING_FOUND) + unknown + more


def thread_text(thread: Mapping[str, Any], names: TextNames = NO_NAMES) -> str:
    omitted = f"\n{thread['left_out']} more were omitted." if "left_out" in thread else ""
    return _entries_text(thread, "memories", names) + omitted + _notes_text(thread, names)


def context_text(context: Mapping[str, Any], names: TextNames = NO_NAMES) -> str:
    return (strip_control(context["text"]) or "No relevant memories.") + _notes_text(context, names)


def changes_text(report: Mapping[str, Any], _names: TextNames = NO_NAMES) -> str:
    """Return the non-empty fields of a write's result as text.

    >>> changes_text({"ids": ["obs_1"], "unknown": [], "still": ["a.md:1-2"]})
    'ids: obs_1; still: a.md:1-2'
    """
    return "; ".join(
        f"{name}: {single_line(_value_text(value))}"
        for name, value in report.items()
        if value not in (None, [], {}, "")
    )


def error_text(fields: Mapping[str, Any]) -> str:
    error = fields["error"]
    hint = f"\nhint: {single_line(error['hint'])}" if error["hint"] else ""
    return f"error: {single_line(error['message'])}{hint}"


def quote_text(text: str) -> str:
    r"""Return text between the delimiters, which nothing in it can end.

    >>> quote_text("a </scrubjay-memories> b")
    '<scrubjay-memories>\na &lt;/scrubjay-memories> b\n</scrubjay-memories>'
    """
    return f"{BLOCK_OPEN}\n{_DELIMITER.sub('&lt;', text)}\n{BLOCK_CLOSE}"


NOTHING_FOUND: Final = "Nothing was found."
NOTHING_ANSWERS: Final = "Nothing stored is likely to answer this."
NEAREST: Final = "The nearest, all weak matches:"
NOT_ESTIMATED: Final = "Relevance could not be estimated, so some results may be about something else."


def _entries_text(answer: Mapping[str, Any], name: str, names: TextNames) -> str:
    entries = [_entry_text(memory, names) for memory in answer[name]]
    if not entries and "nearest" in answer:
        nearest = [_entry_text(memory, names) for memory in answer["nearest"]]
        return f"{NOTHING_ANSWERS} {NEAREST}\n" + quote_text("\n".join(nearest))
    if not entries:
        silence = answer.get("silence", "")
        if silence.endswith(NOTHING_FROM_TIME):
            return single_line(silence)
        return NOTHING_ANSWERS if silence else NOTHING_FOUND
    is_unestimated = name == "results" and all(memory.get("relevance") is None for memory in answer[name])
    return (f"{NOT_ESTIMATED}\n" if is_unestimated else "") + quote_text("\n".join(entries))


def _entry_text(memory: Mapping[str, Any], names: TextNames, *, whole: bool = False) -> str:
    """Return a line of metadata and the quoted text; a whole memory with all that is known of it.

    The line begins with the id, the date and marks of ours, up to a comma; what others wrote comes behind it.
    """
    place = _place_text(memory, names, whole=whole)
    marks = [names.id(memory["id"]), *_metadata_marks(memory, names, place)]
    marks += ["pinned"] if whole and memory.get("pinned") else []
    parts = [place]
    parts += [f"agent {memory['agent']}"] if whole and memory.get("agent") else []
    parts += [f"tags {', '.join(memory['tags'])}"] if whole and memory.get("tags") else []
    parts += [f"by {_MEMORY_ID.sub(lambda id: names.id(id[0]), memory['way'])}"] if "way" in memory else []
    description = " | ".join(single_line(part).replace("|", "¦") for part in parts if part)
    lines = [f"{' '.join(marks)}, {description}" if description else " ".join(marks)]
    lines.append(_quote_lines(memory["content"] if whole else memory["snippet"]))
    for piece in memory.get("evidence", ()) if whole else ():
        piece_marks = " ".join((names.id(piece["id"]), *_metadata_marks(piece, names)))
        lines += [f"evidence {piece_marks}", _quote_lines(piece["content"])]
    return "\n".join(lines)


def _quote_lines(text: str) -> str:
    return prefix_lines(text.strip(), QUOTE_PREFIX)


def _metadata_marks(memory: Mapping[str, Any], names: TextNames, place: str = "") -> list[str]:
    """Return a memory's date, unless its place contains it, and unusual values.

    All but the role is text of scrubjay's own.
    """
    status, origin, tier, date = (memory.get(name) for name in ("status", "origin", "tier", "date"))
    day = local_day(date or "", names.zone)
    marks = ["weak match"] if memory.get("weak") else ["uncertain"] if memory.get("uncertain") else []
    marks += [day] if day and day not in place else []
    marks += [status] if status not in (None, DEFAULT_VALUES["status"]) else []
    role = single_line(memory.get("role") or "").replace(",", ";")
    usual = (None, DEFAULT_VALUES["origin"], "agent" if role == "assistant" else None)
    marks += [MARKED_WRONG] if memory.get("marked_wrong") else []
    marks += [origin] if origin not in usual else []
    marks += [role] if role else [tier] if tier not in (None, "observation") else []
    marks += [shared_by(memory["owner"])] if memory.get("owner") else []
    marks += [f"confidence {memory['confidence']:g}"] if memory.get("confidence", 1.0) != 1.0 else []
    marks += [f"{word} {local_day(memory[name])}" for word, name in VALIDITY if memory.get(name)]
    marks += [f"file {memory['outdated']} since"] if memory.get("outdated") else []
    marks += [memory["gap"]] if memory.get("gap") else []
    linked = (("newer", "newer"), ("replaced by", "replaced_by"), ("contradicts", "contradicts"))
    return marks + [f"{word} {names.ids(memory[name])}" for word, name in linked if memory.get(name)]


VALIDITY: Final = (("from", "valid_from"), ("until", "valid_until"))
"""Such days begin and end in this machine's zone, in which they were read."""


def _place_text(memory: Mapping[str, Any], names: TextNames, *, whole: bool) -> str:
    """Return file and lines, conversation and turn, or title; and the project where it is not the caller's."""
    path = names.references[memory["id"]].path if memory["id"] in names.references else ""
    if memory.get("session"):
        session = memory["session"] if whole else memory["session"][:SESSION_LABEL_LENGTH]
        turn = f" turn {memory['turn']}" if memory.get("turn") is not None else ""
        place = f"session {session}{turn}"
    elif path:
        where = memory["citation"].rpartition(path)[2]
        first, _, last = where.removeprefix(":").partition("-")
        place = memory["citation"] if whole else path + (f":{first}" if first and first == last else where)
    else:
        place = memory.get("title", "")[:TITLE_LABEL_LENGTH]
    project = memory.get("project")
    if not project or project == names.project:
        return place
    return f"{place} in {_PROJECT_DIGITS.sub('', project.rpartition('/')[2])}".lstrip()


def _notes_text(answer: Mapping[str, Any], names: TextNames) -> str:
    """Return the notes that a model can act on: a cut question, newer files, the time it asked about."""
    as_of = [f"As of {local_day(answer['as_of'], names.zone)}."] if answer.get("as_of") else []
    notes = [str(reason) for reason in answer.get("partial", ()) if isinstance(reason, Notice)]
    return "".join(f"\n{single_line(note)}" for note in as_of + notes)


def _value_text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items())
    return str(value).lower() if isinstance(value, bool) else str(value)
