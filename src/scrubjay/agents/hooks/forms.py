"""Forms: the name of an agent -> how it tells of its events, how it is answered, and where its transcripts lie.

To add an agent: a line here, and a module beside this one with ``parse`` and ``reply`` where none of those fits.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from scrubjay.agents.hooks import cursor, groups, plain
from scrubjay.config_start import data_folder, home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    Roots = Callable[[Mapping[str, str]], tuple[str, ...]]


def _below(variable: str, default: str, *below: str) -> Roots:
    """Folder that a variable names, or the default in the home folder, and what is below it."""

    def roots(around: Mapping[str, str]) -> tuple[str, ...]:
        named = around.get(variable, "").strip() if variable else ""
        folder = named.replace("~", home(around), 1) if named.startswith("~/") else named
        folder = folder or os.path.join(home(around), default)
        return (os.path.join(os.path.abspath(folder), *below),)

    return roots


def _openclaw(around: Mapping[str, str]) -> tuple[str, ...]:
    """The log that the plugin writes, and where OpenClaw kept its own before it had a database."""
    return (
        os.path.join(data_folder(around), "agents", "openclaw", "agents"),
        *_below("OPENCLAW_STATE_DIR", ".openclaw", "agents")(around),
    )


FORMS: dict[str, tuple[ModuleType, Roots]] = {
    "claude-code": (groups, _below("CLAUDE_CONFIG_DIR", ".claude", "projects")),
    "codex": (groups, _below("CODEX_HOME", ".codex", "sessions")),
    "gemini": (groups, _below("GEMINI_CLI_HOME", "", ".gemini", "tmp")),
    "cursor": (cursor, lambda _: ()),
    "opencode": (plain, _below("XDG_DATA_HOME", os.path.join(".local", "share"), "opencode")),
    "openclaw": (plain, _openclaw),
}
"""Name to its form, and to the folders in which its transcripts lie; a path outside of them is not read."""
