"""Run one measurement: `python -m bench NAME`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from bench.command import Command, HollowError
from bench.data import DataError
from bench.report import circumstances, log_rows, write_json

COMMANDS = {
    "quality": ("quality:QUALITY", "how well search ranks, on sets of judged queries"),
    "mixed": ("mixed:MIXED", "whether the answer ranks first in a store of notes and conversations"),
    "vaults": ("vaults:VAULTS", "whether people find their own notes by questions in other words"),
    "history": ("history:HISTORY", "whether a git history buries notes"),
    "languages": ("languages:LANGUAGES", "questions in one language, passages in another"),
    "ablate": ("ablate:ABLATE", "what each channel, stage and fusion adds"),
    "silence-ask": ("silence:ASK", "collect what `silence` is fitted on"),
    "silence": ("silence:FIT", "fit and judge the relevance of results (search/relevance.json)"),
    "context": ("context:CONTEXT", "how much of the evidence a context holds, by its tokens"),
    "injected": ("context:INJECTED", "how often a context is injected, and whether it should be"),
    "speed": (
        "speed:SPEED",
        "time, memory and disk of stores beside bare FTS5; --rivals: of other tools too",
    ),
    "large-files": ("large_files:LARGE_FILES", "the sync of one large transcript and of one large note"),
    "embedders": ("speed:EMBEDDERS", "cold start, rate and size of the bundled embedding models"),
    "background": ("background:BACKGROUND", "processor and memory of the process that embeds"),
    "growth": ("growth:GROWTH", "what a store costs as it grows to a million memories"),
    "freshness": ("freshness:FRESHNESS", "what it costs a search to look for changed files"),
    "serving": ("serving:SERVING", "throughput and latency of `scrubjay serve` with several clients"),
    "tool-tokens": ("tool_tokens:TOOL_TOKENS", "tokens of what a model reads of a search by MCP"),
    "mcp": ("serving:MCP", "tokens of the MCP tools, and the round trip of a call"),
    "viewer": ("serving:VIEWER", "how long each page of the viewer takes"),
    "agent-tasks": (
        "agent_tasks:AGENT_TASKS",
        "what hooks put into an agent's session, on tasks whose deciding memory is known",
    ),
    "coding-agents": (
        "coding_agents:CODING_AGENTS",
        "write bench/examples/sessions.md: tasks of agents and what hooks put in",
    ),
    "story": (
        "story:STORY_COMMAND",
        "what Claude Code itself is given in the last two of seven sessions",
    ),
    "hooks": ("agents:HOOKS", "how long an agent waits for a hook, cold and with the resident"),
    "setup": ("agents:SETUP", "how long a person waits until notes are found and agents remember"),
    "starts": ("agents:STARTS", "cold starts of sessions on a busy machine: how many are delivered"),
    "proxy": ("agents:PROXY", "what the proxy adds to the first byte of an answer"),
    "postgres": ("postgres:POSTGRES", "many small tenants on PostgreSQL, and SQLite's answers to the same"),
    "postgres-large": ("postgres:LARGE", "one large tenant without and with `rebuild --large`"),
    "digests": (
        "digests:DIGESTS",
        "how many questions digests answer, and whether consolidation costs answers",
    ),
    "nights": ("digests:NIGHTS", "how long consolidation takes"),
    "secrets": ("redaction:SECRETS", "how many labelled secrets redaction removes, and what else"),
    "formats": ("redaction:FORMATS", "published token formats that redaction leaves"),
    "redactions": ("redaction:REDACTIONS", "everything that redaction replaces in files, to be read"),
    "projection": ("projection:PROJECTION", "fit the projection of token vectors that is shipped"),
    "tagger": ("tagger.train:TAGGER", "train the tagger of secrets that is shipped"),
    "plots": ("plots:PLOTS", "draw the figures of other commands as SVG"),
    "example": (
        "example:EXAMPLE",
        "write bench/examples/concepts.md: concepts and topics found in real notes",
    ),
    "structure": (
        "structure:STRUCTURE",
        "how much code there is, and how much of it one search and one sync use",
    ),
    "facts": ("facts:FACTS", "which statements are extracted from labelled turns, and what besides"),
    "learned": ("facts:LEARNED", "which statements are learned from whole sessions"),
    "ownership": ("facts:OWNERSHIP", "whose a statement is: the person's in all projects, or the project's"),
    "skills": (
        "skills:SKILLS",
        "which procedures are found in made-up sessions, and what of them is invented",
    ),
    "vouching": ("facts:VOUCHING", "what the check of a language model's statements accepts"),
    "changes": ("facts:CHANGES", "how well the change check classifies pairs of statements"),
    "supersede": ("facts:SUPERSEDE", "which older statements are superseded by newer ones"),
    "weigh": ("facts_fit:WEIGH", "fit the weights of statements that are shipped"),
    "weigh-changes": ("facts_fit:WEIGH_CHANGES", "fit the weights of the change check that are shipped"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code, 1 when the run measured nothing."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    name = given[0] if given else "--help"
    if name not in COMMANDS:
        print(_usage(), file=sys.stdout if name in ("-h", "--help") else sys.stderr)
        return 0 if name in ("-h", "--help") else 2
    module, _, attribute = COMMANDS[name][0].partition(":")
    command: Command = getattr(importlib.import_module(f"bench.{module}"), attribute)
    args = command.parser(name).parse_args(given[1:])
    try:
        result = {"what": name, **command.run(args)}
    except (DataError, HollowError, FileNotFoundError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    write_json(args.json, {**result, **circumstances()})
    if command.rows is not None and args.log:
        log_rows(command.rows(result))
    return 0


def _usage() -> str:
    lines = [f"  {name:<15} {about}" for name, (_, about) in COMMANDS.items()]
    head = "usage: python -m bench NAME [OPTIONS]; python -m bench NAME --help lists the options"
    return "\n".join([head, "", *lines])


if __name__ == "__main__":
    raise SystemExit(main())
