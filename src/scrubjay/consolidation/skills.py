"""Skills: procedures that several conversations carried out alike, as SKILL.md files.

Format: agentskills.io/specification (a folder named like the skill with a SKILL.md; frontmatter ``name`` of at most 64
lower-case letters, digits and single hyphens, ``description`` of at most 1,024 characters). Every word is from the
conversations: the name from words that their requests share, the steps from the commands of the latest.

Commands are read from agents' logs and never stored (`shell_calls`). A call is an object that names a shell tool and
holds its arguments, as Claude Code (``tool_use`` with ``input``), Codex (``function_call`` with ``arguments`` as JSON),
Gemini CLI (``toolCalls`` with ``args``) and pi (``toolCall``) write it. Only logs of lines of JSON are read.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from scrubjay.consolidation.patterns import repeated_sequences, request_words, shared_words
from scrubjay.consolidation.shell_commands import CommandStep
from scrubjay.frozen import frozen
from scrubjay.text.language import function_words
from scrubjay.text.normalize import strip_accents
from scrubjay.text.tokenizer import stem_word

MIN_SKILL_SESSIONS: Final = 3
"""Conversations that carried a procedure out before it is a skill."""
MAX_NAME: Final = 64
MAX_REQUEST: Final = 200
"""Characters of a request that are quoted."""
MAX_EXAMPLES: Final = 3
"""Requests that a description quotes, the latest; four would be more than its 1,024 characters."""
MAX_VARIANTS: Final = 2
"""Other forms of a step that are shown, the latest."""
_RESERVED: Final = frozenset(("anthropic", "claude"))
"""Words that a name may not contain."""
_MARK: Final = re.compile(r"<!-- written by scrubjay skills, ([0-9a-f]{12}) -->\n\Z")


Position = tuple[int, int, int, int]
"""Time, turn, line in a log, and index among the commands of the turn or log."""


@frozen
class Request:
    """A person's request.

    Attributes:
        date: ISO date, or an empty string.
        text: Empty if it may not be quoted; the commands after it count for no other request.
    """

    position: Position
    date: str
    text: str


@frozen
class WorkSession:
    """Requests and commands of one conversation.

    Attributes:
        conversation: The conversation of which it is a branch or copy, or itself.
        steps: Commands with their positions, in order.
    """

    session: str
    conversation: str
    project: str | None
    requests: tuple[Request, ...]
    steps: tuple[tuple[Position, CommandStep], ...]


@frozen
class SkillStep:
    """A step in the words of the latest conversation, and as others ran it."""

    command: str
    variants: tuple[str, ...]


@frozen
class SkillEvidence:
    """A conversation that carried out the procedure, with its date (ISO or empty) and what was asked."""

    session: str
    date: str
    request: str


@frozen
class Skill:
    """A procedure that at least `MIN_SKILL_SESSIONS` conversations carried out in the same order.

    Attributes:
        name: Its name, unique among those found together.
        project: Project of all its conversations.
        sessions: Its conversations, oldest first.
    """

    name: str
    project: str | None
    steps: tuple[SkillStep, ...]
    sessions: tuple[SkillEvidence, ...]


def find_skills(sessions: Iterable[WorkSession]) -> tuple[Skill, ...]:
    """Return the procedures that repeat within a project, those of most days first."""
    by_project: defaultdict[str, dict[str, WorkSession]] = defaultdict(dict)
    for work in sessions:
        by_project[work.project or ""][work.session] = work
    found: list[Skill] = []
    for own in by_project.values():
        names = {session: [step.name for _, step in work.steps] for session, work in own.items()}
        order = {
            session: (0, 0, 0, work.requests[0].date if work.requests else "")
            for session, work in own.items()
        }
        for sequence in repeated_sequences(names, order, MIN_SKILL_SESSIONS):
            skill = _skill({session: (own[session], places) for session, places in sequence.places.items()})
            if skill is not None:
                found.append(skill)
    found.sort(
        key=lambda skill: (
            -len({session.date for session in skill.sessions}),
            -len(skill.sessions),
            skill.name,
        )
    )
    return tuple(_with_unique_names(found))


def _skill(occurrences: Mapping[str, tuple[WorkSession, tuple[int, ...]]]) -> Skill | None:
    requests: dict[str, Request] = {}
    for session, (work, places) in occurrences.items():
        begin = work.steps[places[0]][0]
        earlier = [
            request
            for request in work.requests
            if request.position < begin and (not request.text or request_words(request.text))
        ]
        if earlier and earlier[-1].text:
            requests[session] = earlier[-1]
    if not requests:
        return None
    newest_first = sorted(requests, key=lambda session: (requests[session].date, session), reverse=True)
    texts = [requests[session].text for session in newest_first]
    trigger = [word for word in shared_words(texts, texts[0]).split() if word not in function_words()]
    stems = {stem_word(word, "en") for word in trigger}
    alike: dict[str, str] = {}  # a conversation to its session, the latest
    for session in newest_first:
        if not stems.isdisjoint(stem_word(word, "en") for word in request_words(requests[session].text)):
            alike.setdefault(occurrences[session][0].conversation, session)
    if len(alike) < MIN_SKILL_SESSIONS:
        return None
    runs = [
        [_full_command(occurrences[session][0].steps[place][1]) for place in occurrences[session][1]]
        for session in alike.values()
    ]
    steps = []
    for commands in zip(*runs, strict=True):
        others = [command for command in dict.fromkeys(commands) if command != commands[0]]
        steps.append(SkillStep(commands[0], tuple(others[:MAX_VARIANTS])))
    programs = dict.fromkeys(step.command.split()[0] for step in steps)
    return Skill(
        _slug(trigger) or _slug(programs) or "procedure",
        occurrences[newest_first[0]][0].project,
        tuple(steps),
        tuple(
            SkillEvidence(session, requests[session].date, requests[session].text)
            for session in reversed(alike.values())
        ),
    )


def _full_command(step: CommandStep) -> str:
    return f"{step.folder} && {step.text}" if step.folder else step.text


def _slug(words: Iterable[str]) -> str:
    plain = (
        re.sub(r"[^a-z0-9]+", "-", strip_accents(word.partition("'")[0]).lower()).strip("-") for word in words
    )
    name = "-".join(word for word in plain if word and word not in _RESERVED)
    return name[:MAX_NAME].rstrip("-")


def _with_unique_names(skills: Sequence[Skill]) -> list[Skill]:
    """Append the project's name to names that two projects have, and a number to those of one project."""
    shared = Counter(skill.name for skill in skills)
    found: dict[str, Skill] = {}
    for skill in skills:
        name = skill.name
        if shared[name] > 1 and skill.project:
            name = _slug([name, skill.project.rpartition("/")[2]])
        number = 2
        base = name
        while name in found:
            name = f"{base[: MAX_NAME - 3]}-{number}"
            number += 1
        found[name] = replace(skill, name=name)
    return list(found.values())


