"""Installing and taking back, and a folder as bytes, for the tests beside this file."""

from __future__ import annotations

from pathlib import Path

from scrubjay.agents import plan
from scrubjay.agents.agent import Home, Options
from scrubjay.agents.all import find

NAMES = ("claude-code", "codex")
GOLDEN = Path(__file__).parent / "golden"


def install(name: str, home: Home, options: Options | None = None) -> plan.Plan:
    made = plan.to_install(find(name), home, options or Options())
    plan.carry_out(made, home)
    return made


def uninstall(name: str, home: Home, options: Options | None = None) -> plan.Plan:
    made = plan.to_uninstall(find(name), home, options or Options())
    plan.carry_out(made, home)
    return made


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
