"""redactions: what was replaced before it was stored."""

from __future__ import annotations

import click

from scrubjay.surfaces.cli.command import Call, Command
from scrubjay.surfaces.cli.output import line, write, write_json
from scrubjay.verbs import shape


@click.command("redactions", cls=Command)
def redactions(call: Call) -> None:
    """List the secrets that were replaced, with their places.

    Each line names file and line (or the memory's id), the kind, and what stands around the mark. The secrets
    themselves are stored nowhere.
    """
    with call.open(cold=True) as memory:
        found = memory.redactions()
    if call.json:
        write_json({"redactions": shape.plain(found)})
        return
    for one in found:
        where = f"{one.path}:{one.line}" if one.path else one.memory
        write(line(f"{where}  {one.kind}  {one.before}[…]{one.after}"))
    if not found:
        write("Nothing was redacted.")
