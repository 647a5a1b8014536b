"""A story of seven sessions in one repository, whose last two are run with Claude Code itself.

Five sessions, notes and commits of some weeks (`labels/story.toml`) are stored as `agent-tasks` stores those of a task.
Then `scrubjay install claude-code` is run in that home, and Claude Code (`--claude`, from npm:
@anthropic-ai/claude-code) is given ten prompts in two sessions, against a stand-in for the model's server that records
each request and answers as the story says. Counted is what is in the requests: `deciding`, prompts whose deciding text
was put in by then; `outdated`, superseded texts; `unreplaced`, those that a session was given before or
without what replaced them; `repeated`, memories put in twice in a session; `tokens` of all.

Without `--claude` the hooks are run alone, as Claude Code runs them.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import threading
import time
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.agent_tasks import (
    Machine,
    Past,
    Prompt,
    PutIn,
    holds,
    memories,
    read_prompt,
    remembering,
    run_session,
)
from bench.agents import upstream
from bench.command import Command, HollowError, Row
from bench.harness import count_tokens, embed, scratch
from bench.processes import command
from scrubjay import Memory
from scrubjay.api.jobs import JobQueue
from scrubjay.config.paths import data_folder, settings_fingerprint

STORY = Path(__file__).parent / "labels" / "story.toml"
BLOCK = re.compile(r"<scrubjay-memories.*?</scrubjay-memories>", re.DOTALL)
PATIENCE = 120.0
"""Seconds until Claude Code must have ended a session, or hooks' jobs be done."""


def run(args: argparse.Namespace) -> dict[str, Any]:
    story = tomllib.loads(STORY.read_text("utf-8"))
    past = Past.read(story)
    sessions = [tuple(map(read_prompt, live["prompts"])) for live in story["live"]]
    with scratch() as folder, remembering(folder, past) as (machine, memory):
        if args.claude:
            put_in = _with_claude_code(shlex.split(args.claude), machine, memory, sessions)
            by = f"Claude Code {_version(shlex.split(args.claude), machine)}"
        else:
            put_in = [
                run_session(machine, memory, f"live-{number}", prompts)
                for number, prompts in enumerate(sessions)
            ]
            by = "hooks alone, without Claude Code"
    if not any(one.start or any(one.prompts) for one in put_in):
        raise HollowError("Nothing was put into any session.")
    result = {"by": by, **judge(story["outdated"], sessions, put_in)}
    _print(result, sessions, put_in)
    return result


def judge(
    outdated: Mapping[str, str], sessions: Sequence[Sequence[Prompt]], put_in: Sequence[PutIn]
) -> dict[str, Any]:
    found = [
        holds(one.until(number), prompt.deciding)
        for prompts, one in zip(sessions, put_in, strict=True)
        for number, prompt in enumerate(prompts)
    ]
    texts = [text for one in put_in for text in one.texts]
    return {
        "prompts": len(found),
        "deciding": sum(found),
        "outdated": sum(holds("\n".join(texts), [old]) for old in outdated),
        "unreplaced": sum(len(one.unreplaced(outdated)) for one in put_in),
        "repeated": sum(one.repeated() for one in put_in),
        "memories": sum(len(memories(text)) for text in texts),
        "tokens": sum(count_tokens(text) for text in texts),
        "found": found,
    }


def _with_claude_code(
    claude: Sequence[str], machine: Machine, memory: Memory, sessions: Sequence[Sequence[Prompt]]
) -> list[PutIn]:
    _run([*command(), "install", "claude-code", "--yes"], machine)
    answers = {prompt.text: prompt.answer for prompts in sessions for prompt in prompts}
    put_in = []
    with upstream(lambda request: _stream(_answer(request, answers))) as (url, received):
        for prompts in sessions:
            _talk(claude, machine, url, prompts)
            _quiet(machine)
            embed(memory, {"embed": 0.0})
            put_in.append(_put_in(received, prompts))
            received.clear()
    return put_in


