"""What hooks put into an agent's session, on made-up tasks whose deciding memory is known.

A task (`labels/agent_tasks/HALF/NAME.toml`, rules in `labels/AGENT_TASKS.md`) is a repository with its history, notes,
earlier sessions, and a new session: a first prompt in the words of the symptom, and two later prompts, of which one
needs something else that is stored and one needs nothing. Each has a home and a store of its own: the repository is
made with git and synced, notes are synced as they were and as they are, sessions as transcripts of Claude Code;
everything is embedded and consolidated once. Then the installed hook is run for each event of the new session, as
Claude Code runs it; this process is its resident.

`first`: tasks of which a deciding text is in what was put in at the session's start and first prompt together;
`start` and `prompt`: at each alone. `outdated`: tasks of which a superseded text was put in, at any time; `unreplaced`:
those of which one was put in before or without the decision that replaced it (the first text of `deciding`), so that an
agent sees nothing newer above it. `later`: later prompts that need something, and have it by then. `decoys`: memories
put in at a prompt that needs nothing. `repeated`: memories put in twice in one session. `own`: turns of the running
session put in. `tokens`: of all that was put in, by the static model's tokenizer.
"""

from __future__ import annotations

import argparse
import html
import json
import os
import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bench.command import Command, HollowError, Row
from bench.harness import count_tokens, embed, scratch
from bench.metrics import SEED, figure, short, shown
from bench.processes import command, environment
from bench.report import table
from scrubjay import Memory
from scrubjay.api.jobs import JobQueue
from scrubjay.config.loader import load_settings
from scrubjay.config.paths import data_folder, settings_fingerprint
from scrubjay.daemon.server import prepare_daemon

