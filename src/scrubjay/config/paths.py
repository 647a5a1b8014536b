"""Folders, off switch, pauses, budget and settings fingerprint, which a hook reads instead of the settings.

Hooks have a few milliseconds, so nothing slow is imported here, not even ``typing`` and ``dataclasses``.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

ANSWERED_EVENTS = ("session-start", "prompt")
"""Hook events that are answered with memories."""
CAPTURE_EVENTS = ("stop", "pre-compact", "session-end")
"""Hook events after which the transcript is synced."""
HOOK_EVENTS = (*ANSWERED_EVENTS, *CAPTURE_EVENTS, "heartbeat")
OFF_VARIABLE = "SCRUBJAY_OFF"
"""Turns hooks off unless it is 0, false or no."""
CONFIG_VARIABLE = "SCRUBJAY_CONFIG"
"""Path of the settings file; besides ``SCRUBJAY_OFF`` the only variable that is no setting."""
PREFIX = "SCRUBJAY_"
IS_LINUX: bool = sys.platform.startswith("linux")
_XDG_FOLDERS = {
    "data": ("XDG_DATA_HOME", os.path.join(".local", "share")),
    "config": ("XDG_CONFIG_HOME", ".config"),
    "cache": ("XDG_CACHE_HOME", ".cache"),
}
PATH_SUFFIXES = ("_STORE", "_DIR", "_PATH", "_CONFIG")
"""Suffixes of variables whose values are paths, which may be relative."""


def environment(store: str | None = None, user: str | None = None) -> dict[str, str]:
    """Return the process's environment with flags applied and paths made absolute.

    A process that is started with it, in any folder, has the same settings.
    """
    flags = {"SCRUBJAY_STORE": store, "SCRUBJAY_USER": user}
    env = dict(os.environ) | {name: value for name, value in flags.items() if value is not None}
    for name, value in env.items():
        if name.startswith(PREFIX) and name.endswith(PATH_SUFFIXES) and value and "://" not in value:
            env[name] = os.path.abspath(os.path.expanduser(value))
    return env


def hooks_disabled(environ: Mapping[str, str]) -> bool:
    return environ.get(OFF_VARIABLE, "").strip().lower() not in ("", "0", "false", "no")


def home_folder(environ: Mapping[str, str]) -> str:
    return environ.get("HOME") or os.path.expanduser("~")


def _user_folder(kind: str, environ: Mapping[str, str] | None) -> str:
    environ = os.environ if environ is None else environ
    if IS_LINUX:
        variable, default = _XDG_FOLDERS[kind]
        folder = environ.get(variable, "")
        if not os.path.isabs(folder):  # the XDG specification ignores relative paths
            folder = os.path.join(home_folder(environ), default)
        return os.path.join(folder, "scrubjay")
    import platformdirs

    folder = getattr(platformdirs, f"user_{kind}_dir")("scrubjay", appauthor=False)
    return str(folder)


def make_private(folder: str) -> None:
    """Create a folder and its missing parents for this account alone; `os.makedirs` leaves parents to the umask."""
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(os.path.abspath(folder))
    for each in reversed(missing):
        os.makedirs(each, mode=0o700, exist_ok=True)


def data_folder(environ: Mapping[str, str] | None = None) -> str:
    """Return the folder of the user's data."""
    return _user_folder("data", environ)


def cache_folder(environ: Mapping[str, str] | None = None) -> str:
    """Return the folder of files that can be made again."""
    return _user_folder("cache", environ)


def config_file(environ: Mapping[str, str] | None = None) -> str:
    """Return the settings file; it need not exist."""
    path = (os.environ if environ is None else environ).get(CONFIG_VARIABLE, "")
    return os.path.expanduser(path) if path else os.path.join(_user_folder("config", environ), "config.toml")


def runtime_folder(environ: Mapping[str, str]) -> str:
    """Return the folder for sockets: that of this login, else a private one among the temporary files."""
    uid = os.getuid() if sys.platform != "win32" else 0
    login_folder = os.path.join(os.sep, "run", "user", str(uid))
    # Agents start servers with few variables: the folder must be the same without this one.
    folder = environ.get("XDG_RUNTIME_DIR", "").strip() or (
        login_folder if os.path.isdir(login_folder) else ""
    )
    # A socket's path has room for about 100 bytes.
    if folder and len(os.fsencode(folder)) < 50:
        return os.path.join(folder, "scrubjay")
    return os.path.join(os.sep, "tmp", f"scrubjay-{uid}")


