"""Screenshots: the viewer over the notes of the demo, as docs/viewer.md shows it.

    python scripts/screenshots.py [--out docs/viewer] [--browser /usr/bin/chromium]

Needs the developer's environment and a Chromium. The store, the settings and the browser's profile are new folders that
are removed afterwards; nothing of yours is read.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

BROWSER = "/usr/bin/chromium"
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync"]  # fmt: skip
WIDE = {"width": 1180, "height": 820}
PHONE = {"width": 390, "height": 780}
SAID = (
    ("Mara prefers the boat berth in Lisbon to the one in Porto.", "2026-04-03", ["boats"]),
    ("We decided to leave MongoDB because transactions across shops were lost.", "2026-03-12", ["decision"]),
    ("The berth in Lisbon costs forty euros a night.", "2026-04-20", ["boats", "money"]),
)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "docs" / "viewer")
    parser.add_argument("--browser", default=BROWSER)
    wish = parser.parse_args()
    wish.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="scrubjay-shots-", ignore_cleanup_errors=True) as folder:
        environ = prepared(Path(folder))
        with serving(environ) as url:
            shoot(url, wish.out, wish.browser, Path(folder))
    return 0


def prepared(folder: Path) -> dict[str, str]:
    """Make a store of the demo's notes and a few additions; return the environment that names it."""
    from scrubjay import Memory, NewMemory
    from scrubjay.config.loader import load_settings

    notes = folder / "notes"
    with_notes = files("scrubjay.cli") / "demo_notes"
    shutil.copytree(str(with_notes), notes)
    environ = {
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / "configuration"),
        "XDG_DATA_HOME": str(folder / "data"),
        "SCRUBJAY_CACHE_DIR": str(folder / "cache"),
        "SCRUBJAY_STORE": str(folder / "memory.db"),
        "SCRUBJAY_USER": "ann",
        "SCRUBJAY_MODELS_BACKGROUND": "never",
    }
    os.environ.update(environ)
    with Memory.open(settings=load_settings()) as memory:
        memory.sync(notes, description="Notes of the demo")
        made = memory.add_many([NewMemory(text, date=date, tags=tags) for text, date, tags in SAID])
        memory.update(made[2].id, "The berth in Lisbon costs fifty euros a night.", pinned=True)
        memory.feedback(made[2].id, "useful")
        memory.link(made[0].id, made[2].id)
        memory.embed()
        shown = memory.search("what was decided about the databases?", limit=3).results
        put_in([one.id for one in shown], made[0].id)
    return environ


def put_in(decisions: list[str], pinned: str) -> None:
    """Log what hooks put into two sessions."""
    from scrubjay.api.injections import Injection, InjectionLog
    from scrubjay.config.paths import data_folder, environment

    log = InjectionLog(data_folder(environment()))
    at = datetime(2026, 5, 4, 9, 30, tzinfo=UTC).timestamp()
    start = [{"id": pinned, "part": "pinned", "tokens": 24}]
    found = [
        {"id": one, "part": part, "tokens": tokens, "relevance": relevance}
        for one, part, tokens, relevance in zip(
            decisions, ("decision", "decision", "passage"), (61, 48, 74), (0.88, 0.71, 0.64), strict=True
        )
    ]
    for name, after, memories in (("session-start", 0, start), ("prompt", 95, found), ("prompt", 480, [])):
        tokens = sum(one["tokens"] for one in memories)
        log.append(
            Injection(
                "claude-code", "6f0c1a52", name, at=at + after, folder="/srv/harbour", fresh=after == 0,
                tokens=tokens and tokens + 20, memories=memories,
            )
        )  # fmt: skip


@contextmanager
def serving(environ: dict[str, str]) -> Iterator[str]:
    command = [sys.executable, "-m", "scrubjay", "serve", "127.0.0.1:0"]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, env={**os.environ, **environ}, text=True
    ) as process:
        assert process.stderr is not None
        try:
            said = ""
            while not (found := re.search(r"Serving at (\S+);", said)):
                line = process.stderr.readline()
                assert line, f"the server ended: {said}"
                said += line
            yield found[1]
        finally:
            process.terminate()


def shoot(url: str, out: Path, program: str, folder: Path) -> None:
    from playwright.sync_api import sync_playwright

    def taken(page: Any, name: str) -> None:
        page.screenshot(path=out / f"{name}.png")
        print(out / f"{name}.png")

    with sync_playwright() as drive:
        for number, (scheme, size) in enumerate((("light", WIDE), ("dark", WIDE), ("light", PHONE))):
            browser = drive.chromium.launch_persistent_context(
                folder / f"profile-{number}", executable_path=program, args=ARGUMENTS, headless=True,
                color_scheme=scheme, viewport=size, reduced_motion="reduce",
            )  # fmt: skip
            page = browser.new_page()
            page.goto(f"{url}/?query=what+does+the+berth+in+Lisbon+cost%3F")
            page.locator(".why > summary").first.click()
            if number != 1:
                taken(page, "search" if number == 0 else "phone")
            if number == 0:
                page.get_by_role("link", name=re.compile("berth")).first.click()
                taken(page, "memory")
                page.goto(f"{url}/sessions")
                page.locator("a[data-item]").first.click()
                page.get_by_role("button", name="Never again").nth(1).click()
                page.goto(page.url.partition("#")[0])
                taken(page, "sessions")
            if number == 1:
                page.goto(f"{url}/concepts")
                page.locator("#web[data-drawn]").wait_for()
                taken(page, "concepts")
            browser.close()


if __name__ == "__main__":
    sys.exit(main())