LABELS = Path(__file__).parent / "labels" / "agent_tasks"
HALVES = ("dev", "blind")
PLACES = ("note", "session", "commit")
_COMMIT = re.compile(
    r"(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d) (?P<author>[^|]+) \| (?P<subject>[^|]+)(?: \| (?P<files>.+))?"
)
_TURN = re.compile(r"^([UAT]): ?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Commit:
    at: datetime
    author: str
    message: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation: (who, text) each, who is U (person), A (agent) or T (a tool that the agent called)."""

    at: datetime
    turns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Note:
    """A note as it was since a day; a later one of the same path is the note after an edit."""

    path: str
    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    text: str
    deciding: tuple[str, ...] = ()
    answer: str = "I'll look at the code first and tell you what I find."


@dataclass(frozen=True, slots=True)
class Past:
    """What happened in a repository before a session: its history, earlier sessions and notes."""

    name: str
    commits: tuple[Commit, ...]
    files: Mapping[str, str]
    sessions: tuple[Session, ...]
    notes: tuple[Note, ...]

    @classmethod
    def read(cls, found: Mapping[str, Any]) -> Past:
        """Read the fields of a file.

        Raises:
            ValueError: They do not fit the rules.
        """
        return cls(
            name=found["repository"],
            commits=tuple(_history(found["history"])),
            files={path: text.lstrip("\n") for path, text in found.get("files", {}).items()},
            sessions=tuple(Session(_time(one["at"]), tuple(_turns(one["talk"]))) for one in found["session"]),
            notes=tuple(
                Note(one["path"], _time(one["at"]), one["text"].lstrip("\n")) for one in found["note"]
            ),
        )

    def texts(self, place: str) -> list[str]:
        """All texts of a kind of place."""
        if place == "commit":
            return [commit.message for commit in self.commits]
        if place == "session":
            return [text for session in self.sessions for _, text in session.turns]
        return [*(note.text for note in self.notes), *self.files.values()]

    @property
    def last(self) -> datetime:
        return max(one.at for one in (*self.sessions, *self.notes, *self.commits))


@dataclass(frozen=True, slots=True)
class Task:
    """One made-up task.

    Attributes:
        lies: Where the deciding text is: ``note``, ``session`` or ``commit``.
        prompts: Those of the new session, the first of which is in the words of the symptom.
        outdated: Superseded texts, and the text that replaced each.
        told: What happened, in a few sentences for bench/examples/sessions.md; empty for most.
    """

    past: Past
    domain: str
    language: str
    lies: str
    prompts: tuple[Prompt, ...]
    outdated: Mapping[str, str]
    told: str


def read(file: Path) -> Task:
    """Read a task's file.

    Raises:
        ValueError: It does not fit the rules.
    """
    found = tomllib.loads(file.read_text("utf-8"))
    first = {"prompt": found["prompt"], "deciding": found["deciding"]}
    return Task(
        past=Past.read(found),
        domain=found["domain"],
        language=found["language"],
        lies=found["lies"],
        prompts=tuple(map(read_prompt, (first, *found["later"], *found.get("more", ())))),
        outdated=dict.fromkeys(found["outdated"], found["deciding"][0]),
        told=found.get("told", ""),
    )


def read_prompt(found: Mapping[str, Any]) -> Prompt:
    usual = Prompt("").answer
    return Prompt(found["prompt"].strip(), tuple(found.get("deciding", ())), found.get("answer", usual))


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text if "T" in text else f"{text}T09:00:00+00:00")


def _history(text: str) -> Iterator[Commit]:
    entries: list[tuple[re.Match[str], list[str]]] = []
    for line in text.strip().splitlines():
        if head := _COMMIT.fullmatch(line):
            entries.append((head, []))
        elif (line.strip() and not line.startswith("  ")) or not entries:
            raise ValueError(f"A line of the history is neither a commit's head nor indented: {line!r}.")
        else:
            entries[-1][1].append(line.strip())
    for head, body in entries:
        at = datetime.fromisoformat(f"{head['at']}+00:00")
        message = "\n".join([head["subject"].strip(), "", *body]).strip()
        yield Commit(at, head["author"].strip(), message, tuple((head["files"] or "").split()))


def _turns(text: str) -> Iterator[tuple[str, str]]:
    parts = _TURN.split(text.strip())
    if parts[0]:
        raise ValueError(f"A talk begins with nobody's turn: {parts[0]!r}.")
    for who, said in zip(parts[1::2], parts[2::2], strict=True):
        yield who, said.strip()


def read_tasks(half: str, count: int | None = None) -> list[Task]:
    """The tasks of a half, by name."""
    files = sorted((LABELS / half).glob("*.toml"))
    if not files:
        raise HollowError(f"{LABELS / half} holds no task.")
    return [read(file) for file in files[:count]]


class Machine:
    """A fresh home with a task's repository, notes, sessions and store, and hooks that run in it."""

    def __init__(self, root: Path, past: Past) -> None:
        self.past = past
        self.home = root / "home"
        self.repository = self.home / "src" / past.name
        self.notes = self.home / "notes"
        self.env = environment(self.home) | {
            "SCRUBJAY_STORE": str(root / "memory.db"), "SCRUBJAY_HOOKS_BUDGET_MS": "60000",
            "SCRUBJAY_RESIDENT_AUTO": "false", "XDG_RUNTIME_DIR": str(root), "GIT_CONFIG_NOSYSTEM": "1",
            "USER": "dev",
        }  # fmt: skip
        self.home.mkdir(parents=True)
        self.projects = self.home / ".claude" / "projects" / re.sub(r"\W", "-", str(self.repository))

    def make_repository(self) -> None:
        """Make the repository with its history; its first author is the person whose machine this is."""
        self.repository.mkdir(parents=True)
        me = self.past.commits[0].author
        self._git("init", "-q", "-b", "main")
        # In the repository, not in the home: this process, which syncs, has another home.
        self._git("config", "user.name", me)
        self._git("config", "user.email", _mail(me))
        self._git("fast-import", "--quiet", stdin=b"".join(_fast_import(self.past)))
        self._git("reset", "-q", "--hard", "main")

    def _git(self, *arguments: str, stdin: bytes = b"") -> None:
        subprocess.run(["git", *arguments], cwd=self.repository, env=self.env, input=stdin, check=True)

    def write_notes(self, *, edited: bool) -> bool:
        """Write the notes, as they were first or as they are; return whether there are any such."""
        seen: Counter[str] = Counter()
        wrote = False
        for note in self.past.notes:
            seen[note.path] += 1
            if (seen[note.path] > 1) == edited:
                file = self.notes / note.path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(note.text, "utf-8")
                os.utime(file, (note.at.timestamp(),) * 2)
                wrote = True
        return wrote

    def write_sessions(self) -> None:
        for number, session in enumerate(self.past.sessions):
            self.write_transcript(f"session-{number}", session)

    def write_transcript(self, name: str, session: Session) -> Path:
        """Write a conversation as Claude Code keeps it."""
        self.projects.mkdir(parents=True, exist_ok=True)
        lines = _claude_code_lines(name, session, self.repository)
        file = self.projects / f"{name}.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        return file

    def hook(self, event: str, session: str, **said: str) -> str:
        """Run the installed hook; return the text that the model is given."""
        names = {"session-start": "SessionStart", "prompt": "UserPromptSubmit"}
        told = {"session_id": session, "cwd": str(self.repository), "hook_event_name": names[event], **said}
        done = subprocess.run(
            [*command(), "hook", "claude-code", event],
            input=json.dumps(told),
            capture_output=True,
            text=True,
            env=self.env,
            cwd=self.repository,
            check=True,
        )
        if not done.stdout.strip():
            return ""
        return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"])


def _mail(author: str) -> str:
    return re.sub(r"[^a-z]+", ".", author.lower()).strip(".") + "@example.org"


def _fast_import(past: Past) -> Iterator[bytes]:
    """The history in the form of `git fast-import`."""
    written: dict[str, int] = {}
    named = {path for commit in past.commits for path in commit.files}
    for number, commit in enumerate(past.commits):
        when = f"{_mail_line(commit.author)} {int(commit.at.timestamp())} +0000"
        message = commit.message.encode()
        yield f"commit refs/heads/main\nauthor {when}\ncommitter {when}\n".encode()
        yield b"data %d\n%s\n" % (len(message), message)
        for path in [*commit.files, *(() if number else sorted(set(past.files) - named))]:
            # What a file holds counts for those that the labels give; of others git need only see a change.
            data = (past.files.get(path, f"# {path}\n") + "\n" * written.setdefault(path, 0)).encode()
            written[path] += 1
            yield b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(data), data)
        yield b"\n"


