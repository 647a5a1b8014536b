"""Pages that a person wrote say of the read path what the code says."""

from __future__ import annotations

import re

from tree import PACKAGE, ROOT

from scrubjay.search import pipeline
from scrubjay.search.request import CHANNELS, FUSIONS, STAGES

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


def test_the_index_leads_to_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text("utf-8")
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")} - {
        "index.md"
    }
    assert {page for page in pages if f"({page})" not in index} == set()


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
