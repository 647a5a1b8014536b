"""add: a text -> one memory."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from scrubjay.errors import InputError, SourceError
from scrubjay.memory.tiers import ORIGINS, TIERS
from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.output import counted, line, write, write_json
from scrubjay.verbs import shape


@command("add")
@click.argument("text", nargs=-1)
@click.option("--file", type=click.Path(path_type=Path), help="Take the text from this file instead.")
@click.option(
    "--tier", type=click.Choice(TIERS), default="observation", show_default=True, help="Kind of memory."
)
@click.option("--title", default="", help="What to call it.")
@click.option("--tag", "tags", multiple=True, help="A tag; may be repeated.")
@click.option("--date", metavar="DATE", help="When what it tells of happened.")
@click.option("--valid-from", metavar="DATE", help="From when it is true.")
@click.option("--valid-until", metavar="DATE", help="Until when it is true.")
@click.option(
    "--confidence", metavar="NUMBER", type=click.FloatRange(0, 1), default=1.0, help="How sure it is, 0 to 1."
)
@click.option("--origin", type=click.Choice(ORIGINS), default="owner", show_default=True, help="Who said it.")
@click.option("--session", help="Conversation that it belongs to.")
@click.option("--role", help="Who speaks, in a conversation.")
@click.option("--turn", metavar="N", type=click.IntRange(0), help="Place within the conversation, from 0.")
@click.option("--project", help="Project that it belongs to: a name, the end of one, a path.")
@click.option("--agent", help="Agent that says it.")
@click.option("--public", is_flag=True, help="Let every user of the store see it.")
@click.option("--group", help="Let this group, one of yours in the settings, see it.")
@click.option("--pin", is_flag=True, help="Keep it from fading.")
def add(call: Call, text: tuple[str, ...], file: Path | None, public: bool, pin: bool, **fields: Any) -> None:
    """Add one memory: TEXT, or standard input when there is none or it is -.

    Adding the same again (text, tier, date, conversation) changes nothing; only blanks may differ. What is like it
    is named and stays. A statement that says itself that it changes a known one supersedes that, and it says so.
    Secrets in it are replaced before anything is stored.
    """
    content = read(text, file)
    given = {name: value for name, value in fields.items() if value is not None}
    visibility = "public" if public else "group" if fields.get("group") else "user"
    with call.open(new=True) as memory:
        done = memory.add(content, visibility=visibility, pinned=pin, **given)
    if call.json:
        write_json(shape.plain(done))
        return
    write(f"{done.id} {'was there already' if done.existed else 'added'}.")
    for what, ids in (("takes the place of", done.supersedes), ("contradicts", done.contradicts)):
        if ids:
            write(f"It {what} {', '.join(ids)}.")
    if done.similar:
        write(f"similar: {', '.join(done.similar)}")
    if done.learned:
        write(f"Learned from it: {', '.join(done.learned)}.")
    for kind, times in done.scrubbed.items():
        write(f"{counted(times, 'secret')} of kind {line(kind)} replaced.")
    if done.note:
        write(f"Also in {line(done.note)}.")


def read(text: tuple[str, ...], file: Path | None) -> str:
    """Return the text to add.

    Raises:
        InputError: There is none, or more than one.
        SourceError: The file cannot be read as text.
    """
    if file is not None:
        if text:
            raise InputError("add takes a text or --file, not both.")
        try:
            return file.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise SourceError(f"{file} cannot be read: {error.strerror}. Nothing was added.") from error
        except UnicodeDecodeError as error:
            raise SourceError(f"{file} is not UTF-8 at byte {error.start}. Nothing was added.") from error
    if text and text != ("-",):
        return " ".join(text)
    if not text and sys.stdin.isatty():
        raise InputError("There is nothing to add.", hint='scrubjay add "what to remember"')
    return sys.stdin.read()
