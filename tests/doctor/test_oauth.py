"""What the doctor says of a configured OAuth issuer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from oauth_issuer import issuing
from scrubjay.doctor.checks import Installation, check_oauth
from scrubjay.models.reports import OK, PROBLEM

Make = Callable[..., Installation]


def settings(issuer: str) -> dict[str, str]:
    return {"oauth.issuer": issuer, "oauth.resource": "https://memory.example/mcp"}


def test_an_issuer_that_answers_is_ok_and_without_one_nothing_is_said(make: Make) -> None:
    with issuing() as issuer:
        (found,) = check_oauth(make(settings(issuer.url)))
        assert (found.state, found.found) == (OK, f"{issuer.url} answers, 1 key")
        asked = len(issuer.asked)
        assert list(check_oauth(make())) == []
        assert len(issuer.asked) == asked


@pytest.mark.parametrize(
    ("metadata", "why"),
    [
        ({"issuer": "https://evil.example"}, "its metadata is of"),
        ({"jwks_uri": "http://10.0.0.1/keys"}, "names no https address of its keys"),
        ({"jwks_uri": "file:///etc/passwd"}, "names no https address of its keys"),
        ({"jwks_uri": None}, "names no https address of its keys"),
    ],
)
def test_metadata_that_leads_elsewhere_is_a_problem(make: Make, metadata: dict[str, Any], why: str) -> None:
    with issuing() as issuer:
        issuer.metadata = metadata
        (found,) = check_oauth(make(settings(issuer.url)))
    assert (found.state, why in found.found) == (PROBLEM, True), found


def test_an_issuer_that_is_down_is_a_problem(make: Make) -> None:
    with issuing() as issuer:
        issuer.down = True
        (found,) = check_oauth(make(settings(issuer.url)))
    assert (found.state, "cannot be reached" in found.found) == (PROBLEM, True)
