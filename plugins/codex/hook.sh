#!/bin/sh
# hook.sh EVENT: at an event of Codex, what `scrubjay hook codex EVENT` says. It never fails and never downloads.
event=$1
stop() {
  cat >/dev/null
  [ "$event" != session-start ] || printf '{"systemMessage": "%s"}\n' "$1"
  exit 0
}
if grep -qs ' hook codex ' "${CODEX_HOME:-$HOME/.codex}/hooks.json" "$(git rev-parse --show-toplevel 2>/dev/null || pwd)/.codex/hooks.json" .codex/hooks.json; then
  stop 'scrubjay is here twice: its hooks answer as installed, those of the plugin do not, and its tools may be there twice. Keep one: run scrubjay uninstall codex, or uninstall the plugin.'
fi
PATH="$PATH:$HOME/.local/bin:/usr/local/bin"
if command -v scrubjay >/dev/null; then
  scrubjay hook codex "$event"
elif ! command -v uvx >/dev/null; then
  stop 'scrubjay is missing: install uv (https://docs.astral.sh/uv), and this plugin fetches it, or scrubjay itself. Until then nothing is recalled or captured.'
else
  uvx --offline --quiet --from scrubjay==0.2.0 scrubjay hook codex "$event" 2>/dev/null ||
    stop 'scrubjay 0.2.0 is not here yet: its MCP server fetches it. Until then nothing is recalled or captured.'
fi
exit 0
