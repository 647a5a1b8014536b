"""Folders, off switch, budget and settings fingerprint, which a hook reads instead of the settings.

Hooks have a few milliseconds, so nothing slow is imported here, not even ``typing`` and ``dataclasses``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

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
    found = dict(os.environ) | {name: value for name, value in flags.items() if value}
    for name, value in found.items():
        if name.startswith(PREFIX) and name.endswith(PATH_SUFFIXES) and value and "://" not in value:
            found[name] = os.path.abspath(os.path.expanduser(value))
    return found


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
    named = (os.environ if environ is None else environ).get(CONFIG_VARIABLE, "")
    return (
        os.path.expanduser(named) if named else os.path.join(_user_folder("config", environ), "config.toml")
    )


def runtime_folder(environ: Mapping[str, str]) -> str:
    """Return the folder for sockets: that of this login, else a private one among the temporary files."""
    uid = os.getuid() if sys.platform != "win32" else 0
    usual = os.path.join(os.sep, "run", "user", str(uid))
    # Agents start servers with few variables: the folder must be the same without this one.
    named = environ.get("XDG_RUNTIME_DIR", "").strip() or (usual if os.path.isdir(usual) else "")
    # A socket's path has room for about 100 bytes.
    if named and len(os.fsencode(named)) < 50:
        return os.path.join(named, "scrubjay")
    return os.path.join(os.sep, "tmp", f"scrubjay-{uid}")


def hook_budget_ms(environ: Mapping[str, str], usual: int, setting: str = "budget_ms") -> int:
    """Return a budget of hooks as far as a quick look at the settings tells; the settings decide later."""
    found = environ.get(f"{PREFIX}HOOKS_{setting.upper()}", "")
    if not found:
        try:
            with open(config_file(environ), encoding="utf-8") as file:
                lines = [line.partition("=") for line in file if setting in line]
        except (OSError, ValueError):
            return usual
        found = next((value for name, _, value in lines if name.strip() in (setting, f"hooks.{setting}")), "")
    digits = found.partition("#")[0].strip().replace("_", "")
    return min(max(int(digits), 20), 60_000) if digits.isdecimal() else usual


BUDGET_MS = 300
"""Milliseconds of a hook, unless the settings say otherwise."""
LONGER_BUDGETS = {"session-start": ("start_ms", 2_000), "first": ("first_ms", 1_500)}
"""Settings of the events that may take longer, and their defaults."""


def event_budget_ms(environ: Mapping[str, str], event: str) -> int:
    """Return the budget of an event, or of ``first``, a session's first prompt, as `hook_budget_ms`."""
    least = hook_budget_ms(environ, BUDGET_MS)
    if event not in LONGER_BUDGETS:
        return least
    setting, usual = LONGER_BUDGETS[event]
    return max(least, hook_budget_ms(environ, usual, setting))


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
    own = sorted(
        (name, value) for name, value in environ.items() if name.startswith(PREFIX) and name != OFF_VARIABLE
    )
    uid = os.getuid() if sys.platform != "win32" else 0
    version = sys.modules["scrubjay"].__version__  # imported as every module of it is
    folders = (home_folder(environ), data_folder(environ), cache_folder(environ))
    parts = (version, str(uid), *folders, file, repr(own))
    data = "\0".join(parts).encode("utf-8", "surrogateescape") + b"\0" + content
    return hashlib.sha256(data).hexdigest()
