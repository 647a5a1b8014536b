"""Commands: str -> tuple[Step, ...]. What a text shows being done, in order: commands, and steps that are numbered.

A command stands in a shell's fence, after a prompt, or between backticks where its first word is a known program. It
is known again by its program and what that was told to do ("git push", "docker compose up"); the rest of its words
may differ. A numbered step that shows no command is known again by its verb and its rarest word. Looking around
("ls", "git status") is no step of anything.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from scrubjay.consolidate.promote.facts import telling
from scrubjay.consolidate.promote.words import DOING, KNOWN, LOOKING, NESTED, PLAIN, SCRIPTS
from scrubjay.ingest.concepts.ordinary import rank

READ: Final = 200_000
"""Characters of a record that are read."""
MOST_LENGTH: Final = 200
"""Characters of a step."""

_SHELLS: Final = frozenset(("bash", "sh", "shell", "zsh", "console", "shell-session", "terminal", "fish"))
_FENCE = re.compile(r"\s*(```+|~~~+)\s*([\w-]*)")
_PROMPT = re.compile(r"\s*(?:[\w.@~:/()-]*[$%❯»]|>>>?) +(?=[\w./~])")
_INLINE = re.compile(r"(?<!`)`([^`\n]{2,200})`(?!`)")
_NUMBERED = re.compile(r"\s*(?:\d{1,2}[.)]|step \d{1,2}[:.])\s+(.+)", re.IGNORECASE)
_SPLIT = re.compile(r"(?<!\s)\s++(?:&&|\|\||;)\s++|;\s++")
_SETTING = re.compile(r"(?<!\S)(?>(?:[A-Z_][A-Z0-9_]*+=\S*+\s++)+)")
_FLAGS = re.compile(r"(?<!\S)(?>(?:-\S++\s++)+)")
_WORD = re.compile(r"[a-z][a-z0-9:_-]*\Z")
_PROGRAM = re.compile(r"[\w./~+-]+\Z")
_BEFORE: Final = (
    "sudo", "time", "nohup", "uv run", "poetry run", "pipenv run", "pdm run", "hatch run", "bundle exec", "npx", "bunx",
    "python -m", "python3 -m", "uvx", "pipx run", "dotenv run", "xargs",
)  # fmt: skip
_LOOKS: Final = frozenset(
    (
        "git status",
        "git diff",
        "git log",
        "git show",
        "git branch",
        "docker ps",
        "docker images",
        "kubectl get",
    )
)


@dataclass(frozen=True, slots=True)
class Step:
    """One thing done.

    Attributes:
        name: What it is known again by; of a step in words, ``~`` before it.
        text: As it stands there.
    """

    name: str
    text: str


def commands(text: str) -> tuple[Step, ...]:
    r"""Return the steps that a text shows, in order; the same one twice in a row is one.

    >>> [step.name for step in commands("Run `git push origin main`, then:\n```bash\n$ make deploy ENV=prod\n```")]
    ['git push', 'make deploy']
    """
    found: list[Step] = []
    for step in _steps(text[:READ]):
        if not found or found[-1].name != step.name:
            found.append(step)
    return tuple(found)


def _steps(text: str) -> Iterator[Step]:
    fence, held = "", list[str]()
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence, shell, held = mark[1], mark[2].lower() in _SHELLS, []
        elif fence and line.strip() == fence:
            yield from _of_shell(held, shell=shell)
            fence = ""
        elif fence:
            held.append(line)
        elif _PROMPT.match(line):
            yield from _of_shell([line], shell=False)
        else:
            yield from _of_prose(line)
    if fence:  # cut off before its end
        yield from _of_shell(held, shell=shell)


def _of_shell(lines: list[str], *, shell: bool) -> Iterator[Step]:
    """Yield the commands among lines: those after a prompt; where there is none, all lines of a shell's fence."""
    prompts = [_PROMPT.match(line) for line in lines]
    prompted = any(prompts)
    held = ""
    for line, prompt in zip(lines, prompts, strict=True):
        if prompt or held or (shell and not prompted):
            held += line[prompt.end() if prompt else 0 :].strip()
            if held.endswith("\\"):
                held = held[:-1].rstrip() + " "
            else:
                yield from _of_line(held)
                held = ""


def _of_prose(line: str) -> Iterator[Step]:
    shown = [step for code in _INLINE.findall(line) for step in _of_line(code, known=True)]
    yield from shown
    numbered = _NUMBERED.match(line)
    if numbered and not shown:
        words = numbered[1].replace("**", "").strip()
        told = telling(words.split(". ")[0])
        if len(told) > 1 and len(words) <= MOST_LENGTH and told[0] in DOING and ":" not in words:
            yield Step(f"~{told[0]} {max(told[1:], key=lambda word: (rank(word), word))}", words)


def _of_line(line: str, *, known: bool = False) -> Iterator[Step]:
    if line.startswith("#") or len(line) > 10 * MOST_LENGTH:
        return
    for part in _SPLIT.split(line.split(" #")[0].strip()):
        name = _name(part.split(" | ")[0].strip(), known)
        if name and len(part) <= MOST_LENGTH:
            yield Step(name, part.strip())


def _name(command: str, known: bool) -> str:
    """Return the program and what it is told to do; an empty string for what is no step."""
    command = _SETTING.sub("", command, count=1)
    trimmed = True
    while trimmed:
        trimmed = False
        for prefix in _BEFORE:
            if command.startswith(prefix + " "):
                command, trimmed = _FLAGS.sub("", command[len(prefix) :].lstrip(), count=1), True
    try:
        words = shlex.split(command)
    except ValueError:  # an open quote: the words are as they stand
        words = command.split()
    if not words or not _PROGRAM.match(words[0]) or words[0] in LOOKING:
        return ""
    program = PurePosixPath(words[0]).name
    if not any(map(str.isalpha, program)) or (known and (len(words) < 2 or words[0] not in KNOWN)):
        return ""
    name = " ".join((program, *_told(program, [word for word in words[1:] if not word.startswith("-")])))
    return "" if name in _LOOKS else name


def _told(program: str, words: list[str]) -> tuple[str, ...]:
    if not words or (program in PLAIN and program not in SCRIPTS):
        return ()
    if program in SCRIPTS:
        return (PurePosixPath(words[0]).name,)
    if not _WORD.match(words[0]):
        return ()
    if words[0] in NESTED.get(program, ()) and len(words) > 1 and _WORD.match(words[1]):
        return (words[0], words[1])
    return (words[0],)
