"""Write the plugins of coding agents and the entries of registries from the texts and hooks that the installers have.

    python scripts/generate_plugins.py            write plugins/, marketplaces and server.json, and build the bundles
    python scripts/generate_plugins.py --check    exit 1 and name the files that are out of date

Each installer runs over an empty home folder, for a command that looks for scrubjay, and its files become the plugin's.
Formats, as published in November 2026:

- Claude Code: code.claude.com/docs, plugins-reference and plugin-marketplaces, and as 2.1.197 reads them.
- Codex: developers.openai.com/codex/plugins/build and hooks, and as codex-cli 0.169.0 reads them: hooks are given
  PLUGIN_ROOT, the entry of a server is not.
- Cursor: cursor.com/docs/reference/plugins and the plugins in github.com/cursor/plugins.
- Gemini CLI: docs/extensions/reference and releasing of the package @google/gemini-cli 0.61.0. An extension lies at the
  root of a repository or of a release's archive, so an archive is built for each system.
- Agent Plugins 1.0.0: github.com/agentplugins/agent-plugins-spec, spec/1.0.0.md.
- OpenClaw: docs/plugins/building-plugins and manifest of the package openclaw 2026.9.6, and of clawhub 0.23.3.
- MCP registry: github.com/modelcontextprotocol/registry, docs/reference/server-json, schema 2025-12-11.
- MCP bundle: MANIFEST.md of the package @anthropic-ai/mcpb 2.1.2, manifest 0.4 with its own Python by uv.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import shutil
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import scrubjay
from scrubjay.agents.base import SERVER_NAME, Home, Options, find_agent, instructions, skill
from scrubjay.api.tools import TOOLS

ROOT = Path(__file__).resolve().parents[1]
BUNDLES = ROOT / "build" / "plugins"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
VERSION: Final = scrubjay.__version__
REPOSITORY = str(PROJECT.get("urls", {}).get("Repository", ""))
OWNER = REPOSITORY.rstrip("/").split("/")[-2] if REPOSITORY else "OWNER"
"""Whose repository it is; a name in the MCP registry is proven by it."""
REGISTRY_NAME = f"io.github.{OWNER}/{SERVER_NAME}"
MARK = re.compile(r"<!-- mcp-name: .* -->")
"""In the README, by which the registry knows that the package on PyPI is the one of server.json."""
AUTHOR: Final = {"name": "The scrubjay authors"}
EXECUTABLE: Final = 0o755
OPENCLAW: Final = "2026.9.6"

FIND = 'PATH="$PATH:$HOME/.local/bin:/usr/local/bin"'
"""Programs of the desktop have a shorter PATH than a shell."""
MISSING = "scrubjay is missing: install uv (https://docs.astral.sh/uv), and this plugin fetches it, or scrubjay itself"
START = (
    f'{FIND}; if command -v scrubjay >/dev/null; then exec scrubjay "$@"; fi; '
    f'if command -v uvx >/dev/null; then exec uvx --from {SERVER_NAME}=={VERSION} scrubjay "$@"; fi; '
    f"echo '{MISSING}' >&2; exit 127"
)
"""Starts the server of a plugin, which knows no path of the machine: the scrubjay that is there, else this version."""
COMMAND = ("sh", "-c", START, SERVER_NAME)

TWICE = (
    "scrubjay is here twice: its hooks answer as installed, those of the plugin do not, and its tools may be there "
    "twice. Keep one: run scrubjay uninstall {agent}, or uninstall the plugin."
)
HOOK = """\
#!/bin/sh
# hook.sh EVENT: at an event of {title}, what `scrubjay hook {agent} EVENT` says. It never fails and never downloads.
event=$1
stop() {{
  cat >/dev/null
  {tell}
  exit 0
}}
if grep -qs ' hook {agent} ' {own} {project}; then
  stop '{twice}'
fi
{find}
if command -v scrubjay >/dev/null; then
  scrubjay hook {agent} "$event"
elif ! command -v uvx >/dev/null; then
  stop '{missing}. Until then nothing is recalled or captured.'
