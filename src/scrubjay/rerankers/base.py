"""Rerankers: the protocol, what is needed to open one, and which kind opens it.

A reranker knows nothing of memories, of earlier scores, or of the weight of its own.
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
    """What passages are held against.

    Attributes:
        text: What is asked, quotes and exclusions taken out of their marks.
        groups: Its words.
        rarity: The idf of each word, among what who asks may see; a reranker that sends anything away leaves it out.
    """

    text: str
    groups: tuple[TermGroup, ...] = ()
    rarity: tuple[float, ...] = ()


class Reranker(Protocol):
    """Says how well each of a few passages answers a question. It may be slow, wrong, away or hostile."""

    @property
    def name(self) -> str:
        """What it is called in an answer's ``partial``: the model's name, or what it does."""
        ...

    @property
    def host(self) -> str:
        """Host and port that passages are sent to; empty where they stay on this machine."""
        ...

    def scores(
        self, question: RerankQuery, passages: Sequence[str], *, deadline: float
    ) -> Sequence[float | None]:
        """Score passages, all of them or none.

        Args:
            question: What is asked.
            passages: Texts, of any length.
            deadline: Seconds for the whole call, tries included; loading a model for the first time is not counted.

        Returns:
            A number each, in their order, larger for what answers better; their unit is the reranker's own. None for a
            passage of which it has no opinion.

        Raises:
            ProviderError: It was not reached, took too long, or did not answer as documented; no score is returned.
        """
        ...


def _ignore_announcement(_: str) -> None:
    """Nobody is told where passages go."""


@dataclass(frozen=True, slots=True)
class RerankerSpec:
    """What the settings say about a reranker.

    Attributes:
        kind: A key of `RERANKERS`.
        scrub: Takes secrets out of a text before it is sent.
        tokens: The static model's tokens, for ``features``; None where there is no such model.
        model_path: ONNX file of a cross-encoder.
        tokenizer_path: Its ``tokenizer.json``; None looks for it beside the file and in the folder above.
        sha256: What the file's checksum must be, in hex; empty for any.
        cache_dir: Folder for checksums.
        runtime: ``auto``, ``onnxruntime`` or ``openvino``.
        base_url: Address of a service.
        name: The service's name of the model.
        api_key: Key for the service, or an empty string for none.
        announce: Called with one sentence before anything first leaves for a service.
        backoff: Seconds before a request is tried again.
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
    announce: Callable[[str], None] = field(default=_ignore_announcement, repr=False, compare=False)
    backoff: float = 0.1


def open_reranker(spec: RerankerSpec) -> Reranker:
    """Open the reranker that a spec describes; no model is loaded and nothing is sent before its first question.

    Raises:
        ConfigError: There is no such kind, what it needs is not named, or passages would cross a network in the clear.
    """
    if spec.kind not in RERANKERS:
        raise ConfigError(f"Reranker {spec.kind!r} is not one of {', '.join(RERANKERS)}.")
    return RERANKERS[spec.kind](spec)


def _open_lexical(spec: RerankerSpec) -> Reranker:
    from scrubjay.rerankers.lexical import LexicalReranker

    return LexicalReranker(spec.tokens)


def _open_http(spec: RerankerSpec) -> Reranker:
    from scrubjay.rerankers.remote import HttpReranker

    return HttpReranker(spec)


def _open_cross_encoder(spec: RerankerSpec) -> Reranker:
    from scrubjay.rerankers.cross_encoder import CrossEncoderReranker

    return CrossEncoderReranker(spec)


def _open_chat(spec: RerankerSpec) -> Reranker:
    from scrubjay.rerankers.remote import ChatReranker

    return ChatReranker(spec)


RERANKERS: Final[dict[str, Callable[[RerankerSpec], Reranker]]] = {
    "features": _open_lexical,
    "cross-encoder": _open_cross_encoder,
    "http": _open_http,
    "chat": _open_chat,
}
