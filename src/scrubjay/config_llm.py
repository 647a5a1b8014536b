"""Llm: the section of the settings that names a language model, if any."""

from __future__ import annotations

from dataclasses import dataclass, field

from scrubjay.config_keys import number, whole, word

REFINING = ("facts", "digests")


@dataclass(frozen=True, slots=True)
class Llm:
    """[llm]: a language model that refines what was found without one; none is asked unless one is named."""

    base_url: str = field(
        default="",
        metadata=word("Address of a service with OpenAI's `/chat/completions`.", default="none"),
    )
    model: str = field(default="", metadata=word("The service's name of the model.", default="none"))
    api_key_env: str = field(
        default="",
        metadata=word("Environment variable that holds the key; read only when named.", default="none"),
    )
    refine: tuple[str, ...] = field(
        default=REFINING,
        metadata=word(
            "What `scrubjay consolidate` asks it: to find facts that the rules missed; to reword digests.",
            kind="list",
            choices=REFINING,
        ),
    )
    deadline: float = field(
        default=60.0, metadata=number("Seconds for one request, tries included.", 0.05, 3_600)
    )
    rewrite: bool = field(
        default=False,
        metadata=word(
            "Whether it makes a question whole by what was said before it, where a search is given that.",
            kind="switch",
        ),
    )
    rewrite_deadline: float = field(
        default=2.0,
        metadata=number("Seconds that a search waits for that; then the question stands as it is.", 0.05, 60),
    )
    requests: int = field(default=100, metadata=whole("Most requests of one run.", 1, 1_000_000))