else
  uvx --offline --quiet --from {name}=={version} scrubjay hook {agent} "$event" 2>/dev/null ||
    stop 'scrubjay {version} is not here yet: its MCP server fetches it. Until then nothing is recalled or captured.'
fi
exit 0
"""
TELL = """[ "$event" != session-start ] || printf '{"systemMessage": "%s"}\\n' "$1\""""
"""Says it to the person once a session; Cursor has no such message."""


class PluginHome(Home):
    """An empty home folder whose hooks are started by the plugin's own script."""

    def hook(self, agent: str, event: str) -> str:
        return f'sh "{self.env["plugin"]}/hook.sh" {event} || true'


def installed(agent: str, plugin: str = "") -> dict[str, bytes]:
    """Return what an agent's installer writes, name to content; ``plugin`` is what the agent calls its folder."""
    with tempfile.TemporaryDirectory() as folder:
        home = PluginHome(Path(folder), {"plugin": plugin}, COMMAND, Path(folder) / "data")
        changes = find_agent(agent).install(home, Options())
    return {change.path.name: change.new or b"" for change in changes}


def hook_script(agent: str, own: str, project: str, tell: str = TELL) -> bytes:
    title = find_agent(agent).title
    return HOOK.format(
        agent=agent, title=title, own=own, project=project, tell=tell, find=FIND, missing=MISSING,
        twice=TWICE.format(agent=agent), name=SERVER_NAME, version=VERSION,
    ).encode()  # fmt: skip


def about(*names: str) -> dict[str, Any]:
    """Return members that most manifests share, these alone where some are named."""
    members = {
        "name": SERVER_NAME,
        "version": VERSION,
        "description": PROJECT["description"],
        "author": AUTHOR,
        "license": PROJECT["license"],
        "keywords": PROJECT["keywords"],
        **({"repository": REPOSITORY} if REPOSITORY else {}),
    }
    return {name: members[name] for name in names} if names else members


def encoded(value: Any) -> bytes:
    return f"{json.dumps(value, ensure_ascii=False, indent=2)}\n".encode()


def claude_code() -> dict[str, bytes]:
    files = installed("claude-code", "${CLAUDE_PLUGIN_ROOT}")
    own, project = '"${CLAUDE_CONFIG_DIR:-$HOME/.claude}/settings.json"', ".claude/settings.local.json"
    return {
        ".claude-plugin/plugin.json": encoded(about()),
        ".mcp.json": files[".claude.json"],
        "hooks/hooks.json": files["settings.json"],
        "hook.sh": hook_script("claude-code", own, f'"${{CLAUDE_PROJECT_DIR:-.}}/{project}"'),
        "skills/scrubjay/SKILL.md": files["SKILL.md"],
    }


def codex() -> dict[str, bytes]:
    files = installed("codex", "${PLUGIN_ROOT}")
    project = '"$(git rev-parse --show-toplevel 2>/dev/null || pwd)/.codex/hooks.json" .codex/hooks.json'
    servers = tomllib.loads(files["config.toml"].decode())["mcp_servers"]
    shown = {
        "displayName": SERVER_NAME,
        "shortDescription": PROJECT["description"],
        "developerName": AUTHOR["name"],
        "category": "Productivity",
        "capabilities": ["Read", "Write"],
    }
    return {
        ".codex-plugin/plugin.json": encoded(
            {**about(), "skills": "./skills/", "mcpServers": "./.mcp.json", "interface": shown}
        ),
        ".mcp.json": encoded({"mcpServers": servers}),
        "hooks/hooks.json": files["hooks.json"],
        "hook.sh": hook_script("codex", '"${CODEX_HOME:-$HOME/.codex}/hooks.json"', project),
        "skills/scrubjay/SKILL.md": skill().encode(),
    }


def cursor() -> dict[str, bytes]:
    files = installed("cursor", "${CURSOR_PLUGIN_ROOT}")
    return {
        ".cursor-plugin/plugin.json": encoded(about()),
        "mcp.json": files["mcp.json"],
        "hooks/hooks.json": files["hooks.json"],
        "hook.sh": hook_script("cursor", '"$HOME/.cursor/hooks.json"', ".cursor/hooks.json", ":"),
        "skills/scrubjay/SKILL.md": files["SKILL.md"],
    }


