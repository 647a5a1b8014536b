"""Front: text between dashes -> fields and facts; wrong YAML is a sentence, never an exception, and never publishes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fuzz.bound import bound
from fuzz.switches import switches
from scrubjay.ingest.reader import MAX_TAGS, MAX_YAML_DEPTH, extract_metadata, parse_front_matter


@contextmanager
def target(*, timed: bool) -> Iterator[Callable[[bytes], None]]:
    """Yield what takes one input."""

    def check(data: bytes) -> None:
        _, data = switches(data)
        raw = data.decode("utf-8", "replace").replace("\0", "\ufffd")
        with bound(len(raw), timed=timed):
            given, wrong = parse_front_matter(raw)
            assert not (given and wrong) or "not YAML" in wrong, "fields and a complaint at once"
            for key, value in given.items():
                assert key == key.strip().lower()
                _plain(value, 1)
            facts = extract_metadata(f"---\n{raw}\n---\nA body.\n", path="2026-03-01 a.md")
        assert not wrong or facts.visibility not in ("public", "group"), "shared by what could not be read"
        assert len(facts.tags) <= MAX_TAGS
        assert len({tag.casefold() for tag in facts.tags}) == len(facts.tags)
        assert facts.visibility in (None, "user", "group", "public")
        assert facts.event is not None
        assert all(problem.endswith((".", "Z")) for problem in facts.problems), facts.problems
        if facts.visibility in ("group", "public"):
            assert not wrong, "what cannot be read was published"

    yield check


def _plain(value: object, depth: int) -> None:
    assert depth <= MAX_YAML_DEPTH + 1
    if isinstance(value, dict):
        for key, inner in value.items():
            assert isinstance(key, str | tuple), "YAML built a key that is no text"
            _plain(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _plain(inner, depth + 1)
    else:
        assert isinstance(value, str), f"YAML built a {type(value).__name__}"
