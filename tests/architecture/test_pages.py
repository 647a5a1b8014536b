"""Pages that a person wrote say of the read path what the code says."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from tree import PACKAGE, ROOT, tracked

from scrubjay.cli.main import COMMON_OPTIONS, cli
from scrubjay.models.results import FUSIONS
from scrubjay.search import pipeline
from scrubjay.search.request import CHANNELS, STAGES
from scrubjay.text.markdown import heading_slug

RANKING = (ROOT / "docs" / "ranking.md").read_text("utf-8")


def test_the_page_gives_the_stages_in_the_order_of_the_code() -> None:
    told = re.search(r"plan > [a-z >\n]+", pipeline.__doc__ or "")
    assert told is not None
    assert " ".join(told[0].split()) in " ".join(RANKING.split())


def test_the_page_names_every_stage_channel_and_fusion_that_can_be_chosen() -> None:
    rows = {
        name
        for row in re.findall(r"^\| ([^|]*)", RANKING, re.MULTILINE)
        for name in re.findall(r"`(\w+)", row)
    }
    assert set(STAGES) - rows == set()
    assert set(CHANNELS) - rows == set()
    assert set(FUSIONS) - rows == set()


def test_the_index_and_the_navigation_of_the_site_lead_to_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text("utf-8")
    site = re.findall(r"\bdocs/([\w/-]+\.md)", (ROOT / "mkdocs.yml").read_text("utf-8"))
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert {page for page in pages - {"index.md"} if f"({page})" not in index} == set()
    assert set(site) == pages


FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def test_every_link_of_a_page_leads_to_a_file_and_to_a_heading_in_it() -> None:
    broken = []
    for page in tracked("*.md"):
        if {"demo_notes", "golden"} & set(page.parts):  # what the demo and a test read, no pages
            continue
        for link in re.findall(r"\]\(([^)\s]+)\)", FENCED.sub("", page.read_text("utf-8"))):
            place, _, anchor = link.partition("#")
            target = (page.parent / place).resolve() if place else page
            if re.match(r"[a-z]+:", link):
                continue
            if not target.exists():
                broken.append((page.name, link))
            elif anchor:
                text = FENCED.sub("", target.read_text("utf-8"))
                headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
                if anchor not in map(heading_slug, headings):
                    broken.append((page.name, link))
    assert broken == []


def test_every_file_and_folder_that_the_architecture_names_exists() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    text = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    named = re.findall(r"`([\w./]+(?:\.py|\.json|\.md|/))`", text)
    places = {path.name for path in PACKAGE.rglob("*")}
    missing = [
        name
        for name in named
        if not (PACKAGE / name).exists() and not (ROOT / name).exists() and name.rstrip("/") not in places
    ]
    assert missing == []


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMAND = re.compile(r"(?:`|^\$ )scrubjay ([a-z-]+)(?: ([a-z-]+))?([^`\n]*)", re.MULTILINE)


def _options(names: list[str]) -> set[str]:
    """The options of a command, of its group, and those that every command takes."""
    found = {name for each in cli.params if each.name in COMMON_OPTIONS for name in each.opts} | {
        "--version",
        "--help",
    }
    command: click.Command | None = cli
    for name in names:
        if not isinstance(command, click.Group):
            break
        command = command.get_command(click.Context(command), name) or command
        found |= {name for each in command.params for name in [*each.opts, *each.secondary_opts]}
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_option_that_a_page_gives_a_command_exists(page: Path) -> None:
    missing = {
        f"scrubjay {command} {option}"
        for command, second, rest in COMMAND.findall(page.read_text("utf-8"))
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", rest.partition(" #")[0])
        if option not in _options([command, second])
    }
    assert missing == set()


def test_every_page_that_code_and_hints_name_exists() -> None:
    """Another project's file is named between backticks."""
    files = [
        path for folder in ("src", "scripts", "bench", "examples") for path in (ROOT / folder).rglob("*.py")
    ]
    named = {
        (path.relative_to(ROOT).as_posix(), page)
        for path in [*files, ROOT / "Makefile", ROOT / "ARCHITECTURE.md"]
        for page in re.findall(r"(?<![\w/.`-])docs/[\w/-]+\.md", path.read_text("utf-8"))
    }
    assert sorted(pair for pair in named if not (ROOT / pair[1]).exists()) == []


def test_the_first_screen_of_the_readme_says_how_to_install_try_and_test() -> None:
    screen = "\n".join((ROOT / "README.md").read_text("utf-8").splitlines()[:40])
    assert [one for one in ("pip install", "make demo", "make test") if one not in screen] == []
