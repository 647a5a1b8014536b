"""Rerankers: the protocol, the spec that opens one, and the registry of kinds.

A reranker knows nothing of memories, of earlier scores, or of its weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from scrubjay.errors import ConfigError
from scrubjay.text.tokenizer import TermGroup

if TYPE_CHECKING:
    from scrubjay.rerankers.lexical import Tokens


@dataclass(frozen=True, slots=True)
class RerankQuery:
    """The query that passages are scored against.

    Attributes:
        text: The query without exclusions and quote marks.
        groups: Its words.
        rarity: The idf of each word among visible memories; never sent away.
    """

    text: str
    groups: tuple[TermGroup, ...] = ()
    rarity: tuple[float, ...] = ()


class Reranker(Protocol):
    """Scores how well each of a few passages answers a query. It may be slow, wrong, absent or hostile."""

    @property
    def name(self) -> str:
        """Its name in an answer's ``partial``."""
        ...

    @property
    def host(self) -> str:
        """Host and port that passages are sent to; empty where they stay on this machine."""
        ...

    def scores(
        self, question: RerankQuery, passages: Sequence[str], *, deadline: float
    ) -> Sequence[float | None]:
        """Score passages.

        ``deadline`` is the seconds of the whole call, tries included; loading a model for the first time is not
        counted.

        Returns:
            A number each, in their order, larger for better answers, in the reranker's own unit; None for no opinion,
            or for a passage that the time did not suffice for.

        Raises:
            ProviderError: It was not reached, took too long, or did not answer as documented.
        """
        ...


@dataclass(frozen=True, slots=True)
class RerankerSpec:
    """The settings of a reranker.

    Attributes:
        kind: One of `RERANKERS`.
        scrub: Removes secrets from a text before it is sent.
        tokens: The static model's tokens, for ``features``; None where there is no such model.
        model_path: ONNX file of a cross-encoder; None for the bundled one.
        tokenizer_path: Its ``tokenizer.json``; None looks for it beside the file and in the folder above.
        sha256: The file's expected checksum, in hex; empty for any.
        runtime: ``auto``, ``onnxruntime`` or ``openvino``.
        name: The service's name of the model.
        api_key: Key for the service, or an empty string for none.
        announce: Called with one sentence before anything first leaves for a service.
    """

    kind: str
    scrub: Callable[[str], str] = field(repr=False, compare=False)
    tokens: Tokens | None = field(default=None, repr=False, compare=False)
    model_path: Path | None = None
    tokenizer_path: Path | None = None
    sha256: str = ""
    cache_dir: Path | None = None
    runtime: str = "auto"
    base_url: str = ""
    name: str = ""
    api_key: str = field(default="", repr=False)
    announce: Callable[[str], None] | None = field(default=None, repr=False, compare=False)


RERANKERS: Final = ("features", "cross-encoder", "http", "chat")


def open_reranker(spec: RerankerSpec) -> Reranker:
    """Open a reranker; no model is loaded and nothing is sent before its first query.

    Raises:
        ConfigError: The kind is unknown, a setting is missing, or passages would cross a network in the clear.
    """
    if spec.kind == "features":
        from scrubjay.rerankers.lexical import LexicalReranker

        return LexicalReranker(spec.tokens)
    if spec.kind == "cross-encoder":
        from scrubjay.rerankers.cross_encoder import CrossEncoderReranker

        return CrossEncoderReranker(spec)
    if spec.kind in ("http", "chat"):
        from scrubjay.rerankers.remote import ChatReranker, HttpReranker

        return HttpReranker(spec) if spec.kind == "http" else ChatReranker(spec)
    raise ConfigError(f"Reranker {spec.kind!r} is not one of {', '.join(RERANKERS)}.")