def skill_markdown(skill: Skill) -> str:
    """Return the text of a skill's SKILL.md, with a mark by which later edits are noticed."""
    newest = skill.sessions[-1]
    lines = [
        "---",
        f"name: {skill.name}",
        f"description: {json.dumps(_description(skill), ensure_ascii=False)}",
        "---",
        "",
        "# " + skill.name.replace("-", " "),
        "",
        "## When",
        "",
        f'When asked, as on {newest.date or "an unknown date"}: "{_request_excerpt(newest.request)}"',
        "",
        "## Steps",
        "",
        f"As in session {newest.session}; check what varies before you run it.",
        "",
    ]
    for number, step in enumerate(skill.steps, 1):
        lines.append(f"{number}. {_inline_code(step.command)}")
        lines += [f"   - elsewhere {_inline_code(variant)}" for variant in step.variants]
    lines += ["", "## Evidence", ""]
    lines += [
        f'- {evidence.date or "no date"}, session {evidence.session}: "{_request_excerpt(evidence.request)}"'
        for evidence in skill.sessions
    ]
    text = "\n".join([*lines, "", ""])
    return f"{text}<!-- written by scrubjay skills, {_digest(text)} -->\n"


def is_unedited(text: str) -> bool:
    """Return whether a SKILL.md is as `skill_markdown` wrote it."""
    mark = _MARK.search(text)
    return mark is not None and mark[1] == _digest(text[: mark.start()])


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _description(skill: Skill) -> str:
    evidence = f"Steps done alike in {len(skill.sessions)} sessions."
    asked = dict.fromkeys(_request_excerpt(evidence.request) for evidence in reversed(skill.sessions))
    untagged = [f'"{request}"' for request in asked if "<" not in request]  # a tag is not allowed here
    examples = untagged[:MAX_EXAMPLES]
    return f"Use when asked: {', '.join(examples)}. {evidence}" if examples else evidence