def gemini() -> dict[str, bytes]:
    settings = json.loads(installed("gemini", "${extensionPath}")["settings.json"])
    own = '"${GEMINI_CLI_HOME:-$HOME}/.gemini/settings.json"'
    manifest = {
        **about("name", "version", "description"),
        "mcpServers": settings["mcpServers"],
        "contextFileName": "GEMINI.md",
    }
    return {
        "gemini-extension.json": encoded(manifest),
        "hooks/hooks.json": encoded({"hooks": settings["hooks"]}),
        "hook.sh": hook_script("gemini", own, '"${GEMINI_PROJECT_DIR:-.}/.gemini/settings.json"'),
        "GEMINI.md": f"{instructions()}\n".encode(),
    }


def agent_plugin() -> dict[str, bytes]:
    schemas = "https://agent-plugins.org/schemas/1.0.0"
    # By the standard a server starts in the plugin's folder, which is no project of the person.
    start = f'if [ "$PWD" = "$PLUGIN_ROOT" ]; then cd; fi; {START}'
    server = {"type": "stdio", "command": "sh", "args": ["-c", start, SERVER_NAME, "mcp"]}
    return {
        "plugin.json": encoded({"$schema": f"{schemas}/plugin.schema.json", **about()}),
        "mcp.json": encoded({"$schema": f"{schemas}/mcp.schema.json", "mcpServers": {SERVER_NAME: server}}),
        "skills/scrubjay/SKILL.md": skill().encode(),
    }


def openclaw() -> dict[str, bytes]:
    files = installed("openclaw")
    del files["openclaw.json"]
    package = json.loads(files["package.json"])
    del package["private"]
    package |= {
        **about("description", "license", "keywords"),
        "files": sorted([*files, "start.json"]),
        "peerDependencies": {"openclaw": f">={OPENCLAW}"},
    }
    package["openclaw"] |= {
        "compat": {"pluginApi": f">={OPENCLAW}", "minGatewayVersion": OPENCLAW},
        "build": {"openclawVersion": OPENCLAW, "pluginSdkVersion": OPENCLAW},
    }
    return {**files, "package.json": encoded(package), "start.json": encoded(COMMAND)}


def mcpb() -> dict[str, bytes]:
    manifest = {
        "manifest_version": "0.4",
        **about(),
        "server": {
            "type": "uv",
            "entry_point": "server.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--project", "${__dirname}", "${__dirname}/server.py"],
            },
        },
        "tools": [{"name": tool.name, "description": tool.description} for tool in TOOLS],
        "compatibility": {
            "platforms": ["darwin", "linux"],
            "runtimes": {"python": PROJECT["requires-python"]},
        },
    }
    if REPOSITORY:
        manifest["repository"] = {"type": "git", "url": REPOSITORY}
    project = (
        f'[project]\nname = "{SERVER_NAME}-bundle"\nversion = "{VERSION}"\n'
        f'requires-python = "{PROJECT["requires-python"]}"\ndependencies = ["{SERVER_NAME}=={VERSION}"]\n'
    )
    server = (
        '"""Start the MCP server of the scrubjay that pyproject.toml names."""\n\nimport sys\n\n'
        'from scrubjay.cli.entry import main\n\nsys.argv[1:] = ["mcp"]\nmain()\n'
    )
    return {
        "manifest.json": encoded(manifest),
        "pyproject.toml": project.encode(),
        "server.py": server.encode(),
    }


PLUGINS: Final = {
    "claude-code": claude_code,
    "codex": codex,
    "cursor": cursor,
    "gemini": gemini,
    "agent-plugin": agent_plugin,
}
"""Folder below plugins/ to what is in it: what clients read in the repository itself."""


