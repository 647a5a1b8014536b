"""Post: a JSON body -> the service's JSON answer, with tries; every failure is a ProviderError.

An API key is given by the caller, sent in one header, and stands in no message and no ``repr``. Redirects
are not followed, so it goes to the configured host alone.
"""

from __future__ import annotations

import email.utils
import json
import re
import threading
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrubjay.errors import ConfigError, ProviderError
from scrubjay.providers.within import Wire, within

if TYPE_CHECKING:
    import ssl

    import httpx

TRIES = 3
TIMEOUT = 60.0
"""Seconds without a byte before a request counts as lost; a local model loading its weights takes long."""
BACKOFF = 0.5
"""Seconds before the second try; four times as much before the third."""
LONGEST_WAIT = 60.0
"""Seconds a service may ask to wait with Retry-After; beyond that the caller is told instead."""
LARGEST_ANSWER = 1 << 26
"""Bytes of one answer; 2,048 vectors of 3,072 numbers as JSON take about as much."""
DEADLINE = 86_400.0
"""Seconds that a call may take, tries and waits included, where the caller gives none: a day."""
EXCERPT = 200
"""Characters of a service's own message that an error repeats."""

_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504, 529})


@dataclass(frozen=True, slots=True)
class _Line:
    """A client with one connection, for one call at a time, and the socket of that connection."""

    client: httpx.Client
    wire: Wire

    def traced(self, event: str, told: Mapping[str, Any]) -> None:
        """Note the socket of a connection as soon as there is one: what httpx calls for each step of a request."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self.wire.holds(told["return_value"].get_extra_info("socket"))


@dataclass(slots=True)
class _Lines:
    """Of one endpoint: what its connections are made with, and those that wait for the next call."""

    context: ssl.SSLContext | None = None
    idle: list[_Line] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def close(self) -> None:
        with self.lock:
            while self.idle:
                self.idle.pop().client.close()


@dataclass(frozen=True)
class Endpoint:
    """Where a service is and how it is asked.

    Attributes:
        url: Base URL; http or https.
        key: API key, or an empty string for none.
        header: Header that carries the key.
        prefix: What stands before the key in that header.
        timeout: Seconds without a byte before a request counts as lost.
        backoff: Seconds before the second try.
    """

    url: str
    key: str = field(default="", repr=False)
    header: str = "Authorization"
    prefix: str = "Bearer "
    timeout: float = TIMEOUT
    backoff: float = BACKOFF
    _lines: _Lines = field(default_factory=_Lines, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse what would fail later, and there with the key in the message.

        Raises:
            ConfigError: The URL is not http(s), or the key holds a character no header takes.
        """
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(
                f"A base URL has scheme {parts.scheme!r} and host {parts.hostname or ''!r}; "
                "http://HOST or https://HOST is needed."
            )
        if any(not 0x20 < ord(character) < 0x7F for character in self.key):
            raise ConfigError(f"The API key for {self.host} holds a blank or a character outside ASCII.")
        weakref.finalize(self, self._lines.close)

    @property
    def host(self) -> str:
        """Host and port, without user information, path or query."""
        parts = urlsplit(self.url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)

    def taken(self) -> _Line:
        """A line for one call: one that was given back, with its connection, or a new one."""
        import httpx

        with self._lines.lock:
            if self._lines.idle:
                return self._lines.idle.pop()
            keyed = {self.header: f"{self.prefix}{self.key}"} if self.key else {}
            headers = {"Content-Type": "application/json"} | keyed
            # A proxy from the environment is honoured, but not on the way to this machine itself.
            around = urlsplit(self.url).hostname not in ("localhost", "127.0.0.1", "::1")
            known = self._lines.context = self._lines.context or httpx.create_ssl_context(trust_env=around)
            client = httpx.Client(headers=headers, timeout=self.timeout, trust_env=around, verify=known)
            return _Line(client, Wire())

    def give_back(self, line: _Line) -> None:
        """Keep a line for the next call; as many are kept as calls were made at once, until the endpoint is let go."""
        with self._lines.lock:
            self._lines.idle.append(line)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of the caller's time and memory one call may take.

    Attributes:
        largest: Bytes of the answer; reading ends there.
        deadline: Seconds for the whole call, tries and waits included, however slowly an answer's bytes come.
    """

    largest: int = LARGEST_ANSWER
    deadline: float = DEADLINE


NO_HURRY = Bounds()
"""What vectors are asked for with."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What one try brought: ``content``, or None and the ``trouble``."""

    content: bytes | None
    trouble: str = ""
    hint: str = ""
    again: bool = False
    wait: float | None = None


