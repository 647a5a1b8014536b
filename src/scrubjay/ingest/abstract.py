"""Abstract: (title, content, heading_path) -> (L0, L1): a phrase and a paragraph taken from a memory itself.

Extractive: what is chosen are sentences, list items, a fence's first line, a table's header, in their order
and in the writer's words. A unit is worth the terms it brings that no chosen one has brought, each by how
often the passage uses it; the first units, the ones that share words with the headings, and text before code
come first. Nothing is generated, so nothing can be wrong that the memory does not say.

Lengths count source words as ``tokens.terms`` does: a run of n characters of an unspaced script is n - 1.
Cuts fall between words, never inside a grapheme; a word longer than the room is left out, not cut.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from scrubjay.text.markdown import even
from scrubjay.text.tokens import terms, words

L0_TOKENS: Final = 30
L1_TOKENS: Final = 120
CHARACTERS: Final = 12
"""Most characters a token of the limit: English has six with the space, a long URL or a blob has no place."""
READ: Final = 6_000
"""Characters read of one memory; passages have 1,250 on average, a pasted log may have a million."""
CUT_MARK: Final = "…"

_WORD = re.compile(r"_*[^\W_]\w*(?:[.'\-]\w+)*(?:\+\+\d+)?", re.ASCII)
"""Counts as ``tokens`` does in ASCII text, in a tenth of the time; a test holds the two together."""
_SENTENCE = re.compile(
    r"(?<![ (][A-Za-z]\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bDr\.)(?<!\bMr\.)(?<!Mrs\.)(?<!\bvs\.)(?<!\bcf\.)"
    r"(?<=[.!?])[\"'”’)\]]*\s+(?![a-z])|(?<=[。！？।؟۔｡])[”’」』）\"]*\s*"
)
_ITEM = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_RULED = re.compile(r"[\s|:=*_+\-]+")
_IMAGE = re.compile(r"!\[([^\[\]]{0,200})\]\([^()\n]{0,1000}\)")
_LINK = re.compile(r"\[([^\[\]]{1,200})\](?:\([^()\n]{0,1000}\)|\[[^\[\]\n]{0,100}\])")
_WIKI = re.compile(r"\[\[(?:[^\[\]|\n]{1,200}\|)?([^\[\]|\n]{1,200})\]\]")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>|<!--.{0,500}?-->")
_EMPHASIS = re.compile(r"(\*\*\*|\*\*|\*|~~|==|(?<![^\W_])__?(?=[^\W_]))(?=\S)([^*~=\n]{1,400}?)(?<=\S)\1(?![^\W_])")
