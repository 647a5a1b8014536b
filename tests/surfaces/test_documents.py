"""A passage of a document is shown with its heading or page on every surface, and edited on none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from viewer_pages import Pages, pages, settings_of

from scrubjay.api.auth import TokenStore
from scrubjay.config.loader import load_settings
from scrubjay.server.mcp.server import build_server
from scrubjay.server.session import Session

LEASE = (
    "<h1>Lease</h1><p>The parties agree.<h2>Terms of payment</h2><p>The berth in Lisbon costs forty euros."
)
ANCHOR = "#terms-of-payment"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "papers" / "lease.html"
    made.parent.mkdir()
    made.write_text(LEASE)
    return made


@pytest.fixture
def site(environ: dict[str, str], tokens: TokenStore, file: Path) -> Iterator[Pages]:
    with pages(settings_of(environ), tokens) as found:
        found.memory.sync(file.parent)
        yield found


def test_the_command_line_cites_a_heading_and_takes_the_citation(cli: Any, file: Path) -> None:
    cli("sync", file.parent)
    (result,) = cli("search", "berth in Lisbon", "-n", "1", "--json").json["results"]
    assert result["citation"] == f"{file}{ANCHOR}"
    assert (result["line_start"], result["line_end"]) == (None, None)
    (memory,) = cli("get", result["citation"], "--json").json["memories"]
    assert (memory["id"], memory["citation"]) == (result["id"], result["citation"])
    assert f"[lease.html{ANCHOR}]" in cli("context", "berth in Lisbon").out


def test_a_model_reads_path_and_heading_and_can_ask_for_them(environ: dict[str, str], file: Path) -> None:
    with Session(load_settings()) as session:
        session.memory().sync(file.parent)
        texts: list[str] = []

        async def main() -> None:
            with anyio.fail_after(60):
                async with Client(build_server(session, lambda _: session.owner, here="")) as client:
                    for tool, arguments in (
                        ("memory_search", {"query": "berth in Lisbon"}),
                        ("memory_get", {"path": f"{file}{ANCHOR}"}),
                    ):
                        done = await client.call_tool(tool, arguments)
                        assert not done.is_error, done.content
                        texts.append(str(done.content[0].text))

        anyio.run(main)
    assert f"lease.html{ANCHOR}" in texts[0]
    assert "lease.html:" not in texts[0]
    assert "forty euros" in texts[1]
    assert "parties" not in texts[1]


def test_the_viewer_shows_the_heading_and_edits_no_document(site: Pages, file: Path) -> None:
    assert f"{file}{ANCHOR}" in site.get("/?query=berth+in+Lisbon").text
    (record,) = site.memory.get(path=f"{file}{ANCHOR}").records
    form = site.get(f"/memories/{record.id}/edit")
    assert "its text was read from a document (.html), which is not written" in form.text
    fields = {"content": "The berth is free.", "was": record.content_hash}
    said = site.post(f"/memories/{record.id}/edit", fields)
    assert said.status_code == 422
    assert "Nothing was written" in said.text
    assert file.read_text() == LEASE