def hook_budget_ms(environ: Mapping[str, str], default: int, setting: str = "budget_ms") -> int:
    """Return a budget of hooks by a quick look at the settings file; the loaded settings decide later."""
    text = environ.get(f"{PREFIX}HOOKS_{setting.upper()}", "")
    if not text:
        section, places = "", (("hooks", setting), ("hooks", f"hooks.{setting}"), ("", f"hooks.{setting}"))
        try:
            with open(config_file(environ), encoding="utf-8") as file:
                for line in file:
                    name, _, value = line.partition("=")
                    if name.lstrip().startswith("["):
                        section = name.partition("#")[0].strip().strip("[] \t")
                    elif (section, name.strip()) in places:
                        text = value
        except (OSError, ValueError):
            return default
    digits = text.partition("#")[0].strip().replace("_", "")
    return min(max(int(digits), 20), 60_000) if digits.isdecimal() else default


BUDGET_MS = 300
START_MS = 2_000
FIRST_MS = 1_500
"""Milliseconds of a hook, of a session's start and of its first prompt, unless the settings say otherwise."""
LONGER_BUDGETS = {"session-start": ("start_ms", START_MS), "first": ("first_ms", FIRST_MS)}
"""Settings of the events that may take longer, and their defaults."""


def event_budget_ms(environ: Mapping[str, str], event: str) -> int:
    """Return the budget of an event, or of ``first``, a session's first prompt, as `hook_budget_ms`.

    A capture has no answer that could be late, and is not cut short.
    """
    default_ms = hook_budget_ms(environ, BUDGET_MS)
    if event in CAPTURE_EVENTS:
        return max(default_ms, BUDGET_MS)
    if event not in LONGER_BUDGETS:
        return default_ms
    setting, default = LONGER_BUDGETS[event]
    return max(default_ms, hook_budget_ms(environ, default, setting))


def settings_fingerprint(environ: Mapping[str, str]) -> str:
    """Return a hash of everything that settings depend on: version, account, folders, variables, the file.

    Two processes with the same fingerprint have the same settings, so also the same store and user.
    """
    import hashlib

    file = config_file(environ)
    try:
        with open(file, "rb") as opened:
            content = opened.read()
    except OSError:
        content = b""
    variables = sorted(
        (name, value) for name, value in environ.items() if name.startswith(PREFIX) and name != OFF_VARIABLE
    )
    uid = os.getuid() if sys.platform != "win32" else 0
    version = sys.modules["scrubjay"].__version__  # imported as every module of it is
    folders = (home_folder(environ), data_folder(environ), cache_folder(environ))
    parts = (version, str(uid), *folders, file, repr(variables))
    data = "\0".join(parts).encode("utf-8", "surrogateescape") + b"\0" + content
    return hashlib.sha256(data).hexdigest()


PAUSES_FILE = "pauses"
ALL_AGENTS = ""
"""Used instead of an agent's name."""


class Span:
    """A pause: of whom, from and until when (seconds since 1970, perhaps infinite), and the machine's uptime then."""

    __slots__ = ("agent", "resumed", "start", "until", "uptime")

    def __init__(self, agent: str, start: float, until: float, uptime: float) -> None:
        self.agent, self.start, self.until, self.uptime = agent, start, until, uptime
        self.resumed = False

    def runs(self, now: float) -> bool:
        return not self.resumed and now < self.until

    def start_by(self, now: float, uptime: float) -> float:
        """Return the start by the clock of now, which may have been set back since."""
        return self.start if self.resumed else min(self.start, now - max(uptime - self.uptime, 0))