def _request_excerpt(request: str) -> str:
    """Return the beginning of a request on one line."""
    text = " ".join(request.split())
    return text if len(text) <= MAX_REQUEST else f"{text[:MAX_REQUEST]}…"


def _inline_code(command: str) -> str:
    """Return a command as inline code, whatever backticks it has."""
    runs = re.findall(r"`+", command)
    fence = "`" * (max(map(len, runs), default=0) + 1)
    pad = " " if runs else ""
    return f"{fence}{pad}{command}{pad}{fence}"


SHELL_TOOLS: Final = frozenset(
    ("Bash", "bash", "exec", "exec_command", "local_shell", "run_shell_command", "shell", "shell_command")
)
"""Names under which agents offer a shell."""
MAX_LINE: Final = 1_000_000
"""Bytes of a line that is read; a longer one holds a result."""
_CALL_MARKS: Final = (b"command", b"cmd", b"is_error", b"isError", b"function_call_output")
_EXIT: Final = re.compile(r"(?:\"exit_code\":\s*|Process exited with code |Exit code: )-?[1-9]")
"""Beginnings of Codex's results of a failed command."""


_RESULT_HEAD: Final = 2_000
"""Characters of a result in which its exit code is looked for."""


class ShellCall(NamedTuple):
    """A command and the line of the log (from 1) where it was called."""

    line: int
    command: str


def shell_calls(path: Path) -> list[ShellCall]:
    """Return the commands that a log says were run, in order, without those that failed or were refused.

    Raises:
        OSError: The log cannot be read.
    """
    calls: dict[str, ShellCall] = {}
    failed: set[str] = set()
    with path.open("rb") as log:
        for number, line in enumerate(log, 1):
            if len(line) > MAX_LINE or not any(needle in line for needle in _CALL_MARKS):
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):  # the importer reports lines that are broken
                continue
            for found in _json_objects(record):
                if _is_failure(found):
                    failed.add(_call_id(found))
                if command := _shell_command(found):
                    calls.setdefault(_call_id(found) or f"{number}", ShellCall(number, command))
    return [call for name, call in calls.items() if name not in failed]


def _call_id(found: dict[str, Any]) -> str:
    names = (found.get(name) for name in ("tool_use_id", "toolCallId", "call_id", "id"))
    return next((name for name in names if isinstance(name, str)), "")


def _is_failure(found: dict[str, Any]) -> bool:
    """Return whether an object is the result of a failed call, or a call that says so itself."""
    if found.get("is_error") is True or found.get("isError") is True:
        return True
    if found.get("type") == "function_call_output":
        output = found.get("output")
        return (
            _EXIT.search(output[:_RESULT_HEAD] if isinstance(output, str) else json.dumps(output)) is not None
        )
    return "args" in found and found.get("status") in ("error", "cancelled")


def _json_objects(value: Any) -> Iterator[dict[str, Any]]:
    pending = [value]
    while pending:
        found = pending.pop()
        if isinstance(found, dict):
            yield found
            pending += reversed(list(found.values()))
        elif isinstance(found, list):
            pending += reversed(found)


def _shell_command(call: dict[str, Any]) -> str:
    """Return the command of a call of a shell; an empty string for anything else."""
    if call.get("name") not in SHELL_TOOLS:
        return ""
    arguments = call.get("input") or call.get("args") or call.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return ""
    if not isinstance(arguments, dict):
        return ""
    command = arguments.get("command") or arguments.get("cmd")
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        shell = len(command) == 3 and command[1] in ("-c", "-lc")
        return command[2] if shell else shlex.join(command)
    return command if isinstance(command, str) else ""
