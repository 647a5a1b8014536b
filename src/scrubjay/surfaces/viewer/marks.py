"""Marks: a snippet and the words that found it -> its pieces, each with whether it is one of them."""

from __future__ import annotations

from collections.abc import Collection

from scrubjay.text.languages import function_words, language
from scrubjay.text.snippets import highlights
from scrubjay.text.tokens import groups

Pieces = list[tuple[str, bool]]


def marked(snippet: str, query: str, gave: Collection[str]) -> Pieces:
    """Return a snippet's pieces.

    Args:
        snippet: What is shown.
        query: What was asked.
        gave: Query words that gave something to the score; the others (the, of) are not marked.

    >>> marked("The jay hides acorns.", "where are the acorns?", ["acorns"])
    [('The jay hides ', False), ('acorns', True), ('.', False)]
    """
    tongue = language(snippet)
    common = function_words(tongue)
    found = [group for group in groups(query, (tongue,)) if group.word in gave]
    # Where nothing else was found, they are what it was found by.
    wanted = [group for group in found if group.word not in common] or found
    pieces: Pieces = []
    at = 0
    for start, end in highlights(snippet, wanted, language=tongue):
        pieces += [(snippet[at:start], False), (snippet[start:end], True)]
        at = end
    return [piece for piece in (*pieces, (snippet[at:], False)) if piece[0]]