def _talk(claude: Sequence[str], machine: Machine, url: str, prompts: Sequence[Prompt]) -> None:
    """Have one session: each prompt is sent when the one before was answered."""
    env = machine.env | {
        "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none", "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }  # fmt: skip
    arguments = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
    with subprocess.Popen(
        [*claude, *arguments],
        env=env,
        cwd=machine.repository,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        watch = threading.Timer(PATIENCE, process.kill)
        watch.start()
        try:
            for prompt in prompts:
                message = {"role": "user", "content": [{"type": "text", "text": prompt.text}]}
                process.stdin.write(json.dumps({"type": "user", "message": message}) + "\n")
                process.stdin.flush()
                for line in process.stdout:
                    if json.loads(line).get("type") == "result":
                        break
            process.stdin.close()
            process.stdout.read()
        finally:
            watch.cancel()
    if process.returncode:
        raise HollowError(f"Claude Code ended with {process.returncode}.")


def _put_in(received: Sequence[bytes], prompts: Sequence[Prompt]) -> PutIn:
    """What scrubjay put into the requests of a session, by the prompt with which it came first."""
    bodies = [json.loads(one) for one in received]
    start: tuple[str, ...] = ()
    found: list[str] = []
    known = 0
    for prompt in prompts:
        asked = [
            body for body in bodies if body.get("tools") and prompt.text in _texts(body["messages"][-2:])
        ]
        if not asked:
            raise HollowError(f"No request holds the prompt {prompt.text[:60]!r}.")
        blocks = BLOCK.findall(_texts([asked[0].get("system"), asked[0]["messages"]]))
        fresh = blocks[known:]
        known = len(blocks)
        if not found and len(fresh) > 1:
            start, fresh = tuple(fresh[:-1]), fresh[-1:]
        found.append("\n".join(fresh))
    return PutIn("\n".join(start), tuple(found))


def _texts(part: Any) -> str:
    """All texts within a part of a request."""
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        return "\n".join(_texts(part[name]) for name in ("text", "content") if name in part)
    return "\n".join(map(_texts, part)) if isinstance(part, list) else ""


def _answer(request: bytes, answers: Mapping[str, str]) -> str:
    messages = json.loads(request).get("messages", [])
    last = _texts(messages[-2:])
    said = [answer for prompt, answer in answers.items() if prompt in last]
    return said[-1] if said else "OK."


def _stream(text: str) -> bytes:
    """An answer as the Messages API streams it."""
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "stand-in", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 9},
        },
        {"type": "message_stop"},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


def _quiet(machine: Machine) -> None:
    """Wait until what the hooks of a session left to be done is done."""
    jobs = JobQueue(data_folder(machine.env), settings_fingerprint(machine.env))
    end = time.monotonic() + PATIENCE
    while jobs.waiting() or jobs.busy():
        if time.monotonic() > end:
            raise HollowError("The jobs of hooks did not end.")
        time.sleep(0.1)


def _version(claude: Sequence[str], machine: Machine) -> str:
    return _run([*claude, "--version"], machine).split()[0]


def _run(arguments: Sequence[str], machine: Machine) -> str:
    done = subprocess.run(arguments, env=machine.env, cwd=machine.repository, capture_output=True, text=True)
    if done.returncode:
        raise HollowError(f"{arguments[0]} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout


def _print(result: Mapping[str, Any], sessions: Sequence[Sequence[Prompt]], put_in: Sequence[PutIn]) -> None:
    found = iter(result["found"])
    for prompts, one in zip(sessions, put_in, strict=True):
        print(f"session start: {len(memories(one.start))} memories, {count_tokens(one.start)} tokens")
        for prompt, text in zip(prompts, one.prompts, strict=True):
            print(f"  {'+' if next(found) else '-'} {prompt.text[:90]}")
            for line in memories(text):
                print(f"      {line[:150]}")
    print({name: value for name, value in result.items() if name != "found"})


def _rows(result: Mapping[str, Any]) -> list[Row]:
    what = (
        f"story of seven sessions, {result['by']}; wanted: deciding text put in at 8 of 10 prompts, "
        "outdated 0, repeated 0, 2,500 tokens"
    )
    value = (
        f"deciding {result['deciding']} of {result['prompts']}, outdated {result['outdated']}, "
        f"of which before or without what replaced it {result['unreplaced']}, "
        f"repeated {result['repeated']} of {result['memories']}, tokens {result['tokens']:,}"
    )
    return [(what, value, "embed")]


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--claude", metavar="COMMAND", help="Claude Code's command, such as node_modules/.bin/claude"
    )


STORY_COMMAND = Command(__doc__, run, _options, _rows)
