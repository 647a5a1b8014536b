"""scrubjay as a memory provider of Vectorize's Agent Memory Benchmark (github.com/vectorize-io/agent-memory-benchmark).

In a clone of it, with scrubjay installed into its environment and GEMINI_API_KEY set:

    uv run python PATH/TO/bench/amb_provider.py run --dataset locomo --split locomo10 --memory scrubjay

The interface is `MemoryProvider` in src/memory_bench/memory/base.py (commit 3cf58e0) and `Document` in
src/memory_bench/models.py (commit 03c7708). The harness itself has not been run with this provider.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from memory_bench.memory.base import MemoryProvider
from memory_bench.models import Document

from scrubjay import Memory, NewMemory
from scrubjay.config.settings import Settings
from scrubjay.models.results import Result

PLACES = 20
"""Results of one retrieval. The harness asks each provider for 10 and lets it return its own number."""
NEIGHBOURS = 2
"""Turns on either side of a result that come with it."""
SNIPPET = 2_000
"""Characters of a result: nearly every turn is whole."""


class ScrubjayProvider(MemoryProvider):
    """Each of the benchmark's users is a user of one store, with default settings and without a language model."""

    name = "scrubjay"
    description = "Words, vectors and links over turns, in SQLite on this machine; no language model."
    kind = "local"

    def __init__(self) -> None:
        self._folder = Path()
        self._memory: Memory | None = None

    def prepare(self, store_dir: Path, unit_ids: set[str] | None = None, reset: bool = True) -> None:
        """Open the store in a folder of its own below ``store_dir``; ``reset`` empties that folder."""
        self.cleanup()
        self._folder = store_dir / "scrubjay"
        if reset:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._memory = Memory.open(self._folder / "memory.db", settings=Settings())

    def cleanup(self) -> None:
        """Close the store."""
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    def ingest(self, documents: list[Document]) -> None:
        """Store conversations turn by turn and other texts as notes, and wait for every vector."""
        for document in documents:
            turns = turns_of(document)
            if turns:
                self._of(document.user_id).add_many(turns)
            else:
                self._write_note(document)
        for user in {document.user_id for document in documents}:
            if (notes := self._notes(user)).is_dir():
                self._of(user).sync(notes)
            self._of(user).embed()

    def retrieve(
        self, query: str, k: int = 10, user_id: str | None = None, query_timestamp: str | None = None
    ) -> tuple[list[Document], dict[str, Any] | None]:
        """Return the best places with the turns around them, at the time of the question."""
        answer = self._of(user_id).search(
            query,
            limit=max(k, PLACES),
            neighbours=NEIGHBOURS,
            snippet=SNIPPET,
            now=query_timestamp,
            # The harness counts an empty context as a wrong answer, also where nothing is the right one.
            min_relevance=0.0,
        )
        return [Document(id=each.id, content=text_of(each), user_id=user_id) for each in answer.results], None

    def _of(self, user: str | None) -> Memory:
        assert self._memory is not None, "the harness calls prepare first"
        return self._memory.seen_by(user or "everybody")

    def _notes(self, user: str | None) -> Path:
        return self._folder / "notes" / file_name(user or "everybody")

    def _write_note(self, document: Document) -> None:
        notes = self._notes(document.user_id)
        notes.mkdir(parents=True, exist_ok=True)
        head = {"title": document.context or document.id, "date": document.timestamp}
        lines = [f"{name}: {json.dumps(value)}" for name, value in head.items() if value]
        text = "\n".join(["---", *lines, "---", document.content])
        (notes / f"{file_name(document.id)}.md").write_text(text, encoding="utf-8")


def turns_of(document: Document) -> list[NewMemory]:
    """Return the turns of a conversation: its messages, or its content where that is a JSON list of turns."""
    turns = document.messages or json_list(document.content)
    return [
        NewMemory(text, session=document.id, turn=number, role=turn.get("role") or turn.get("speaker"),
                  date=document.timestamp)
        for number, turn in enumerate(turns)
        if (text := spoken(turn).strip())
    ]  # fmt: skip


def json_list(text: str) -> list[dict[str, Any]]:
    """Return the turns that a text is the JSON of, if it is."""
    if not text.startswith("["):
        return []
    try:
        found = json.loads(text)
    except ValueError:
        return []
    return found if all(isinstance(each, dict) for each in found) else []


def spoken(turn: dict[str, Any]) -> str:
    """Return what was said, with the caption of a shared picture (LoCoMo)."""
    text = str(turn.get("content") or turn.get("text") or "")
    return f"{text} [picture: {turn['blip_caption']}]" if turn.get("blip_caption") else text


def text_of(result: Result) -> str:
    """Return a result as a reader of the prompt sees it: its date, and who said what, in order."""
    said = {each.offset: (each.role, each.snippet) for each in result.turns} | {
        0: (result.role, result.snippet)
    }
    lines = [f"{role}: {text}" if role else text for _, (role, text) in sorted(said.items())]
    return "\n".join([f"({result.date})" if result.date else "", *lines]).strip()


def file_name(name: str) -> str:
    """Return a name without what a file's name may not have; different names stay different."""
    return "".join(each if each.isalnum() or each in "-_" else f"%{ord(each):x}." for each in name)


if __name__ == "__main__":
    from memory_bench.cli import app
    from memory_bench.memory import REGISTRY

    REGISTRY[ScrubjayProvider.name] = ScrubjayProvider
    app()
