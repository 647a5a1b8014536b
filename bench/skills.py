"""Skills: which procedures are found in made-up sessions, and whether anything in them was invented.

labels/skills_dev.jsonl has a line for each session (``project``, ``date``, ``request``, ``commands`` and the
``procedure`` that it carries out, if any) and one for each procedure with its ``steps`` as the latest session ran them.
Sessions are synced as logs of Claude Code. A procedure is right when its sessions and steps are the labelled ones; a
step that no session ran word for word is invented.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.command import Command, HollowError
from bench.facts import labelled
from scrubjay import Memory
from scrubjay.config.loader import load_settings

Row = dict[str, Any]


def skills(args: argparse.Namespace) -> Row:
    rows = labelled(args.file.resolve())
    sessions = [row for row in rows if "session" in row]
    wanted = {row["procedure"]: row["steps"] for row in rows if "steps" in row}
    if not sessions or not wanted:
        raise HollowError(f"{args.file} has no sessions or no procedures.")
    evidence: defaultdict[str, list[str]] = defaultdict(list)
    for one in sessions:
        if one["procedure"]:
            evidence[one["procedure"]].append(one["session"])
    labels = {(tuple(evidence[name]), tuple(steps)) for name, steps in wanted.items()}
    with tempfile.TemporaryDirectory() as place:
        (config := Path(place, "none.toml")).touch()
        for one in sessions:
            Path(place, one["project"], ".git").mkdir(parents=True, exist_ok=True)
            Path(place, one["project"], ".git", "HEAD").write_text("ref: refs/heads/main\n")
            log = Path(place, "logs", f"{one['session']}.jsonl")
            log.parent.mkdir(exist_ok=True)
            log.write_text("".join(f"{json.dumps(line)}\n" for line in session_log(one, Path(place))))
        with Memory.open("memory://", settings=load_settings(config, {})) as memory:
            memory.sync(Path(place, "logs"))
            found = memory.skills()
    ran = "\n".join(command for one in sessions for command in one["commands"])
    exact = [
        (tuple(each.session for each in one.sessions), tuple(step.command for step in one.steps)) in labels
        for one in found
    ]
    steps = [step.command for one in found for step in one.steps]
    for one, right in zip(found, exact, strict=True):
        print(f"{'+' if right else '?'} {one.name}: {', '.join(step.command for step in one.steps)}")
    result = {
        "sessions": len(sessions),
        "procedures": len(wanted),
        "found": len(found),
        "right": sum(exact),
        "steps": len(steps),
        "invented": sum(step not in ran for step in steps),
    }
    print(", ".join(f"{name} {value}" for name, value in result.items()))
    return result


def session_log(session: Row, folder: Path) -> Iterator[Row]:
    """A session as Claude Code logs it: the request, and a shell call with its result for each command."""
    content: list[tuple[str, str | Sequence[Row]]] = [("user", session["request"])]
    for number, command in enumerate(session["commands"]):
        call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
        content.append(("assistant", [call]))
        content.append(("user", [{"type": "tool_result", "tool_use_id": f"t{number}", "content": "ok"}]))
    content.append(("assistant", "That is done."))
    for number, (role, said) in enumerate(content):
        yield {
            "parentUuid": f"{session['session']}-{number - 1}" if number else None,
            "isSidechain": False,
            "cwd": str(folder / session["project"]),
            "sessionId": session["session"],
            "type": role,
            "message": {"role": role, "content": said},
            "uuid": f"{session['session']}-{number}",
            "timestamp": f"{session['date']}T10:{number:02}:00.000Z",
        }


def _options(parser: argparse.ArgumentParser) -> None:
    default = Path(__file__).parent / "labels" / "skills_dev.jsonl"
    parser.add_argument("file", nargs="?", type=Path, default=default)


SKILLS = Command(__doc__, skills, _options)
