"""Main: argv -> exit code. Which commands there are, and what an error looks like.

Exit codes: 0 done (also when nothing was found), 1 `doctor` found a problem, 2 wrong use or wrong setting,
3 a source cannot be read, 4 the store cannot do it now, 5 a model failed, 130 interrupted, 141 nobody reads the
output any more.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from scrubjay.errors import InputError, ScrubjayError
from scrubjay.surfaces.cli.command import Group

INTERRUPTED = 130
UNREAD = 141
"""128 and the signal's number, as a shell reports SIGINT and SIGPIPE."""

SECTIONS = {
    "Start": ("demo", "sync", "watch", "sources", "import"),
    "Ask": ("search", "thread", "context", "get", "history", "concepts", "categories"),
    "Write": ("add", "feedback", "archive", "restore", "forget"),
    "Look after": (
        "status", "doctor", "config", "redactions", "models", "embed", "consolidate", "audit", "rebuild",
        "export", "backup", "copy",
    ),
    "Serve": ("serve", "mcp", "proxy", "token"),
    "Agents": ("install", "uninstall", "pause", "resume", "hook", "resident", "completion"),
}  # fmt: skip
"""The commands as `--help` groups them, those used first standing first."""

_PLACES = {
    "rebuild": "embed:rebuild",
    **dict.fromkeys(("archive", "restore", "feedback", "history"), "life:{}"),
    **dict.fromkeys(("export", "backup", "copy"), "move:{}"),
    "import": "move:import_",
    "uninstall": "install:uninstall",
    "resume": "pause:resume",
}
"""Modules of the commands that share one; any other command is a function of its own name in a module of its name."""

COMMANDS = {
    name: f"scrubjay.surfaces.cli.{_PLACES.get(name, '{0}:{0}').format(name)}"
    for names in SECTIONS.values()
    for name in names
}

ALIASES = {
    "remember": "add",
    "rm": "forget",
    "delete": "forget",
    "remove": "forget",
    "list": "sources",
    "ls": "sources",
}
"""Words that people type for a command; `--help` names the command alone."""


@click.group(
    "scrubjay",
    cls=Group,
    lazy=COMMANDS,
    sections=SECTIONS,
    aliases=ALIASES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="scrubjay", message="scrubjay %(version)s")
def cli() -> None:
    """Memory for AI agents that knows what, where and when.

    Start with `scrubjay sync DIR` to ingest a folder of notes, then ask: `scrubjay search QUESTION`.
    """


def main() -> None:
    """Run the command that the process was called with, and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        # What the terminal cannot show comes out as an escape; it must not end the command.
        getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace")
    sys.exit(run(sys.argv[1:]))


def run(args: Sequence[str]) -> int:
    """Run a command line and return its exit code; every expected error is printed, not raised."""
    try:
        return _invoke(args)
    except ScrubjayError as error:
        _report(error, args)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        print(file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # What is still buffered would fail once more when Python exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD


def _invoke(args: Sequence[str]) -> int:
    try:
        code = cli.main(list(args), prog_name="scrubjay", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as wanted:
        return wanted.exit_code
    except SystemExit as ended:  # so click ends what a shell's completion asked (0) and a broken pipe (1)
        return UNREAD if ended.code else 0
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "scrubjay"
        raise InputError(error.format_message(), hint=f"{where} --help") from error
    except click.ClickException as error:
        raise InputError(error.format_message()) from error
    return code if isinstance(code, int) else 0


def _report(error: ScrubjayError, args: Sequence[str]) -> None:
    from scrubjay.surfaces.cli.output import RED, clean, colourful, indent, paint, tell, write_json
    from scrubjay.verbs import shape

    # A command line that cannot be parsed has no options yet, so the words themselves are looked at.
    options = args[: args.index("--")] if "--" in args else args
    if "--json" in options:
        write_json(shape.error(error))
        return
    on = colourful(sys.stderr)
    for name, text in ((paint("error:", RED, on=on), str(error)), ("hint:", error.hint)):
        if text:
            tell(f"{name} {indent(clean(text)).strip()}")
