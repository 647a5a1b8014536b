"""The viewer in Chromium: without a mouse, light and dark, on a phone, and for whom cannot see it (axe-core)."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from http_server import serving

from scrubjay import Memory, NewMemory
from scrubjay.api.injections import Injection, InjectionLog
from scrubjay.config.paths import data_folder

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[2]
CHROMIUM = Path("/usr/bin/chromium")
AXE = ROOT / "build/browser/node_modules/axe-core/axe.min.js"
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync"]  # fmt: skip
WIDE, PHONE = {"width": 1180, "height": 820}, {"width": 360, "height": 740}
TALK = (
    ("user", "Which index makes the **berth** query fast?"),
    ("assistant", "A partial one:\n\n```sql\n" + "CREATE INDEX bookings_open ON bookings (berth_id, starts_at); " * 3
     + "\n```\n\n| query | ms |\n| --- | ---: |\n| open berths with a long name | 12 |\n"),
    ("user", "We decided to keep partial indexes."),
)  # fmt: skip
NOTE = "---\ntags: [boats]\n---\n\n# Berth\n\nThe berth in Lisbon costs forty euros a night.\n"
pytestmark = [
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"{CHROMIUM} is not there: make browser"),
    pytest.mark.skipif(importlib.util.find_spec("playwright") is None, reason="playwright is not installed"),
    pytest.mark.skipif(sys.platform != "linux", reason="the browser is Debian's"),
]


def wait_until(page: Page, condition: str, argument: Any = None) -> None:
    """Wait for a function of the page: `wait_for_function` evaluates a text in it, which its policy forbids."""
    look = "const look = () => holds(argument) ? done() : requestAnimationFrame(look); look();"
    page.evaluate(f"argument => new Promise(done => {{ const holds = {condition}; {look} }})", argument)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as drive:
        running = drive.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, headless=True)
        yield running
        running.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """One server for all of these tests, each of which changes memories of its own alone."""
    folder = tmp_path_factory.mktemp("site")
    notes = folder / "notes" / "boats"
    notes.mkdir(parents=True)
    for name in ("berth", "other"):
        (notes / f"{name}.md").write_text(NOTE if name == "berth" else NOTE.replace("Lisbon", "Porto"))
    environ = {
        "SCRUBJAY_STORE": str(folder / "memory.db"),
        "SCRUBJAY_CACHE_DIR": str(folder / "cache"),
        "SCRUBJAY_USER": "ann",
        "XDG_CONFIG_HOME": str(folder / "configuration"),
        "XDG_DATA_HOME": str(folder / "data"),
        "SCRUBJAY_SYNC_LOOK_SECONDS": "60",
    }
    with Memory.open(environ["SCRUBJAY_STORE"], user="ann") as memory:
        memory.sync(folder / "notes")
        memory.concepts.add_many(["Quiet Harbor", "Iron Ledger"])
        memory.add_many(
            [NewMemory(f"They met at Quiet Harbor and Iron Ledger on day {n}.", date=f"2026-03-{n + 1:02}")
             for n in range(12)]
        )  # fmt: skip
        memory.add(
            "<img src=x onerror=\"document.title='hacked'\"><script>document.title='hacked'</script> zeppelin"
        )
        memory.add("The old kayak is blue.", tags=["kayak"])
        memory.add("The pipistrelle is forgotten today.")
        memory.add_many(
            [NewMemory(text, session="talk", turn=turn, role=role, agent="claude-code",
                       date="2026-03-01T10:05:00+00:00")
             for turn, (role, text) in enumerate(TALK)]
        )  # fmt: skip
        memory.add("The password: Zx9kQ2vLm3pT7wRb opens the router.")
        claims = [memory.add(f"The crane is {colour}.").id for colour in ("red", "green")]
        memory.link(*claims, kind="contradicts")
        wren = memory.add("The wren nests in the crane of the old shipyard.", title="Wren").id
    around = {**os.environ, **environ}
    log = InjectionLog(data_folder(around))
    folder_of = f"{folder}/{'a-folder-with-a-long-name-' * 6}"
    cited = [
        {"id": one, "part": "decision", "tokens": 30, "relevance": 0.7}
        for one in (wren, "obs_0000000000000001")
    ]
    for session, memories in (("quiet", []), ("wren", cited)):
        log.append(
            Injection(
                "claude-code",
                session,
                "prompt",
                at=time.time(),
                folder=folder_of,
                tokens=60,
                memories=memories,
            )
        )
    with serving(environ) as url:
        yield url, folder


@contextmanager
def opened(browser: Browser, **options: Any) -> Iterator[Page]:
    """Hand out a page of a new profile; nothing may go wrong on it that a console tells."""
    options = {"color_scheme": "light", "viewport": WIDE, "reduced_motion": "reduce", **options}
    profile = browser.new_context(**options)
    page, wrong = profile.new_page(), []
    page.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    # What is still being loaded when a key leads on is given up by the browser: no fault.
    page.on(
        "requestfailed",
        lambda asked: (
            None if asked.failure == "net::ERR_ABORTED" else wrong.append(f"{asked.url} {asked.failure}")
        ),
    )
    try:
        yield page
    finally:
        profile.close()
    assert wrong == []


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def headed(page: Page, heading: str) -> None:
    """Wait for a heading."""
    page.get_by_role("heading", name=heading).wait_for()


def sound(page: Page, url: str, path: str) -> None:
    """A page has no fault that axe-core finds, and is no wider than the window."""
    page.goto(url + path)
    if path == "/concepts":
        page.locator("#web[data-drawn]").wait_for()
    if path == "/":
        page.locator("#overview .known").wait_for()
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, f"{path} is {wide} pixels wider than the window"
    if AXE.exists():
        page.evaluate(AXE.read_text("utf-8"))
        faults = page.evaluate(
            "axe.run().then(r => r.violations.map(v => [v.id, v.nodes.map(n => n.html + n.failureSummary)]))"
        )
        assert faults == [], path


@pytest.mark.parametrize(("scheme", "size", "ratio"), [("light", WIDE, 1), ("dark", PHONE, 2)])
def test_every_page_can_be_read_by_everybody(
    browser: Browser,
    site: tuple[str, Path],
    tmp_path: Path,
    scheme: str,
    size: dict[str, int],
    ratio: int,
) -> None:
    url, _ = site
    options = {"color_scheme": scheme, "viewport": size, "device_scale_factor": ratio}
    with opened(browser, **options) as page:
        sound(page, url, "/?query=berth+in+Lisbon&by=memory&since=2020")
        page.locator(".why > summary").first.click()
        one = page.locator("article a[data-item]").first.get_attribute("href")
        sound(page, url, "/?query=zeppelin+of+quantum+opera&weak=yes")
        for path in ("/", f"{one}", f"{one}?source=yes", "/conversations", "/conversations/one?id=talk", "/overview",
                     "/conflicts", "/redactions", f"{one}/edit", f"{one}/forget", "/timeline", "/concepts",
                     "/categories?kind=path", "/status", "/audit", "/login", "/sessions",
                     "/sessions/one?agent=claude-code&id=wren"):  # fmt: skip
            sound(page, url, path)


def test_a_search_needs_no_mouse_and_no_new_page(browser: Browser, site: tuple[str, Path]) -> None:
    url, _ = site
    with opened(browser) as page:
        page.goto(f"{url}/timeline")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        press(page, "g", "s")
        page.wait_for_url(f"{url}/")
        page.locator("#query").focus()
        page.keyboard.press("/")
        assert page.locator("#query").input_value() == ""
        page.locator("main").click(position={"x": 5, "y": 5})
        page.keyboard.press("/")
        page.keyboard.type("berth in Lisbon")
        page.keyboard.press("Escape")
        assert page.locator("#query").input_value() == "berth in Lisbon"
        page.keyboard.press("/")
        page.evaluate("window.same = true")
        page.keyboard.press("Enter")
        page.locator(".results mark").first.wait_for()
        assert page.evaluate("window.same") is True
        assert "query=berth" in page.url
        assert "likely to answer" in page.locator(".why").first.inner_text()
        press(page, "j", "Enter")
        page.wait_for_url(re.compile("/memories/"))
        page.keyboard.press("?")
        assert page.locator("#keys").is_visible()
        page.keyboard.press("Escape")
        before = page.evaluate("getComputedStyle(document.body).color")
        page.keyboard.press("d")
        assert page.evaluate("getComputedStyle(document.body).color") != before
        page.reload()
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        page.keyboard.press("e")
        page.wait_for_url(re.compile("/edit$"))


def test_a_time_is_that_of_the_browser_and_a_day_stays(browser: Browser, site: tuple[str, Path]) -> None:
    url, _ = site
    with opened(browser, timezone_id="Asia/Tokyo") as page:
        page.goto(f"{url}/conversations/one?id=talk")
        turn = page.locator(".turn time").first
        assert turn.inner_text() == "1 March 2026, 19:05"
        assert turn.get_attribute("title") == "2026-03-01T10:05:00+00:00"
        page.goto(f"{url}/?query=Iron+Ledger+day+3")
        page.get_by_text("4 March 2026", exact=True).first.wait_for()
    with opened(browser, timezone_id="Pacific/Kiritimati") as page:
        page.goto(f"{url}/timeline?until=2026-03-01")
        page.get_by_text("2 March 2026, 00:05").first.wait_for()  # not of the day above it
    with opened(browser, java_script_enabled=False) as page:
        page.goto(f"{url}/conversations/one?id=talk")
        assert re.fullmatch(r"1 March 2026, \d\d:\d\d \S+", page.locator(".turn time").first.inner_text())
        page.goto(url)
        page.get_by_role("link", name="What is known, and what needs attention").click()
        headed(page, "Known")


def test_a_conversation_is_reached_and_read_by_keys_alone(browser: Browser, site: tuple[str, Path]) -> None:
    url, _ = site
    with opened(browser) as page:
        page.goto(f"{url}/status")
        press(page, "g", "v")
        headed(page, "Conversations")
        press(page, "j", "Enter")
        headed(page, "Which index makes the berth query fast?")
        assert page.locator(".turn h2").all_inner_texts() == ["You", "Assistant", "You"]
        code = page.locator("pre").first
        code.focus()
        page.keyboard.press("ArrowRight")
        assert code.evaluate("each => each.scrollWidth > each.clientWidth")
        wait_until(page, "() => document.querySelector('pre').scrollLeft > 0")


def test_what_needs_attention_comes_after_the_first_page_and_leads_to_its_page(
    browser: Browser, site: tuple[str, Path]
) -> None:
    url, _ = site
    with opened(browser) as page:
        page.goto(url)
        attention = page.locator(".attention li", has_text="contradicts each other")
        attention.get_by_role("link", name="Show").click()
        page.get_by_role("link", name="The crane is green.").wait_for()


def test_an_address_says_what_was_asked_for_and_not_what_was_left_open(
    browser: Browser, site: tuple[str, Path]
) -> None:
    url, _ = site
    with opened(browser) as page:
        page.goto(url)
        page.locator("#query").fill("berth")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{url}/?query=berth&status=active")
        page.locator(".filters > summary").click()
        page.locator("[name=since]").fill("2020")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{url}/?query=berth&since=2020&status=active")
        page.goto(f"{url}/timeline")
        page.locator("[name=since]").fill("2020")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{url}/timeline?since=2020&status=active")


def test_a_passage_is_corrected_in_its_file(browser: Browser, site: tuple[str, Path]) -> None:
    url, folder = site
    with opened(browser) as page:
        page.goto(f"{url}/?query=berth+in+Porto")
        page.get_by_role("link", name="Berth").first.click()
        page.get_by_role("link", name="Edit").click()
        page.locator("textarea[name=content]").fill("# Berth\n\nThe berth in Porto costs ninety pounds.")
        page.get_by_role("button", name="Save to the file").click()
        page.get_by_text("Saved.", exact=True).wait_for()
        assert "ninety pounds" in page.locator(".content").inner_text()
        file = folder / "notes" / "boats" / "other.md"
        assert file.read_text() == NOTE.replace(
            "Lisbon costs forty euros a night", "Porto costs ninety pounds"
        )


def test_a_memory_is_judged_archived_and_forgotten(browser: Browser, site: tuple[str, Path]) -> None:
    url, _ = site
    with opened(browser) as page:
        page.goto(f"{url}/?query=pipistrelle")
        page.get_by_role("link", name="pipistrelle").first.click()
        page.get_by_role("button", name="Useful").click()
        page.get_by_text("Marked as useful.").wait_for()
        page.get_by_role("button", name="Archive").click()
        page.get_by_role("button", name="Restore").click()
        page.get_by_text("Restored.").wait_for()
        page.get_by_role("link", name="Forget").click()
        page.get_by_label("Delete it permanently").check()
        page.get_by_role("button", name="Forget").click()
        headed(page, "Forgotten")
        page.goto(f"{url}/?query=pipistrelle")
        assert page.locator(".results article").count() == 0
        assert page.get_by_role("status").inner_text().split(", in")[0] in (
            "No likely answer",
            "Nothing found.",
        )


def test_what_was_put_into_a_session_is_corrected_by_keys_alone(
    browser: Browser, site: tuple[str, Path]
) -> None:
    url, _ = site
    with opened(browser) as page:
        page.goto(f"{url}/status")
        press(page, "g", "n")
        headed(page, "Sessions")
        press(page, "j", "Enter")
        page.get_by_role("link", name="Wren").wait_for()
        press(page, "j", "Tab", "Tab", "Enter")
        page.get_by_text("never again", exact=True).wait_for()
        press(page, "Tab", "Tab", "Tab", "Enter")  # from the memory, where the keys go on
        page.get_by_role("button", name="Never again").wait_for()
        assert page.get_by_text("never again", exact=True).count() == 0


def test_what_is_remembered_does_not_run(browser: Browser, site: tuple[str, Path]) -> None:
    url, _ = site
    with opened(browser) as page:
        page.goto(f"{url}/?query=zeppelin+%3Cimg+src%3Dx+onerror%3D%22document.title%3D%27hacked%27%22%3E")
        assert "hacked" in page.locator(".results").inner_text()
        page.locator("article a[data-item]").first.click()
        assert "<script>" in page.locator(".content").inner_text()
        assert "hacked" not in page.title()


def test_the_picture_of_concepts_leads_to_them_and_the_audit_comes_by_itself(
    browser: Browser, site: tuple[str, Path]
) -> None:
    url, _ = site
    with opened(browser) as page:
        page.goto(f"{url}/concepts")
        page.locator("#web[data-drawn]").wait_for()
        assert int(page.locator("#web").get_attribute("data-drawn") or 0) >= 2
        page.get_by_role("link", name="Iron Ledger").click()
        page.get_by_role("heading", name="Iron Ledger", exact=True).wait_for()
        page.goto(f"{url}/categories?kind=path")
        page.locator(".shelves summary").first.click()
        page.locator(".below > *").first.wait_for()
        page.goto(f"{url}/audit")
        page.get_by_role("button", name="Run audit").click()
        page.get_by_text(re.compile("were audited")).wait_for()


def test_in_a_picture_of_many_concepts_the_largest_have_their_names(
    browser: Browser, site: tuple[str, Path]
) -> None:
    """Where they are drawn is the server's doing; this many are more than the store of these tests has."""
    nodes = [{"id": f"con_{n}", "name": f"Concept {n}", "memories": 200 - n, "x": 90 * (n % 13), "y": 90 * (n // 13)}
             for n in range(150)]  # fmt: skip
    ties = [{"one": "con_0", "other": f"con_{n}", "together": n} for n in range(1, 9)]
    told = {"nodes": nodes, "ties": ties, "known": 150}
    shown = """() => [...document.querySelectorAll("#web text")].filter(each => each.style.display !== "none")
        .map(each => { const box = each.getBoundingClientRect(); return [each.textContent, box.left, box.top, box.right,
        box.bottom, parseFloat(getComputedStyle(each).fontSize) * each.getScreenCTM().a]; })"""
    for size, ratio in ((WIDE, 1), (WIDE, 3), (PHONE, 1), (PHONE, 2)):
        with opened(browser, viewport=size, device_scale_factor=ratio) as page:
            page.route("**/concepts/web.json*", lambda route: route.fulfill(json=told))
            page.goto(f"{site[0]}/concepts")
            page.locator("#web[data-drawn='150']").wait_for()
            found = page.evaluate(shown)
            names = [name for name, *_ in found]
            assert names[0] == "Concept 0", "that of the most memories has its name"
            assert names == sorted(names, key=lambda name: int(name.split()[1]))
            assert 8 <= len(found) <= 40
            assert all(10 <= pixels <= 16 for *_, pixels in found), "as readable at every pixel ratio"
            assert page.evaluate("devicePixelRatio") == ratio
            for at, (_, left, top, right, bottom, _) in enumerate(
                found
            ):  # a box is a little higher than its letters
                assert not [name for name, x, y, z, w, _ in found[at + 1 :]
                            if left < z and x < right and top + 2 < w and y < bottom - 2]  # fmt: skip
            first = page.locator("#web circle").first.get_attribute("cx")
            page.locator("#web").hover()
            page.mouse.wheel(0, -800)
            wait_until(page, "was => document.querySelector('#web circle').getAttribute('cx') !== was", first)
            assert all(10 <= pixels <= 16 for *_, pixels in page.evaluate(shown)), "and at every zoom"
