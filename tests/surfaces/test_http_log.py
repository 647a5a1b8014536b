"""What the log tells of requests that failed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from http_here import asking


@pytest.mark.parametrize(
    ("method", "path", "event"),
    [
        ("GET", "/v1/concepts/Zeppelin", "http GET /v1/concepts/{name:path}"),
        ("DELETE", "/v1/concepts/Zeppelin", "http DELETE /v1/concepts/{name:path}"),
        ("GET", "/v1/categories/Zeppelin", "http GET /v1/categories/{name:path}"),
        ("GET", "/v1/memories/obs_1f2e", "http GET /v1/memories/{id}"),
        ("GET", "/concepts/Zeppelin", "viewer GET /concepts/{name}"),
        ("GET", "/categories/Zeppelin", "viewer GET /categories/{name}"),
    ],
)
def test_a_request_that_fails_is_logged_without_the_names_and_paths_that_it_is_about(
    environ: dict[str, str], method: str, path: str, event: str
) -> None:
    store = Path(environ["SCRUBJAY_STORE"])
    store.write_bytes(b"no store " * 1_000)
    with asking(environ) as client:
        said = client.request(method, path, headers={"sec-fetch-site": "same-origin"})
        assert said.status_code == 503
        assert str(store) in said.text  # who asks is told
    text = (Path(environ["XDG_DATA_HOME"]) / "scrubjay" / "log").read_text()
    (line,) = [line for line in text.splitlines() if '"http ' in line or '"viewer ' in line]
    entry = json.loads(line)
    assert (entry["event"], entry["error"]) == (event, "StoreDamagedError")
    for secret in ("Zeppelin", "obs_1f2e", str(store), store.name):
        assert secret not in text
