"""skills: list, show and write procedures that repeat."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scrubjay.cli.main import Call, Group, suggest
from scrubjay.cli.output import BOLD, format_count, indent, paint, write, write_json
from scrubjay.errors import InputError, NotFoundError
from scrubjay.text.display import single_line, strip_control

if TYPE_CHECKING:
    from scrubjay.consolidation.skills import Skill
    from scrubjay.memory import Memory


MAX_ASKED = 60
"""Characters of a request that the list shows."""


@click.group("skills", cls=Group, default="list")
def skills() -> None:
    """List commands that repeat across conversations, and write them as skills for agents.

    A procedure is three or more commands that at least three conversations of a project ran in the same order after
    similar requests. Nothing is written by itself.
    """


@skills.command("list")
def list_(call: Call) -> None:
    """List the procedures, with their steps and the conversations that carried them out."""
    with call.open(cold=True) as memory:
        found = memory.skills()
    if call.print_json({"skills": found}):
        return
    if not found:
        write("No procedure repeats: none was carried out alike in three sessions of a project.")
    for one in found:
        where = f"  {single_line(one.project)}" if one.project else ""
        write(f"{paint(one.name, BOLD)}{where}  {format_count(len(one.sessions), 'session')}")
        for number, step in enumerate(one.steps, 1):
            write(indent(f"{number}. {single_line(step.command)}"))
        for evidence in one.sessions:
            asked = textwrap.shorten(single_line(evidence.request), MAX_ASKED, placeholder=" …")
            write(indent(f"{evidence.date or 'no date':10}  {single_line(evidence.session)}  {asked}"))
    if found:
        write(
            f"\nscrubjay skills show {found[0].name} prints its SKILL.md; `write` writes it, after a diff and a yes."
        )


@skills.command("show")
@click.argument("name")
def show(call: Call, name: str) -> None:
    """Print the SKILL.md of a procedure."""
    from scrubjay.consolidation.skills import skill_markdown

    with call.open(cold=True) as memory:
        text = skill_markdown(_find(memory.skills(), name))
    if not call.print_json({"name": name, "text": text}):
        write(text.removesuffix("\n"))


@skills.command("write")
@click.argument("name")
@click.option(
    "--to",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder of skills.  [default: .claude/skills of the project]",
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def write_(call: Call, name: str, to: Path | None, yes: bool) -> None:
    """Write a procedure as NAME/SKILL.md, after showing the difference.

    A file that somebody edited is replaced only after you have seen the difference and agreed; --yes is not enough.
    """
    from scrubjay.agents.base import Change, read_file
    from scrubjay.agents.installation import unified_diff, write_changes
    from scrubjay.consolidation.skills import is_unedited, skill_markdown

    with call.open(cold=True) as memory:
        skill = _find(memory.skills(), name) if to is not None else _find_here(memory, name)
    path = (to or _project_folder() / ".claude" / "skills").absolute() / skill.name / "SKILL.md"
    old = read_file(path)
    change = Change(path, old, skill_markdown(skill).encode())
    shown = {"path": str(path), "diff": unified_diff(change) if change.new != old else ""}
    if change.new == old:
        if not call.print_json({"done": False, **shown}):
            write(f"{single_line(str(path))} is up to date.")
        return
    if not call.json:
        write(strip_control(shown["diff"]).rstrip("\n"))
    edited = old is not None and not is_unedited(old.decode("utf-8", "replace"))
    if edited and yes:
        raise InputError(
            f"{path} was edited, or was not written by scrubjay. Nothing was written.",
            hint="leave out --yes to decide by the difference, or name another folder: --to DIR",
        )
    if not yes:
        if call.json or not sys.stdin.isatty():
            raise InputError(
                "Confirmation needed but stdin is not a terminal. Nothing was written.", hint="add --yes"
            )
        question = "\nReplace the edited file?" if edited else "\nWrite this file?"
        click.confirm(question, abort=True, err=True)
    write_changes([change])
    if call.json:
        write_json({"done": True, **shown})
        return
    write(f"\nWritten. Agents use it from their next session on.\nundo: delete {single_line(str(path))}")


def _find(known: Sequence[Skill], name: str) -> Skill:
    names = [one.name for one in known]
    if name not in names:
        there = f"Those that repeat: {', '.join(names)}." if names else "No procedure repeats."
        raise NotFoundError(
            f"No procedure is called {name!r:.80}. {there}{suggest(name, names)}", hint="scrubjay skills"
        )
    return known[names.index(name)]


def _find_here(memory: Memory, name: str) -> Skill:
    """Return a procedure of the current folder's project.

    Raises:
        InputError: It is another project's, so that the folder to write to must be named.
    """
    from scrubjay.ingest.projects import project_of_directory

    here = memory.skills(project=".") if project_of_directory(".").folder else ()
    own = next((one for one in here if one.name == name), None)
    if own is None:
        skill = _find(memory.skills(), name)
        whose = f"of the project {skill.project}" if skill.project else "of no project"
        raise InputError(
            f"{name} is {whose}, not of the one in this folder. Nothing was written.",
            hint=f"go to its folder, or name a folder of skills: scrubjay skills write {name} --to DIR",
        )
    return own


def _project_folder() -> Path:
    """Return the root of the repository that the current folder is in, else the folder itself."""
    here = Path.cwd()
    return next((one for one in (here, *here.parents) if (one / ".git").exists()), here)
