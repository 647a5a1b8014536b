"""A question that is longer than is read: cut in one place, and said so, on every surface."""

from __future__ import annotations

import pytest
from http_here import good
from starlette.testclient import TestClient

LONG = "Where is the kettle? " + "of a pasted log " * 400
CUT = "The question was cut: only its first 4,000 characters were read."
VERBS = ("search", "thread", "context")


@pytest.mark.parametrize("verb", VERBS)
def test_over_http_a_question_that_is_too_long_is_cut_and_says_so(client: TestClient, verb: str) -> None:
    good(client.post("/v1/memories", json={"content": "The blue kettle is in the shed."}), 201)
    assert CUT in good(client.post(f"/v1/{verb}", json={"query": LONG}))["partial"]
    assert CUT not in good(client.post(f"/v1/{verb}", json={"query": LONG[:4_000]}))["partial"]


def test_in_the_viewer_a_question_that_is_too_long_is_cut_and_says_so(client: TestClient) -> None:
    good(client.post("/v1/memories", json={"content": "The blue kettle is in the shed."}), 201)
    said = client.get("/", params={"query": LONG})
    assert (said.status_code, CUT in said.text) == (200, True)


@pytest.mark.parametrize("verb", VERBS)
def test_on_the_command_line_a_question_that_is_too_long_is_cut_and_says_so(cli, verb: str) -> None:
    cli("add", "The blue kettle is in the shed.")
    assert CUT in cli(verb, LONG, "--json").json["partial"]
