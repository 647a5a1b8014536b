"""sources: the registered folders and files, and the end of one."""

from __future__ import annotations

from typing import Final

import click

from scrubjay.memory.reports import SourceStatus
from scrubjay.surfaces.cli.command import Call, Command, Group
from scrubjay.surfaces.cli.output import counted, line, table, write, write_json
from scrubjay.verbs import shape

_TRUST: Final = {
    "own": "trusted",
    "joint": "untrusted{} (others work on it with you)",
    "foreign": "untrusted{} (not your work)",
    "trusted": "trusted, as you said",
    "untrusted": "untrusted, as you said",
}


@click.group("sources", cls=Group, invoke_without_command=True)
@click.pass_context
def sources(ctx: click.Context) -> None:
    """List sources, or remove one.

    Without a command it lists.
    """
    if ctx.invoked_subcommand is None:
        show(ctx.obj)


@sources.command("list", cls=Command)
def list_(call: Call) -> None:
    """List the registered sources."""
    show(call)


@sources.command("remove", cls=Command)
@click.argument("source", metavar="ID|PATH")
def remove(call: Call, source: str) -> None:
    """Remove a source with everything that came from it; its files are not touched.

    What was learned or told from it alone goes as well; what has other evidence stays.
    """
    with call.open(cold=True) as memory:
        gone = memory.remove_source(source)
    if call.json:
        write_json(shape.plain(gone))
    else:
        brought = counted(gone.passages, "passage")
        if gone.derived:
            brought += f" and {counted(gone.derived, 'memory')} that rested on it alone"
        write(f"{line(gone.root)} removed, with {brought}. Its files were not touched.")


def show(call: Call) -> None:
    """Print the registered sources."""
    with call.open(cold=True) as memory:
        found = memory.sources()
    if call.json:
        write_json({"sources": shape.plain(found)})
        return
    for text in rows(found):
        write(text)
    if not found:
        write("No source is registered.\nhint: scrubjay sync DIR")


def rows(found: list[SourceStatus]) -> list[str]:
    """Return one line a source."""
    if not found:
        return []
    return table(
        [
            (
                each.id,
                each.root + ("" if each.present else " (not there now)"),
                counted(each.documents, "file"),
                counted(each.passages, "passage"),
                f"project {each.project}" if each.project else "no project",
                _TRUST[each.trust].format(" in part" if each.untrusted < each.documents else "")
                + (", shared by front matter" if each.share else ""),
                f"synced {each.synced}" if each.synced else "never synced",
                each.description,
            )
            for each in found
        ]
    )