def post(endpoint: Endpoint, path: str, body: dict[str, Any], lost: str, bounds: Bounds = NO_HURRY) -> Any:
    """Send a body; try again where that can help.

    Timeouts, broken connections, 429 and 5xx are tried up to three times, after .5 and 2 seconds or after
    what Retry-After asks for.

    Args:
        endpoint: Where to.
        path: Appended to its URL.
        body: What to send, as JSON.
        lost: A sentence for the error: what has not been done.
        bounds: How large the answer and how long the call may be.

    Returns:
        The parsed JSON answer.

    Raises:
        ProviderError: The service was not reached, answered with an error status, or not with JSON.
    """
    content = json.dumps(body).encode()
    until = time.monotonic() + bounds.deadline
    tries = 0
    while True:
        tries += 1
        answer = _try(endpoint, path, content, bounds, until)
        if answer.content is not None:
            break
        pause = endpoint.backoff * 4 ** (tries - 1) if answer.wait is None else answer.wait
        over = time.monotonic() + pause >= until
        if over or not answer.again or tries == TRIES or pause > LONGEST_WAIT:
            asked = f", asking to wait {pause:.0f} s" if pause > LONGEST_WAIT else ""
            count = f" ({tries} tries)" if tries > 1 else ""
            raise ProviderError(f"{endpoint.host} {answer.trouble}{asked}{count}. {lost}", hint=answer.hint)
        time.sleep(pause)
    try:
        return json.loads(answer.content)
    except (ValueError, RecursionError) as exc:
        raise ProviderError(
            f"{endpoint.host} did not answer with JSON ({type(exc).__name__}). {lost}"
        ) from exc


def _try(endpoint: Endpoint, path: str, content: bytes, bounds: Bounds, until: float) -> _Answer:
    line = endpoint.taken()
    # A try that begins at the very end still gets a moment: httpx takes no timeout of 0.
    seconds = max(0.001, until - time.monotonic())
    late = _Answer(None, f"did not answer within {min(endpoint.timeout, bounds.deadline):g} s", again=True)

    def ask() -> _Answer:
        return _asked(endpoint, line, path, content, bounds.largest, min(endpoint.timeout, seconds)) or late

    answer = within(seconds, ask, line.wire, line.client.close)
    if answer is None:
        return late
    endpoint.give_back(line)
    return answer


def _asked(
    endpoint: Endpoint, line: _Line, path: str, content: bytes, largest: int, timeout: float
) -> _Answer | None:
    """What one request brought; None where no byte came in time."""
    import httpx

    url = endpoint.url.rstrip("/") + path
    try:
        traced = {"trace": line.traced}
        with line.client.stream("POST", url, content=content, timeout=timeout, extensions=traced) as response:
            body = bytearray()
            for part in response.iter_bytes():
                body += part
                if len(body) > largest:
                    return _Answer(None, f"answered with more than {_size(largest)}")
            return _Answer(bytes(body)) if response.is_success else _refusal(endpoint, response, bytes(body))
    except httpx.TimeoutException:
        return None
    except httpx.DecodingError as exc:
        return _Answer(None, f"answered with something that cannot be decoded ({exc})")
    except httpx.TransportError as exc:
        trouble = f"could not be reached: {type(exc).__name__} {_clean(endpoint, str(exc))}".rstrip()
        return _Answer(None, trouble, "start the service, or correct its `base_url`", again=True)


def _size(count: int) -> str:
    return f"{count >> 20} MB" if count >= 1 << 20 else f"{count >> 10} kB"


def _refusal(endpoint: Endpoint, response: httpx.Response, body: bytes) -> _Answer:
    status = response.status_code
    if status in (401, 403):
        # The message is left out: services like to repeat a part of the key.
        return _Answer(None, f"refused the API key ({status})", "give a valid key in the model's settings")
    said = _clean(endpoint, _message(body))
    trouble = f"answered with status {status}{': ' + said if said else ''}"
    if 300 <= status < 400:
        return _Answer(None, f"{trouble} (a redirect, not followed)", "set `base_url` to the final address")
    if status == 404:
        return _Answer(None, trouble, "check the model's name and `base_url`")
    return _Answer(
        None, trouble, again=status in _AGAIN, wait=_retry_after(response.headers.get("retry-after"))
    )


def _message(body: bytes) -> str:
    """The service's own words: ``error.message``, ``error``, ``detail`` or ``message`` of its JSON.

    Anything else is left out, for services that repeat their input (a memory's text) put it elsewhere.
    """
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    for key in ("error", "detail", "message"):
        if isinstance(said, dict):
            said = said.get(key, said)
    return said if isinstance(said, str) else ""


def _clean(endpoint: Endpoint, text: str) -> str:
    """One line of at most ``EXCERPT`` characters, without the key."""
    if endpoint.key:
        text = text.replace(endpoint.key, "[key]")
    return re.sub(r"\s+", " ", text).strip().rstrip(".")[:EXCERPT]


def _retry_after(value: str | None) -> float | None:
    """Seconds that a Retry-After header asks for, as a number or a date (RFC 9110, 10.2.3)."""
    if not value:
        return None
    if re.fullmatch(r"\d{1,9}", value.strip()):
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None
