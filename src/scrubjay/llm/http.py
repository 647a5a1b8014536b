"""HTTP client: post JSON with retries, limits and a deadline; every failure is a ProviderError.

The call runs in a thread of its own, since nothing else ends a wait whose every step is short enough: a server that
sends a byte a second, a name whose every address is silent. At the deadline the caller goes on and the socket is shut
down, so that the thread ends, too. An API key is sent in one header, stands in no message and no ``repr``, and
redirects are not followed.
"""

from __future__ import annotations

import contextlib
import email.utils
import json
import re
import socket
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from scrubjay.errors import ConfigError, ProviderError
from scrubjay.frozen import frozen

if TYPE_CHECKING:
    import ssl

    import httpx


T = TypeVar("T")
THREAD_NAME = "scrubjay-post"


class WatchedSocket:
    """The socket that a thread waits for and another thread may shut down."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._cut = False

    def watch(self, connection: socket.socket) -> None:
        """Set the socket; after a cut it is shut down at once."""
        with self._lock:
            self._socket = connection
            if self._cut:
                self._shut_down()

    def cut(self) -> None:
        """Shut down the socket, and any that is set later."""
        with self._lock:
            self._cut = True
            self._shut_down()

    def _shut_down(self) -> None:
        # Of an `SSLSocket` the plain method: its own takes the session away from under the thread that reads.
        with contextlib.suppress(OSError):  # closed already, or never connected
            if self._socket is not None:
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def call_within(
    seconds: float, call: Callable[[], T], watched: WatchedSocket, drop: Callable[[], None]
) -> T | None:
    """Return a call's result, or raise its error; None if it takes longer than ``seconds``, and then its socket is cut.

    ``drop`` is called by the call's thread when it has ended in an error, or when nobody waits for it any more.
    """
    from concurrent.futures import Future

    result: Future[T] = Future()
    done, lock, has_ended, abandoned = threading.Event(), threading.Lock(), False, False

    def run() -> None:
        nonlocal has_ended
        has_failed = False
        try:
            result.set_result(call())
        except BaseException as error:  # noqa: BLE001 the caller's thread raises it
            result.set_exception(error)
            has_failed = True
        with lock:
            has_ended = True
        done.set()
        if abandoned or has_failed:
            drop()

    threading.Thread(target=run, name=THREAD_NAME, daemon=True).start()
    try:
        done.wait(seconds)
    finally:
        with lock:
            abandoned = not has_ended
        if abandoned:
            watched.cut()
    return None if abandoned else result.result()


TRIES = 3
TIMEOUT = 60.0
"""Seconds without a byte before a request counts as lost; a local model loading its weights takes long."""
BACKOFF = 0.5
"""Seconds before the second try; four times as much before the third."""
MAX_RETRY_WAIT = 60.0
"""Longest Retry-After, in seconds, that is waited for."""
MAX_ANSWER_BYTES = 1 << 26
"""Bytes of one answer; 2,048 vectors of 3,072 numbers as JSON take about as much."""
DEADLINE = 86_400.0
"""Seconds of a call, tries and waits included, where the caller gives no limit."""
EXCERPT = 200
"""Characters of a service's own message that an error repeats."""

_RETRY_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504, 529})


@frozen
class _Connection:
    """A client with one connection, for one call at a time, and the socket of that connection."""

    client: httpx.Client
    socket: WatchedSocket

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Note the socket of a connection: httpx calls this for each step of a request."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self.socket.watch(info["return_value"].get_extra_info("socket"))


@dataclass(slots=True)
class _ConnectionPool:
    context: ssl.SSLContext | None = None
    idle: list[_Connection] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def close(self) -> None:
        with self.lock:
            while self.idle:
                self.idle.pop().client.close()