class Pauses:
    """The pauses of one data folder, read once on creation; damaged lines are skipped.

    During a pause hooks do nothing, and a later sync skips the turns of that time, which transcripts contain, so each
    pause is recorded. The file is append-only, one JSON object a line. Whether a pause runs is decided by the order of
    the lines, since a clock may be set back; how long it has run, by the machine's uptime (``up``). A file
    that cannot be read counts as a pause of now.

    Attributes:
        spans: The pauses, each with its agent or ``ALL_AGENTS``.
        sessions: Sessions that were begun with ``SCRUBJAY_OFF``.
        error: Why the file cannot be read.
    """

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, PAUSES_FILE)
        self.spans: list[Span] = []
        self.sessions: set[str] = set()
        self.error: OSError | None = None
        try:
            with open(self.path, encoding="utf-8", errors="replace") as file:
                lines = file.read().splitlines()
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            self.error = error
            self.spans.append(Span(ALL_AGENTS, float("-inf"), float("inf"), float("inf")))
            return
        import json

        for line in lines:
            try:
                self._apply(json.loads(line))
            except (ValueError, KeyError, TypeError):
                continue

    def _apply(self, change: dict[str, Any]) -> None:
        at, kind = float(change["at"]), change["do"]
        if kind == "pause":
            until = float("inf") if change["until"] is None else float(change["until"])
            up = float(change.get("up", "inf"))  # of an earlier version: unknown
            self.spans.append(Span(str(change["agent"]), at, until, up))
        elif kind == "resume":
            for span in self.spans:
                if not span.resumed and change["agent"] in (ALL_AGENTS, span.agent):
                    span.start = span.start_by(at, float(change.get("up", 0)))
                    span.until, span.resumed = min(span.until, at), True
        elif kind == "off":
            self.sessions.add(str(change["session"]))

    def until(self, agent: str, at: float | None = None) -> float | None:
        """Return until when an agent's hooks do nothing, infinite for no end; None if they work.

        ``at`` is a time in the past; None for now.
        """
        now, up = time.time(), time.monotonic()
        ends = [
            span.until
            for span in self.spans
            if span.agent in (ALL_AGENTS, agent)
            and (span.runs(now) if at is None else span.start_by(now, up) <= at < span.until)
        ]
        return max(ends, default=None)

    def running(self) -> dict[str, float]:
        """Return the agents (or ``ALL_AGENTS``) paused now, and until when."""
        now = time.time()
        ends: dict[str, float] = {}
        for span in self.spans:
            if span.runs(now):
                ends[span.agent] = max(span.until, ends.get(span.agent, span.until))
        return ends

    def silent(self, agent: str, session: str, at: int | None) -> bool:
        """Return whether a turn belongs to a pause or an excluded session.

        A branch of a conversation is named ``session~branch``; ``at`` is in microseconds, None for unknown, which is in
        no pause. Raises OSError where the file cannot be read.
        """
        if self.error is not None:
            raise self.error
        if session in self.sessions or session.partition("~")[0] in self.sessions:
            return True
        return at is not None and bool(self.spans) and self.until(agent, at / 1e6) is not None

    def pause(self, agent: str = ALL_AGENTS, seconds: float | None = None) -> float | None:
        """Begin a pause, and return its end; raises OSError if it cannot be written."""
        at = time.time()
        until = None if seconds is None else at + seconds
        self._append({"at": at, "up": time.monotonic(), "do": "pause", "agent": agent, "until": until})
        return until

    def resume(self, agent: str = ALL_AGENTS) -> None:
        """End the pauses of an agent, or all; raises OSError if that cannot be written."""
        self._append({"at": time.time(), "up": time.monotonic(), "do": "resume", "agent": agent})

    def leave(self, session: str) -> None:
        """Exclude a session; raises OSError if that cannot be written."""
        if session and session not in self.sessions:
            self._append({"at": time.time(), "do": "off", "session": session})

    def _append(self, change: dict[str, Any]) -> None:
        import json

        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            end = os.fstat(descriptor).st_size
            is_torn = end > 0 and os.pread(descriptor, 1, end - 1) != b"\n" if hasattr(os, "pread") else False
            os.write(descriptor, ("\n" * is_torn + json.dumps(change) + "\n").encode("ascii"))
        finally:
            os.close(descriptor)
        self._apply(change)


def pause_end(until: float | None) -> str:
    """Describe when a pause ends; None and infinity stand for no end."""
    if until is None or until == float("inf"):
        return "until `scrubjay resume`"
    return f"until {time.strftime('%Y-%m-%d %H:%M', time.localtime(until))}"
