"""A page on another port of this machine, in a real Chromium: it changes nothing and reads nothing without a token."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest
from http_server import serving
from scripted_model import Model
from test_viewer_browser import ARGUMENTS, CHROMIUM

from scrubjay import Memory

pytestmark = [
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"{CHROMIUM} is not there: make browser"),
    pytest.mark.skipif(importlib.util.find_spec("playwright") is None, reason="playwright is not installed"),
    pytest.mark.skipif(sys.platform != "linux", reason="the browser is Debian's"),
]
ATTACK = """async ([url, line, id]) => {
    const seen = [];
    const simple = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"];
    const tries = [];
    for (const kind of [...simple, "application/json", ""])
        for (const mode of ["no-cors", "cors"])
            for (const [path, body] of [
                ["/v1/import", line], [`/v1/memories/${id}/archive`, "{}"], ["/v1/models/bge/use", "{}"],
                ["/v1/memories", '{"content": "Planted."}'],
                ["/openai/v1/chat/completions", '{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}'],
                ["/anthropic/v1/messages", '{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}'],
                ["/mcp", '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "memory_add",'
                    + '"arguments": {"content": "Planted."}}}']])
                tries.push([path, {method: "POST", mode, body: new Blob([body]),
                    headers: kind ? {"content-type": kind} : {}}]);
    for (const mode of ["no-cors", "cors"]) {
        tries.push([`/v1/memories/${id}/archive`, {method: "POST", mode}]);
        for (const path of ["/v1/export", "/v1/search?query=zeppelin", "/status", "/openai/v1/models"])
            tries.push([path, {mode}]);
    }
    for (const [path, options] of tries)
        try {
            const said = await fetch(url + path, options);
            seen.push(await said.text());
        } catch (error) { seen.push(""); }
    navigator.sendBeacon(url + "/v1/import", line);
    for (const enctype of simple.map(kind => kind.split(";")[0])) {
        const form = document.body.appendChild(document.createElement("form"));
        Object.assign(form, {method: "post", enctype, target: "into", action: `${url}/v1/memories/${id}/archive`});
        form.submit();
        await new Promise(done => document.getElementById("into").addEventListener("load", done, {once: true}));
    }
    return seen.join("");
}"""


class Page(BaseHTTPRequestHandler):
    """Serves one page, and says nothing of it."""

    def do_GET(self) -> None:
        body = b"<!doctype html><title>x</title><iframe id=into name=into></iframe>"
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def page_elsewhere() -> Iterator[int]:
    """Serve a page on a port of its own."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def test_a_page_on_another_port_changes_nothing_and_reads_nothing(
    environ: dict[str, str], tmp_path: Path, model: Model
) -> None:
    from playwright.sync_api import sync_playwright

    with Memory.open(environ["SCRUBJAY_STORE"], user="ann") as memory:
        one = memory.add("The zeppelin code is 4711.").id
        planted = Memory.open("memory://", user="ann")
        planted.add("Planted.", pinned=True)
        planted.export(tmp_path / "planted.jsonl")
        planted.close()
    line = (tmp_path / "planted.jsonl").read_text()
    with (
        serving(
            environ | {"SCRUBJAY_PROXY_OPENAI": f"{model.url}/v1", "SCRUBJAY_PROXY_ANTHROPIC": model.url},
            "--readers",
            "0",
        ) as url,
        page_elsewhere() as port,
        sync_playwright() as drive,
        httpx2.Client(base_url=url, timeout=60) as own,
    ):
        before = own.get("/v1/status").raise_for_status().json()
        browser = drive.chromium.launch_persistent_context(
            tmp_path / "profile", executable_path=CHROMIUM, args=ARGUMENTS, headless=True
        )
        try:
            page = browser.new_page()
            for host in ("127.0.0.1", "localhost"):  # the same site on another port; another site
                page.goto(f"http://{host}:{port}/")
                assert page.evaluate(ATTACK, [url, line, one]) == ""
            page.goto(url)  # a person who goes there sees it
            page.locator("#query").fill("zeppelin code")
            page.keyboard.press("Enter")
            page.locator(".results mark").first.wait_for()
        finally:
            browser.close()
        after = own.get("/v1/status").raise_for_status().json()
        assert (after["memories"], after["statuses"]) == (before["memories"], before["statuses"])
        assert [each["id"] for each in own.get("/v1/memories").json()["memories"]] == [one]
        assert model.asked == []
        kind = {"content-type": "application/octet-stream"}
        assert own.post("/v1/import", content=line, headers=kind).json()["added"] == 1
        refused = own.post("/v1/import", content=line, headers={"content-type": "text/plain"})
        assert (refused.status_code, "--data-binary @FILE" in refused.text) == (415, True)
