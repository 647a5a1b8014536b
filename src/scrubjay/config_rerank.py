"""Rerank: the section of the settings that says who looks again at the best of what a search found."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from scrubjay.config_keys import Key, number, whole, word

KINDS: Final = ("off", "features", "cross-encoder", "http", "chat")


@dataclass(frozen=True, slots=True)
class Rerank:
    """[rerank]: who looks again at the best of what a search found; nothing leaves this machine unless told here."""

    kind: str = field(
        default="off",
        metadata=word(
            "`features` reads words and their places; `cross-encoder` is a model in a file; `http` a service with "
            "`/rerank`; `chat` a language model.",
            choices=KINDS,
        ),
    )
    depth: int = field(default=50, metadata=whole("How many it looks at, from the best.", 2, 200))
    deadline: float = field(
        default=1.0, metadata=number("Seconds after which the answer goes without it.", 0.01, 600)
    )
    weight: float | None = field(
        default=None,
        metadata={
            "key": Key("What a deviation of its scores weighs.", "number", 0.0, 100.0, default="by the kind")
        },
    )
    model_path: Path | None = field(
        default=None, metadata=word("ONNX file of a cross-encoder.", kind="path", default="none")
    )
    tokenizer_path: Path | None = field(
        default=None,
        metadata=word(
            "Its `tokenizer.json`.", kind="path", default="the one beside the model, or in the folder above"
        ),
    )
    sha256: str = field(
        default="",
        metadata=word("What the ONNX file's checksum must be, in hex.", default="not looked at"),
    )
    base_url: str = field(
        default="",
        metadata=word(
            "Address of a service, up to what comes before `/rerank` or `/chat/completions`.",
            default="none; for `chat` that of `[llm]`",
        ),
    )
    model: str = field(
        default="",
        metadata=word("The service's name of the model.", default="none; for `chat` that of `[llm]`"),
    )
    api_key_env: str = field(
        default="",
        metadata=word("Environment variable that holds the key; read only when named.", default="none"),
    )
