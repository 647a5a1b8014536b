"""Open: LlmSpec -> LanguageModel, importing what it needs when it is asked for."""

from __future__ import annotations

from urllib.parse import urlsplit

from scrubjay.errors import ConfigError
from scrubjay.providers.llms.port import LanguageModel
from scrubjay.providers.llms.spec import LlmSpec


def open_llm(spec: LlmSpec) -> LanguageModel:
    """Open the language model that a spec describes; nothing is sent before its first use.

    Raises:
        ConfigError: The address or the key cannot be used, or memories would cross a network in the clear.
    """
    from scrubjay.providers.llms.openai_compatible import OpenAiCompatible

    parts = urlsplit(spec.base_url)
    if parts.scheme == "http" and not _local(parts.hostname or ""):
        raise ConfigError(
            f"[llm] base_url has http and the host {parts.hostname}, which is not this machine: memories would "
            "cross the network in the clear. Nothing was sent.",
            hint="use https, or a model on this machine",
        )
    return OpenAiCompatible(spec)


def _local(host: str) -> bool:
    return host in ("localhost", "::1") or (host.startswith("127.") and host.replace(".", "").isdigit())