def check_encrypted(url: str, section: str, kind: str) -> None:
    """Refuse an address to which memories would cross a network in the clear.

    Raises:
        ConfigError: The URL is http, and its host is not this machine. ``section`` names the settings it is from.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    is_local = host in ("localhost", "::1") or (host.startswith("127.") and host.replace(".", "").isdigit())
    if parts.scheme == "http" and not is_local:
        raise ConfigError(
            f"{section} base_url has http and the host {host}, which is not this machine: memories would cross the "
            "network in the clear. Nothing was sent.",
            hint=f"use https, or a {kind} on this machine",
        )


@dataclass(frozen=True)
class Endpoint:
    """The address of a service and how to call it.

    Attributes:
        url: Base URL; http or https.
        key: API key, or an empty string for none.
        header: Header that carries the key.
        prefix: What precedes the key in that header.
        timeout: Seconds without a byte before a request counts as lost.
        backoff: Seconds before the second try.
    """

    url: str
    key: str = field(default="", repr=False)
    header: str = "Authorization"
    prefix: str = "Bearer "
    timeout: float = TIMEOUT
    backoff: float = BACKOFF
    _pool: _ConnectionPool = field(default_factory=_ConnectionPool, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse an unusable URL or key here: later the key would be in the message.

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
        weakref.finalize(self, self._pool.close)

    @property
    def host(self) -> str:
        """Host and port, without user information, path or query."""
        parts = urlsplit(self.url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)

    def acquire(self) -> _Connection:
        import httpx

        with self._pool.lock:
            if self._pool.idle:
                return self._pool.idle.pop()
            key_header = {self.header: f"{self.prefix}{self.key}"} if self.key else {}
            headers = {"Content-Type": "application/json"} | key_header
            # A proxy from the environment is honoured, but not on the way to this machine itself.
            use_proxy = urlsplit(self.url).hostname not in ("localhost", "127.0.0.1", "::1")
            tls = self._pool.context = self._pool.context or httpx.create_ssl_context(trust_env=use_proxy)
            client = httpx.Client(headers=headers, timeout=self.timeout, trust_env=use_proxy, verify=tls)
            return _Connection(client, WatchedSocket())

    def release(self, connection: _Connection) -> None:
        with self._pool.lock:
            self._pool.idle.append(connection)


@frozen
class CallLimits:
    """Limits of one call: bytes of the answer, and seconds for everything, tries and waits included."""

    largest: int = MAX_ANSWER_BYTES
    deadline: float = DEADLINE


NO_LIMITS = CallLimits()


@frozen
class _Attempt:
    content: bytes | None
    problem: str = ""
    hint: str = ""
    retry: bool = False
    wait: float | None = None


def post_json(
    endpoint: Endpoint, path: str, body: dict[str, Any], lost: str, limits: CallLimits = NO_LIMITS
) -> Any:
    """Send a body and return the parsed JSON answer; try again where that can help.

    Timeouts, broken connections, 429 and 5xx are tried up to three times, after .5 and 2 seconds or after what
    Retry-After asks for. ``lost`` is a sentence for the error: what has not been done.

    Raises:
        ProviderError: The service was not reached, answered with an error status, or not with JSON.
    """
    content = json.dumps(body).encode()
    until = time.monotonic() + limits.deadline
    tries = 0
    while True:
        tries += 1
        answer = _attempt(endpoint, path, content, limits, until)
        if answer.content is not None:
            break
        pause = endpoint.backoff * 4 ** (tries - 1) if answer.wait is None else answer.wait
        too_late = time.monotonic() + pause >= until
        if too_late or not answer.retry or tries == TRIES or pause > MAX_RETRY_WAIT:
            wait_note = f", asking to wait {pause:.0f} s" if pause > MAX_RETRY_WAIT else ""
            count = f" ({tries} tries)" if tries > 1 else ""
            raise ProviderError(
                f"{endpoint.host} {answer.problem}{wait_note}{count}. {lost}", hint=answer.hint
            )
        time.sleep(pause)
    try:
        return json.loads(answer.content)
    except (ValueError, RecursionError) as exc:
        problem = f"did not answer with JSON ({type(exc).__name__})"
        raise ProviderError(f"{endpoint.host} {problem}. {lost}") from exc


def _attempt(endpoint: Endpoint, path: str, content: bytes, limits: CallLimits, until: float) -> _Attempt:
    connection = endpoint.acquire()
    # A try that begins at the very end still gets a moment: httpx takes no timeout of 0.
    seconds = max(0.001, until - time.monotonic())
    timeout = min(endpoint.timeout, seconds)
    late = _Attempt(None, f"did not answer within {min(endpoint.timeout, limits.deadline):g} s", retry=True)

    def request() -> _Attempt:
        return _request_once(endpoint, connection, path, content, limits.largest, timeout) or late

    answer = call_within(seconds, request, connection.socket, connection.client.close)
    if answer is None:
        return late
    endpoint.release(connection)
    return answer


def _request_once(
    endpoint: Endpoint, connection: _Connection, path: str, content: bytes, largest: int, timeout: float
) -> _Attempt | None:
    import httpx

    url, body = endpoint.url.rstrip("/") + path, bytearray()
    extensions = {"trace": connection.trace}
    try:
        with connection.client.stream(
            "POST", url, content=content, timeout=timeout, extensions=extensions
        ) as response:
            for part in response.iter_bytes():
                body += part
                if len(body) > largest:
                    return _Attempt(None, f"answered with more than {_format_size(largest)}")
            return (
                _Attempt(bytes(body)) if response.is_success else _http_error(endpoint, response, bytes(body))
            )
    except httpx.TimeoutException:
        return None
    except httpx.DecodingError as exc:
        return _Attempt(None, f"answered with something that cannot be decoded ({exc})")
    except httpx.TransportError as exc:
        problem = f"could not be reached: {type(exc).__name__} {_one_line(endpoint, str(exc))}".rstrip()
        return _Attempt(None, problem, "start the service, or correct its `base_url`", retry=True)


def _format_size(count: int) -> str:
    return f"{count >> 20} MB" if count >= 1 << 20 else f"{count >> 10} kB"


def _http_error(endpoint: Endpoint, response: httpx.Response, body: bytes) -> _Attempt:
    status = response.status_code
    if status in (401, 403):
        # The message is left out: services like to repeat a part of the key.
        return _Attempt(None, f"refused the API key ({status})", "give a valid key in the model's settings")
    message = _one_line(endpoint, _service_message(body))
    problem = f"answered with status {status}{': ' + message if message else ''}"
    if 300 <= status < 400:
        return _Attempt(None, f"{problem} (a redirect, not followed)", "set `base_url` to the final address")
    if status == 404:
        return _Attempt(None, problem, "check the model's name and `base_url`")
    wait = _retry_after_seconds(response.headers.get("retry-after"))
    return _Attempt(None, problem, retry=status in _RETRY_STATUSES, wait=wait)


def _service_message(body: bytes) -> str:
    """The service's own words: ``error.message``, ``error``, ``detail`` or ``message`` of its JSON.

    Nothing else: services that repeat their input (a memory's text) put it elsewhere.
    """
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    for key in ("error", "detail", "message"):
        if isinstance(message, dict):
            message = message.get(key, message)
    return message if isinstance(message, str) else ""


def _one_line(endpoint: Endpoint, text: str) -> str:
    if endpoint.key:
        text = text.replace(endpoint.key, "[key]")
    return re.sub(r"\s+", " ", text).strip().rstrip(".")[:EXCERPT]


def _retry_after_seconds(value: str | None) -> float | None:
    """RFC 9110, 10.2.3: seconds or a date."""
    if not value:
        return None
    if re.fullmatch(r"\d{1,9}", value.strip()):
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None
