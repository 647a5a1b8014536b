"""What every test shares."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

# The published suites assert in plain Python; rewriting makes a failure show both sides.
pytest.register_assert_rewrite("scrubjay.testing")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rounds",
        type=int,
        default=None,
        help="rounds of each fault test; each has a small number of its own",
    )
    parser.addoption("--kills", type=int, default=None, help="kills in all, over all kinds of work")
    parser.addoption("--seed", type=int, default=1, help="what the choices of fault tests are made of")


@pytest.fixture
def rounds(request: pytest.FixtureRequest) -> int | None:
    """How many rounds a fault test was asked for, or None for its own small number."""
    found: int | None = request.config.getoption("--rounds")
    return found


@pytest.fixture
def kills(request: pytest.FixtureRequest) -> int | None:
    """How many kills were asked for, or None for as many as are tried always."""
    found: int | None = request.config.getoption("--kills")
    return found


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """What the choices of a fault test are made of."""
    found: int = request.config.getoption("--seed")
    return found


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The URL of an empty database on a server of our own, reached by a socket in a new folder."""
    from scrubjay.testing.postgres_server import SERVER, programs, serving

    places = programs()
    if places is None:
        if sys.platform == "linux":
            pytest.fail(f"{SERVER} is not installed: `pip install --group dev`")
        pytest.skip(f"{SERVER} has no wheel for {sys.platform}")
    with serving(places, fsync="off") as url:
        yield url