def marketplaces() -> dict[str, bytes]:
    """Return the lists by which an agent finds its plugin in this repository."""
    listed = {**about("name", "version", "description"), "category": "productivity"}
    market = {"name": SERVER_NAME, "owner": AUTHOR}
    described = {"metadata": {"description": PROJECT["description"], "version": VERSION}}
    local = {
        "name": SERVER_NAME,
        "source": {"source": "local", "path": "./plugins/codex"},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
        "category": "Productivity",
    }
    return {
        ".claude-plugin/marketplace.json": encoded(
            {
                **market,
                "description": PROJECT["description"],
                "plugins": [{**listed, "source": "./plugins/claude-code"}],
            }
        ),
        ".cursor-plugin/marketplace.json": encoded(
            {**market, **described, "plugins": [{**about("name", "description"), "source": "plugins/cursor"}]}
        ),
        ".agents/plugins/marketplace.json": encoded(
            {"name": SERVER_NAME, "interface": {"displayName": SERVER_NAME}, "plugins": [local]}
        ),
    }


def registry() -> bytes:
    """Return the entry of the MCP registry."""
    package = {
        "registryType": "pypi",
        "identifier": SERVER_NAME,
        "version": VERSION,
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
        "packageArguments": [{"type": "positional", "value": "mcp"}],
    }
    return encoded(
        {
            "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
            "name": REGISTRY_NAME,
            "title": SERVER_NAME,
            **about("description", "version"),
            **({"repository": {"url": REPOSITORY, "source": "github"}} if REPOSITORY else {}),
            "packages": [package],
        }
    )


def tree() -> dict[str, bytes]:
    """Return every file that is checked in, path to content."""
    files = {
        f"plugins/{name}/{path}": data for name, make in PLUGINS.items() for path, data in make().items()
    }
    readme, marks = MARK.subn(f"<!-- mcp-name: {REGISTRY_NAME} -->", (ROOT / "README.md").read_text("utf-8"))
    if marks != 1:
        raise SystemExit("README.md does not hold one <!-- mcp-name: NAME -->.")
    return {**files, **marketplaces(), "server.json": registry(), "README.md": readme.encode()}


def stale(files: Mapping[str, bytes]) -> Iterable[str]:
    """Yield the paths that differ from what is there, or are there and should not be."""
    for name, data in files.items():
        path = ROOT / name
        executable = path.suffix != ".sh" or (path.is_file() and path.stat().st_mode & 0o100)
        if not path.is_file() or path.read_bytes() != data or not executable:
            yield name
    found = (path.relative_to(ROOT).as_posix() for path in (ROOT / "plugins").rglob("*") if path.is_file())
    yield from sorted(set(found) - files.keys())


def write_packages(folder: Path) -> list[Path]:
    """Write what is published elsewhere and not checked in; the same input gives the same bytes."""
    hub = folder / "openclaw"
    shutil.rmtree(hub, ignore_errors=True)
    hub.mkdir(parents=True)
    for name, data in openclaw().items():
        (hub / name).write_bytes(data)
    made = [hub, folder / f"{SERVER_NAME}-{VERSION}.mcpb"]
    with zipfile.ZipFile(made[1], "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, data in mcpb().items():
            bundle.writestr(zipfile.ZipInfo(name), data)
    for system in ("darwin", "linux"):
        made.append(folder / f"{system}.{SERVER_NAME}.tar.gz")
        with tarfile.open(made[-1], "w:gz") as archive:
            for name, data in gemini().items():
                member = tarfile.TarInfo(name)
                member.size, member.mode = len(data), EXECUTABLE if name.endswith(".sh") else 0o644
                archive.addfile(member, io.BytesIO(data))
    return made


def main() -> int:
    """Write or check every file."""
    arguments = argparse.ArgumentParser(description="Write the plugins from the installers.")
    arguments.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if a file is out of date"
    )
    arguments.add_argument("--packages", type=Path, help="write what is published there, and nothing else")
    given = arguments.parse_args()
    if given.packages:
        write_packages(given.packages)
        return 0
    check = given.check
    files = tree()
    names = list(stale(files))
    for name in names:
        path = ROOT / name
        print(f"{name} {'is out of date' if check else 'written' if name in files else 'removed'}")
        if check:
            continue
        if name not in files:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(files[name])
        path.chmod(EXECUTABLE if path.suffix == ".sh" else 0o644)
    if check and names:
        print("hint: make plugins", file=sys.stderr)
    if not check:
        for path in write_packages(BUNDLES):
            print(f"{path.relative_to(ROOT)} written")
    return int(check and bool(names))


if __name__ == "__main__":
    sys.exit(main())
