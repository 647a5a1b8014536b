"""A language model on the loopback."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from chat_service import Chat, serving


@pytest.fixture
def chat() -> Iterator[Chat]:
    with serving() as running:
        yield running