def _mail_line(author: str) -> str:
    return f"{author} <{_mail(author)}>"


def _claude_code_lines(name: str, session: Session, folder: Path) -> Iterator[dict[str, Any]]:
    before, at, tools = None, session.at, 0
    for number, (who, text) in enumerate(session.turns):
        at += timedelta(seconds=20 + len(text) // 4)
        content: Any = text if who == "U" else [{"type": "text", "text": text}]
        messages = [("user" if who == "U" else "assistant", content)]
        if who == "T":
            tools += 1
            tool, _, given = text.partition(" ")
            use = {
                "type": "tool_use",
                "id": f"toolu_{name}_{tools}",
                "name": tool,
                "input": {"command": given},
            }
            result = {"type": "tool_result", "tool_use_id": use["id"], "content": "ok"}
            messages = [("assistant", [use]), ("user", [result])]
        for part, (role, said) in enumerate(messages):
            line = {
                "parentUuid": before, "isSidechain": False, "userType": "external", "cwd": str(folder),
                "sessionId": name, "version": "2.1.197", "gitBranch": "main", "type": role,
                "message": {"role": role, "content": said}, "uuid": f"{name}-{number}-{part}",
                "timestamp": at.isoformat().replace("+00:00", "Z"),
            }  # fmt: skip
            before = line["uuid"]
            yield line


@contextmanager
def remembering(root: Path, past: Past) -> Iterator[tuple[Machine, Memory]]:
    """A machine that remembers all of the past, with this process as its resident."""
    machine = Machine(root, past)
    machine.make_repository()
    settings = load_settings(environ=machine.env)
    with Memory.open(settings=settings) as memory:
        machine.write_notes(edited=False)
        machine.write_sessions()
        for folder in (machine.repository, machine.notes, machine.projects.parent):
            memory.sync(folder)
        if machine.write_notes(edited=True):
            memory.sync(machine.notes)
        embed(memory, {"embed": 0.0})
        memory.consolidate(if_due="4h")
        embed(memory, {"embed": 0.0})
        prepared = prepare_daemon(settings, lambda: memory, machine.env, "bench")
        if prepared is None:
            raise HollowError("This system has no resident.")
        server, handler = prepared
        handler.warm()
        server.open()
        try:
            yield machine, memory
        finally:
            server.close()
            handler.close()


@dataclass(frozen=True, slots=True)
class PutIn:
    """What was put into a session: at its start, and at each prompt."""

    start: str
    prompts: tuple[str, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        return self.start, *self.prompts

    def until(self, prompt: int) -> str:
        """All that was put in up to a prompt."""
        return "\n".join(self.texts[: prompt + 2])

    def repeated(self) -> int:
        """Memories that were put in before in this session."""
        found = [memory for text in self.texts for memory in memories(text)]
        return len(found) - len(set(found))

    def unreplaced(self, outdated: Mapping[str, str]) -> list[str]:
        """Outdated texts that were put in before or without the text that replaced them."""
        found = [memory for text in self.texts for memory in memories(text)]
        return [
            old
            for old, new in outdated.items()
            if any(
                holds(memory, [old]) and not holds("\n".join(found[:at]), [new])
                for at, memory in enumerate(found)
            )
        ]


def run_session(machine: Machine, memory: Memory, session: str, prompts: Sequence[Prompt]) -> PutIn:
    """Run the hooks of a new session; what is said in it is captured before each next prompt."""
    jobs = JobQueue(data_folder(machine.env), settings_fingerprint(machine.env))
    begun = machine.past.last + timedelta(days=9)
    said: list[tuple[str, str]] = []
    put_in: list[str] = []
    # The queue is held: what a session's start leaves to be done is done here already.
    with jobs.exclusive():
        start = machine.hook("session-start", session, source="startup")
        for prompt in prompts:
            if said:
                file = machine.write_transcript(session, Session(begun, tuple(said)))
                memory.sync(machine.projects.parent, only=file)
            put_in.append(machine.hook("prompt", session, prompt=prompt.text))
            said += [("U", prompt.text), ("A", prompt.answer)]
    return PutIn(start, tuple(put_in))


def judge(task: Task, put_in: PutIn) -> dict[str, Any]:
    """Compare what was put in with a task's labels."""
    first, later = task.prompts[0], list(enumerate(task.prompts))[1:]
    return {
        "task": task.past.name,
        "lies": task.lies,
        "first": holds(put_in.until(0), first.deciding),
        "start": holds(put_in.start, first.deciding),
        "prompt": holds(put_in.prompts[0], first.deciding),
        "outdated": holds("\n".join(put_in.texts), task.outdated),
        "unreplaced": bool(put_in.unreplaced(task.outdated)),
        "later": [holds(put_in.until(number), one.deciding) for number, one in later if one.deciding],
        "decoys": [len(memories(put_in.prompts[number])) for number, one in later if not one.deciding],
        "repeated": put_in.repeated(),
        "own": sum(holds("\n".join(put_in.texts), [one.text]) for one in task.prompts),
        "tokens": [count_tokens(text) for text in put_in.texts],
    }


def run(args: argparse.Namespace) -> dict[str, Any]:
    judged = []
    for half in HALVES if args.half == "both" else (args.half,):
        for task in read_tasks(half, args.tasks):
            with scratch() as folder, remembering(folder, task.past) as (machine, memory):
                put_in = run_session(machine, memory, "running", task.prompts)
            judged.append(judge(task, put_in))
            if args.misses:
                _print_misses(task, put_in, judged[-1])
    if not any(sum(one["tokens"]) for one in judged):
        raise HollowError(f"Nothing was put into any of {len(judged)} sessions.")
    figures = {place: summary([one for one in judged if one["lies"] == place]) for place in PLACES}
    figures = {place: found for place, found in figures.items() if found} | {"all": summary(judged)}
    columns = list(figures["all"])
    print(
        table(
            ["deciding text in", *columns], [[name, *map(str, one.values())] for name, one in figures.items()]
        )
    )
    first = figure([float(one["first"]) for one in judged], SEED)
    print(f"deciding text at the first prompt: {shown(first)}")
    return {"half": args.half, "figures": figures, "first": shown(first), "tasks": judged}


def summary(judged: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Figures of several tasks; none of no tasks."""
    if not judged:
        return {}
    count = len(judged)
    share = lambda name: round(sum(one[name] for one in judged) / count, 3)  # noqa: E731
    later = [found for one in judged for found in one["later"]]
    decoys = [found for one in judged for found in one["decoys"]]
    sizes = [sum(one["tokens"]) for one in judged]
    return {
        "tasks": count,
        **{name: share(name) for name in ("first", "start", "prompt")},
        **{name: sum(one[name] for one in judged) for name in ("outdated", "unreplaced")},
        "later": round(sum(later) / len(later), 3) if later else 0.0,
        "decoys": round(sum(decoys) / len(decoys), 3) if decoys else 0.0,
        **{name: sum(one[name] for one in judged) for name in ("repeated", "own")},
        "tokens": round(sum(sizes) / count),
        "most": max(sizes),
    }


def _print_misses(task: Task, put_in: PutIn, judged: Mapping[str, Any]) -> None:
    wrong = [] if judged["first"] else ["first"]
    wrong += [name for name in ("outdated", "unreplaced", "repeated", "own") if judged[name]]
    wrong += ["later"] * (not all(judged["later"])) + ["decoys"] * any(judged["decoys"])
    if not wrong:
        return
    print(f"\n{task.past.name} ({task.lies}): {', '.join(wrong)}")
    print(f"  outdated: {' | '.join(task.outdated)}")
    for prompt, text in zip((Prompt("(session start)"), *task.prompts), put_in.texts, strict=True):
        print(f"  > {prompt.text}\n    wanted: {' | '.join(prompt.deciding)}")
        for line in memories(text):
            print(f"      {line[:240]}")


def memories(text: str) -> list[str]:
    """The memories in what was put in, one a line."""
    return [line for line in text.splitlines() if line.startswith("- ")]


def holds(text: str, parts: Iterable[str]) -> bool:
    """Whether a text that was put in holds one of several parts, whatever its case and white space."""
    plain = _plain(html.unescape(text))
    return any(_plain(part) in plain for part in parts)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _rows(result: Mapping[str, Any]) -> list[Row]:
    figures = result["figures"]
    found = figures["all"]
    by_place = [f"{place} {short(one['first'])}" for place, one in figures.items() if place != "all"]
    what = (
        f"{found['tasks']} tasks of a coding agent ({result['half']}): deciding text put in at the first prompt; "
        "wanted .8, outdated 0, decoys 1, repeated 0"
    )
    value = (
        f"{result['first']} ({', '.join(by_place)}; session start alone {short(found['start'])}, "
        f"prompt alone {short(found['prompt'])}), sessions with something outdated {found['outdated']}, "
        f"of which before or without what replaced it {found['unreplaced']}, "
        f"later {short(found['later'])}, decoys {short(found['decoys'])} a prompt, "
        f"repeated {found['repeated']}, own turns {found['own']}; "
        f"tokens a session {found['tokens']:,}, most {found['most']:,}"
    )
    return [(what, value, "embed")]


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--half", choices=(*HALVES, "both"), default="dev")
    parser.add_argument("--tasks", type=int, metavar="N", help="the first N of a half only")
    parser.add_argument(
        "--misses", action="store_true", help="show what was put in where a figure is not as wanted"
    )


AGENT_TASKS = Command(__doc__, run, _options, _rows)
