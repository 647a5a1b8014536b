"""Screenshots: the viewer over the notes of the demo, as docs/viewer.md shows it.

    make screenshots
    python scripts/screenshots.py [--out docs/viewer] [--browser /usr/bin/chromium]

Needs the developer's environment and a Chromium. The store, the settings and the browser's profile are new folders that
are removed afterwards; nothing of yours is read. Notes, dates and sessions are the same in every run; times of the run
itself, such as that of the sync, are shown as `SHOWN_TIME`.
"""

from __future__ import annotations

import argparse
import base64
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

BROWSER = "/usr/bin/chromium"
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync"]  # fmt: skip
WIDE = {"width": 1100, "height": 780}
PHONE = {"width": 390, "height": 780}
RATIO = 2
SHOWN_TIME = "4 May 2026, 10:00"
SAID = (
    ("Mara prefers the boat berth in Lisbon to the one in Porto.", "2026-04-03", ["boats"]),
    ("We decided to leave MongoDB because transactions across shops were lost.", "2026-03-12", ["decision"]),
    ("The berth in Lisbon costs forty euros a night.", "2026-04-20", ["boats", "money"]),
)
CLAIMS = ("The harbour of Porto has shore power.", "The harbour of Porto has no shore power.")
SECRET = "The password: Zx9kQ2vLm3pT7wRb opens the router in the harbour office."
SESSION = "6f0c1a52"
TALK = (
    ("user", "How do I make the **open berths** query fast? It takes four seconds on the replica."),
    (
        "assistant",
        "The time goes into a sequential scan over `bookings`. A partial index fits:\n\n"
        "```sql\nCREATE INDEX CONCURRENTLY bookings_open\n    ON bookings (berth_id, starts_at)\n"
        "    WHERE cancelled_at IS NULL;\n```\n",
    ),
    ("user", "That did it. We decided to use partial indexes instead of materialized views."),
    (
        "assistant",
        "Measured before and after:\n\n| query | before | after |\n| --- | ---: | ---: |\n"
        "| open berths | 4,100 ms | 12 ms |\n| month view | 900 ms | 48 ms |\n",
    ),
)
OTHER_TALK = (
    ("user", "Which harbour masters answer by mail?"),
    ("assistant", "Lisbon and Hamburg; Porto calls back."),
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
        "TZ": "UTC",
        "SCRUBJAY_MODELS_BACKGROUND": "never",
    }
    os.environ.update(environ)
    with Memory.open(settings=load_settings()) as memory:
        memory.sync(notes, description="Notes of the demo")
        made = memory.add_many([NewMemory(text, date=date, tags=tags) for text, date, tags in SAID])
        memory.update(made[2].id, "The berth in Lisbon costs fifty euros a night.", pinned=True)
        memory.feedback(made[2].id, "useful")
        memory.link(made[0].id, made[2].id)
        memory.add(SECRET, date="2026-03-02")
        claims = memory.add_many(
            [NewMemory(text, date=f"2026-04-0{day}") for day, text in enumerate(CLAIMS, 4)]
        )
        memory.link(claims[1].id, claims[0].id, kind="contradicts")
        for session, talk, day in ((SESSION, TALK, 4), ("a41be7d0", OTHER_TALK, 3)):
            memory.add_many(
                [
                    NewMemory(text, session=session, turn=turn, role=role, agent="claude-code", project="harbour",
                              date=f"2026-05-0{day}T09:3{turn}:00+00:00")
                    for turn, (role, text) in enumerate(talk)
                ]
            )  # fmt: skip
        memory.enrich()
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
            decisions, ("decisions", "decisions", "relevant"), (61, 48, 74), (0.88, 0.71, 0.64), strict=True
        )
    ]
    for name, after, memories in (("session-start", 0, start), ("prompt", 95, found), ("prompt", 480, [])):
        tokens = sum(one["tokens"] for one in memories)
        log.append(
            Injection(
                "claude-code", SESSION, name, at=at + after, folder="/srv/harbour", fresh=after == 0,
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


STEADY = """shown => {
    const replace = (part, old, now) => { part.textContent = part.textContent.replace(old, now); };
    const all = (selector) => document.querySelectorAll(selector);
    for (const each of all('time[datetime*="T"]'))
        if (Date.now() - new Date(each.dateTime) < 3600e3) each.textContent = shown;
    for (const each of all(".sum")) replace(each, /in \\d+ ms/, "in 20 ms");
    for (const each of all("code")) replace(each, /_[0-9a-f]{16}\\b/, "_0123456789abcdef");
    for (const each of all(".where")) replace(each.querySelector("bdi") ?? each, /^.*?\\/notes/, "/srv/notes");
}"""
"""Gives times, ids and the scratch folder of this run the words that they have in every run."""
PIXELS = """async (data) => {
    const image = await createImageBitmap(await (await fetch("data:image/png;base64," + data)).blob());
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    const drawing = canvas.getContext("2d");
    drawing.drawImage(image, 0, 0);
    const bytes = drawing.getImageData(0, 0, image.width, image.height).data;
    let text = "";
    for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
    return [image.width, image.height, btoa(text)];
}"""


def shoot(url: str, out: Path, program: str, folder: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as drive:
        for number, (scheme, size) in enumerate((("light", WIDE), ("dark", WIDE), ("light", PHONE))):
            browser = drive.chromium.launch_persistent_context(
                folder / f"profile-{number}", executable_path=program, args=ARGUMENTS, headless=True,
                color_scheme=scheme, viewport=size, device_scale_factor=RATIO, reduced_motion="reduce",
                timezone_id="UTC",
            )  # fmt: skip
            page, blank = browser.new_page(), browser.new_page()
            page.bring_to_front()

            def taken(name: str, page: Any = page, blank: Any = blank) -> None:
                page.evaluate(STEADY, SHOWN_TIME)
                page.evaluate("document.activeElement.blur()")
                write_indexed(out / f"{name}.png", page.screenshot(), blank)
                print(out / f"{name}.png")

            if number == 0:
                start(page, url)
                taken("start")
                page.goto(f"{url}/?query=what+does+the+berth+in+Lisbon+cost%3F")
                page.locator(".why > summary").first.click()
                taken("search")
                page.goto(f"{url}/?query=why+did+we+leave+MongoDB%3F")
                page.locator("article a[data-item]", has_text="PostgreSQL").first.click()
                taken("memory")
                page.goto(f"{url}/sessions")
                page.locator("a[data-item]").first.click()
                page.get_by_role("button", name="Never again").nth(1).click()
                page.goto(page.url.partition("#")[0])
                taken("injected")
            elif number == 1:
                page.goto(f"{url}/conversations/one?id={SESSION}")
                taken("conversation")
                page.goto(f"{url}/concepts")
                page.locator("#web[data-drawn]").wait_for()
                taken("concepts")
            else:
                start(page, url)
                taken("phone")
            browser.close()


def start(page: Any, url: str) -> None:
    page.goto(url)
    page.locator("#overview .known").wait_for()


def write_indexed(file: Path, png: bytes, blank: Any) -> None:
    """Write a screenshot with at most 256 colours, a third of its size; ``blank`` is a page that decodes it."""
    width, height, data = blank.evaluate(PIXELS, base64.b64encode(png).decode())
    pixels = np.frombuffer(base64.b64decode(data), np.uint8).reshape(-1, 4)[:, :3]
    colours, places = np.unique(pixels, axis=0, return_inverse=True)
    counts = np.bincount(places.ravel())
    kept = colours[np.argsort(-counts, kind="stable")[:256]]
    nearest = np.array([((kept.astype(int) - one) ** 2).sum(axis=1).argmin() for one in colours.astype(int)])
    rows = nearest[places.ravel()].astype(np.uint8).reshape(height, width)
    lines = np.concatenate([np.zeros((height, 1), np.uint8), rows], axis=1).tobytes()

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    file.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"PLTE", kept.tobytes())
        + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
