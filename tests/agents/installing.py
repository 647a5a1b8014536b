"""Installing and taking back, and a folder as bytes, for the tests beside this file."""

from __future__ import annotations

from pathlib import Path

from scrubjay.agents import installation
from scrubjay.agents.base import Home, Options, find_agent

HOOKED = ("claude-code", "codex", "openclaw", "cursor", "gemini", "opencode")
CLIENTS = ("vscode", "cline", "zed", "windsurf", "hermes")
"""Clients with an MCP entry and instructions alone."""
NAMES = (*HOOKED, *CLIENTS)
PROJECTS = (*(name for name in HOOKED if name != "openclaw"), "vscode")
"""Agents with a configuration of its own for a project."""
GROUPS = ("claude-code", "codex", "gemini")
"""Agents whose hooks are commands in the form of `hook_groups`."""
PLAIN = ("claude-code", "codex")
"""Agents that ignore a file of hooks with a comment in it."""
SHIPPED = (".openclaw/scrubjay", ".config/opencode/plugins")
"""Where the code of plugins lies, which is tested beside this and changes with the tools."""
GOLDEN = Path(__file__).parent / "golden"


def install(name: str, home: Home, options: Options | None = None) -> installation.InstallPlan:
    made = installation.plan_install(find_agent(name), home, options or Options())
    installation.apply_plan(made, home)
    return made


def uninstall(name: str, home: Home, options: Options | None = None) -> installation.InstallPlan:
    made = installation.plan_uninstall(find_agent(name), home, options or Options())
    installation.apply_plan(made, home)
    return made


def parts(name: str, there: bool, hooks: bool) -> dict[str, bool]:
    """What `installed` says."""
    return {"mcp": there, **({"hooks": hooks} if name in HOOKED else {}), "instructions": there}


def configuration(folder: Path) -> Path:
    """The last of the files that hold servers and hooks, apart from TOML."""
    return max(path for path in folder.rglob("*") if path.suffix in (".json", ".yaml"))


def tree(folder: Path) -> dict[str, bytes | str]:
    """Every file's bytes, every folder and where every link leads."""
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        else:
            found[name] = "folder" if path.is_dir() else path.read_bytes()
    return found


def lay(before: dict[str, bytes | str], folder: Path) -> None:
    """Write a tree of files."""
    for name, content in before.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.mkdir(exist_ok=True)


def configured(folder: Path) -> dict[str, bytes | str]:
    """A home folder as `tree`, without the code of plugins, and with places that no test's folder is a part of."""
    places = {str(folder).encode(): b"/home/ann", str(folder.parent / "data").encode(): b"/data"}
    found: dict[str, bytes | str] = {}
    for name, content in tree(folder).items():
        for place, stands_for in places.items():
            content = content.replace(place, stands_for) if isinstance(content, bytes) else content
        if not name.startswith(SHIPPED):
            found[name] = content
    return found
