"""A reranker and a language model on the loopback."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

import chat_service
import rerank_service


@pytest.fixture
def service() -> Iterator[rerank_service.Reranks]:
    with rerank_service.serving() as running:
        yield running


@pytest.fixture
def chat() -> Iterator[chat_service.Chat]:
    with chat_service.serving() as running:
        yield running
