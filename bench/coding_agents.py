"""Write bench/examples/sessions.md: tasks of `agent-tasks`, with what hooks put into each session.

Those of the half for development that have a `told`. Nothing is left out because it failed.
"""

from __future__ import annotations

import argparse
import html
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.agent_tasks import PutIn, Task, holds, memories, read_tasks, remembering, run_session
from bench.command import Command, HollowError
from bench.harness import count_tokens, scratch
from bench.report import ROOT, commit

SHOWN = 420
"""Characters that are shown of a memory that does not decide the task."""
HEAD = """# What a coding agent is given

Made by `python -m bench coding-agents`, not by hand (commit {commit}). Each story is a made-up repository with weeks of
commits, notes and conversations with an agent, all of them synced. Then somebody begins a new session and describes a
symptom. Below is the text that the [hooks](../../docs/coding-agents.md#hooks) add to the session at its start and at
this prompt, before the model has opened a single file. The memory that decides the task is marked with **→**;
{hits} of these {count} sessions have it. Figures of all tasks: `python -m bench agent-tasks`, `bench/LOG.md`.
"""


def run(args: argparse.Namespace) -> dict[str, Any]:
    told = []
    for task in read_tasks("dev"):
        if task.told:
            with scratch() as folder, remembering(folder, task.past) as (machine, memory):
                told.append((task, run_session(machine, memory, "running", task.prompts[:1])))
    if not any(any(put_in.texts) for _, put_in in told):
        raise HollowError(f"Nothing was put into any of {len(told)} sessions.")
    hits = sum(holds(put_in.until(0), task.prompts[0].deciding) for task, put_in in told)
    page = [HEAD.format(commit=commit(), hits=hits, count=len(told))]
    for task, put_in in told:
        page += story(task, put_in)
    args.out.write_text("\n".join(page), encoding="utf-8")
    print(f"coding-agents: wrote {args.out}, {hits} of {len(told)} with the deciding memory")
    return {"tasks": len(told), "hits": hits}


def story(task: Task, put_in: PutIn) -> Iterator[str]:
    deciding = task.prompts[0].deciding
    yield f"## {task.past.name}\n"
    yield f"{task.domain[0].upper()}{task.domain[1:]}, {task.language}. {task.told}\n"
    yield f"> {task.prompts[0].text}\n"
    for name, text in zip(("the session's start", "the prompt"), put_in.texts, strict=True):
        if not text:
            yield f"Nothing was added at {name}.\n"
            continue
        yield f"Added at {name} ({count_tokens(text)} tokens):\n"
        yield from (_line(line, holds(line, deciding)) for line in memories(text))
        yield ""
    if not holds(put_in.until(0), deciding):
        yield f"Missing: “{deciding[0]}” ({task.lies}).\n"


def _line(memory: str, decides: bool) -> str:
    """One memory as a list item of Markdown in which nothing is markup."""
    text = html.unescape(memory.removeprefix("- "))
    text = text if decides or len(text) <= SHOWN else text[:SHOWN].rstrip() + " …"
    fence = "``" if "`" in text else "`"
    return f"- {'**→** ' * decides}{fence} {text} {fence}"


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "examples" / "sessions.md")


CODING_AGENTS = Command(__doc__, run, _options)
