"""Tool calls: the shell commands that an agent ran, read from its log. They are never stored.

A call is an object that names a shell tool and holds its arguments, as Claude Code (``tool_use`` with ``input``), Codex
(``function_call`` with ``arguments`` as JSON), Gemini CLI (``toolCalls`` with ``args``) and pi (``toolCall``) write it.
Only logs of lines of JSON are read.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

SHELL_TOOLS: Final = frozenset(
    ("Bash", "bash", "exec", "exec_command", "local_shell", "run_shell_command", "shell", "shell_command")
)
"""Names under which agents offer a shell."""
MAX_LINE: Final = 1_000_000
"""Bytes of a line that is read; a longer one holds a result."""
_NEEDLES: Final = (b"command", b"cmd", b"is_error", b"isError", b"function_call_output")
_EXIT: Final = re.compile(r"(?:\"exit_code\":\s*|Process exited with code |Exit code: )-?[1-9]")
"""How Codex's results begin of a command that failed."""


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
            if len(line) > MAX_LINE or not any(needle in line for needle in _NEEDLES):
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):  # the importer reports lines that are broken
                continue
            for found in _objects(record):
                if _failed(found):
                    failed.add(_call_id(found))
                if command := _command(found):
                    calls.setdefault(_call_id(found) or f"{number}", ShellCall(number, command))
    return [call for name, call in calls.items() if name not in failed]


def _call_id(found: dict[str, Any]) -> str:
    names = (found.get(name) for name in ("tool_use_id", "toolCallId", "call_id", "id"))
    return next((name for name in names if isinstance(name, str)), "")


def _failed(found: dict[str, Any]) -> bool:
    """Return whether an object is the result of a failed call, or a call that says so itself."""
    if found.get("is_error") is True or found.get("isError") is True:
        return True
    if found.get("type") == "function_call_output":
        output = found.get("output")
        return (
            _EXIT.search(output[:_RESULT_HEAD] if isinstance(output, str) else json.dumps(output)) is not None
        )
    return "args" in found and found.get("status") in ("error", "cancelled")


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
            waiting += reversed(list(one.values()))
        elif isinstance(one, list):
            waiting += reversed(one)


def _command(call: dict[str, Any]) -> str:
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
