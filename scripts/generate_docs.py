"""Write docs/reference from the code: the command line, the settings, the errors, the MCP tools, the HTTP interface.

python scripts/generate_docs.py            write the pages
python scripts/generate_docs.py --check    exit 1 and name the pages that are out of date
"""

from __future__ import annotations

import argparse
import inspect
import json
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from scrubjay import errors
from scrubjay.api.tools import INSTRUCTIONS, TOOLS
from scrubjay.cli.main import BROKEN_PIPE, COMMON_OPTIONS, INTERRUPTED, Group, cli
from scrubjay.config.loader import variable_name
from scrubjay.config.settings import SECTIONS, ExtraModelSettings, SettingRule, Settings, setting_rules
from scrubjay.server.http.schemas import ERROR_DESCRIPTIONS

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
NOTE = "<!-- Written by scripts/generate_docs.py; change the code, then run it. -->\n"


def main() -> int:
    """Write or check every page."""
    arguments = argparse.ArgumentParser(description="Write docs/reference from the code.")
    arguments.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if a page is out of date"
    )
    check = arguments.parse_args().check
    stale = []
    for name, make in PAGES.items():
        path, text = FOLDER / name, NOTE + "\n".join(make()).rstrip() + "\n"
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(str(path.relative_to(FOLDER.parents[1])))
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for name in stale:
        print(f"{name} {'is out of date' if check else 'written'}")
    if check and stale:
        print("hint: python scripts/generate_docs.py", file=sys.stderr)
    return int(check and bool(stale))


def command_line() -> Iterator[str]:
    """The page of the commands."""
    yield "# Command line\n"
    yield "Every command takes these options, before or after its name; those after it take precedence.\n"
    yield from options([each for each in cli.params if each.name in COMMON_OPTIONS])
    yield "Exit codes\n\n| code | meaning |\n| --- | --- |"
    yield "| 0 | Done; also when a search found nothing. |"
    for kind in (errors.InputError, errors.SourceError, errors.StoreError, errors.ProviderError):
        yield f"| {kind.exit_code} | {first(kind)} |"
    yield f"| {INTERRUPTED} | Interrupted. |\n| {BROKEN_PIPE} | The reader of the output ended early. |\n"
    yield prose(
        "An error is `error: …` and usually `hint: …` on standard error. With `--json` it is one line on standard "
        'output, `{"error": {"type", "message", "hint", "exit_code"}}`, with the same exit code. '
    )
    yield "## Commands\n"
    for path, command in commands(cli, ""):
        yield from command_page(path, command)


def commands(group: Group, above: str) -> Iterator[tuple[str, click.Command]]:
    """Every command with its words, groups before their own."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None, name
        yield f"{above}{name}", command
        if isinstance(command, Group):
            yield from commands(command, f"{above}{name} ")


def command_page(path: str, command: click.Command) -> Iterator[str]:
    """Yield one command: usage, help, options."""
    own = [each for each in command.params if each.name not in COMMON_OPTIONS]
    pieces = command.collect_usage_pieces(click.Context(command))
    yield f"### scrubjay {path}\n"
    yield f"```text\nscrubjay {path} {' '.join(pieces)}\n```\n"
    yield f"{inspect.cleandoc(command.help or '')}\n"
    named = [each for each in own if isinstance(each, click.Option)]
    if named:
        yield from options(named)


def options(params: list[click.Parameter]) -> Iterator[str]:
    """A table of options."""
    yield "| option | meaning |\n| --- | --- |"
    for option in params:
        assert isinstance(option, click.Option)
        record = option.get_help_record(click.Context(click.Command("x")))
        assert record is not None, option.name
        yield f"| `{cell(record[0])}` | {cell(record[1])} |"
    yield ""


def configuration() -> Iterator[str]:
    """The page of the settings."""
    yield "# Configuration\n"
    yield prose(
        "Settings come from the defaults, the settings file, the environment and flags; the later take precedence. The "
        "file is `scrubjay/config.toml` in the user's configuration folder (`~/.config` on Linux), or the file that "
        "`SCRUBJAY_CONFIG` names. `scrubjay config` shows every setting, its value and its origin. An unknown name is "
        "an error, in the file and in the environment; an empty variable counts as not set, except those of "
        "user, groups and tenant, which must not be empty. Paths in the file are "
        "relative to the file. In the environment, commas separate the texts of a list, and `none` empties a list of "
        "choices. "
    )
    yield '```toml\nuser = "ann"\n\n[recall]\nlimit = 8\n\n[notes]\ndir = "~/notes/days"\n```\n'
    yield "## Without a section\n"
    yield from settings(Settings, "")
    for name, section in SECTIONS.items():
        yield f"## [{name}]\n\n{about(section)}\n"
        yield from settings(section, f"{name}.")
    yield f"## [models.NAME]\n\n{about(ExtraModelSettings)}\n"
    yield prose(
        "Described here, a model is known; `scrubjay models add NAME` registers it in a store, and "
        "nothing is "
        "sent anywhere before that. A key is read from the variable that `api_key_env` names and "
        "from no "
        "other. The environment can change a model that the file describes: for `[models.bge-m3]` "
        "it is "
        f"`{variable_name('models.bge-m3.base_url')}`. "
    )
    yield from settings(ExtraModelSettings, "models.NAME.")


def settings(section: type, prefix: str) -> Iterator[str]:
    """A table of one section's settings."""
    yield "| setting | meaning | takes | default | environment |\n| --- | --- | --- | --- | --- |"
    plain = section() if section is not Settings else None
    for name, key in setting_rules(section).items():
        default = key.default or shown(getattr(plain, name) if plain else Settings().tenant)
        yield f"| `{name}` | {cell(key.doc)} | {takes(key)} | {default} | `{variable_name(prefix + name)}` |"
    yield ""


def takes(key: SettingRule) -> str:
    """Return a setting's type or choices for a table's cell."""
    return ", ".join(f"`{each}`" for each in key.choices) if key.choices else cell(key.takes)


def error_page() -> Iterator[str]:
    """The page of the errors."""
    yield "# Errors\n"
    yield f"{inspect.cleandoc(errors.__doc__ or '')}\n"
    yield "| error | exit code | meaning |\n| --- | --- | --- |"
    kinds = [each for each in vars(errors).values() if isinstance(each, type)]
    for kind in kinds:
        yield f"| `{kind.__name__}` | {kind.exit_code} | {first(kind)} |"


def mcp() -> Iterator[str]:
    """The page of the MCP tools."""
    yield "# MCP\n"
    yield "`scrubjay mcp` serves one client over standard input and output ([MCP](../mcp.md)). A client's entry:\n"
    entry = {"mcpServers": {"scrubjay": {"command": "scrubjay", "args": ["mcp"]}}}
    yield f"```json\n{json.dumps(entry, indent=2)}\n```\n"
    yield "The server's instructions to the client's model:\n"
    yield f"> {INSTRUCTIONS}\n"
    yield prose(
        "A tool that reads returns a text. A tool that writes also returns structured content, without empty fields "
        "and defaults. An id is whole or short: its first six digits or more. An error is a tool error whose "
        'structured content is `{"error": {"type", "message", "hint", "exit_code"}}`; the server continues. Memories '
        "that an agent adds have the origin `agent`. "
    )
    for tool in TOOLS:
        yield f"## {tool.name}\n\n{tool.description}\n"
        yield "| argument | type | meaning |\n| --- | --- | --- |"
        for name, rule in tool.properties.items():
            needed = " (required)" if name in tool.required else ""
            yield f"| `{name}`{needed} | {typed(rule)} | {cell(str(rule.get('description', '')))} |"
        returned = ", ".join(f"`{each}`" for each in tool.returns)
        yield f"\nReturns {returned or 'a text'}.\n"


def http() -> Iterator[str]:
    """The page of the HTTP interface, from its OpenAPI."""
    openapi = load_openapi()
    schemas = openapi["components"]["schemas"]
    yield "# HTTP\n"
    yield prose(
        "`scrubjay serve` serves this interface ([server](../server.md)); as OpenAPI, with examples: `/openapi.json`. "
        "Every error has one form. "
    )
    yield "```json"
    yield json.dumps({"error": {"type": "InputError", "message": "...", "hint": "...", "exit_code": 2}})
    yield "```\n"
    yield "| status | meaning |\n| --- | --- |"
    yield from (f"| {code} | {cell(meaning)} |" for code, meaning in ERROR_DESCRIPTIONS.items())
    yield ""
    for tag in openapi["tags"]:
        yield f"## {tag['name'].capitalize()}\n\n{tag['description']}\n"
        for path, methods in openapi["paths"].items():
            for method, operation in methods.items():
                if operation["tags"] == [tag["name"]]:
                    yield from route(f"{method.upper()} {path}", operation, schemas)


def load_openapi() -> dict[str, Any]:
    """Return the server's OpenAPI, without opening a store."""
    from scrubjay.server.app import create_api
    from scrubjay.server.session import Session

    with Session(replace(Settings(), store="memory://")) as session:
        return create_api(session).openapi()


def route(name: str, operation: dict[str, Any], schemas: dict[str, Any]) -> Iterator[str]:
    """Yield one route: its token scope, its fields and its responses."""
    takes_scope = f" Takes `{operation['x-scope']}`." if operation["x-scope"] else ""
    yield f"### {name}\n\n{operation['description']}{takes_scope}\n"
    if operation["operationId"].endswith("_by_url"):
        weights = ", weights as `weights=bm25=1`" if name.endswith("/search") else ""
        yield f"The fields of POST, as a query; a list by saying its name several times{weights}.\n"
        return
    rows = [(each["name"], each["schema"], each.get("required", False), each.get("description", ""))
            for each in operation.get("parameters", ())]  # fmt: skip
    for kind, body in operation.get("requestBody", {}).get("content", {}).items():
        if kind != "application/json":
            yield f"Its body is the file (`{kind}`).\n"
            continue
        form = schemas[body["schema"]["$ref"].rpartition("/")[2]]
        must = form.get("required", ())
        rows += [
            (field, rule, field in must, rule.get("description", ""))
            for field, rule in form.get("properties", {}).items()
        ]
        if "examples" in form:
            yield f"```json\n{json.dumps(form['examples'][0])}\n```\n"
    rows.sort(key=lambda row: not row[2])
    if rows:
        yield "| field | type | meaning |\n| --- | --- | --- |"
        for field, rule, required, about_it in rows:
            default = (
                f" Default: `{json.dumps(rule['default'])}`."
                if rule.get("default") not in (None, [], "")
                else ""
            )
            needed = " (required)" if required else ""
            yield f"| `{field}`{needed} | {cell(kind_of(rule, schemas))} | {cell(about_it + default)} |"
        yield ""
    for code, response in operation["responses"].items():
        if int(code) < 300:
            yield f"{code}: {response['description']} {response_fields(response, schemas)}\n"


def response_fields(response: dict[str, Any], schemas: dict[str, Any]) -> str:
    """Return the fields or media types of a response."""
    kinds = response.get("content", {})
    schema = kinds.get("application/json", {}).get("schema", {})
    if "$ref" not in schema:
        return " ".join(f"`{kind}`" for kind in kinds)
    fields = schemas[schema["$ref"].rpartition("/")[2]]["properties"]
    events = ", or events (`Accept: text/event-stream`)" if "text/event-stream" in kinds else ""
    return ", ".join(f"`{each}`" for each in fields) + events


def kind_of(rule: dict[str, Any], schemas: dict[str, Any]) -> str:
    """A schema's type in words."""
    if "anyOf" in rule:
        kinds = [kind_of(each, schemas) for each in rule["anyOf"]]
        return " or ".join(dict.fromkeys(kinds))
    if "enum" in rule or "const" in rule:
        return ", ".join(f"`{each}`" for each in rule.get("enum", [rule.get("const")]))
    if "$ref" in rule:
        return rule["$ref"].rpartition("/")[2]
    if rule.get("type") == "array":
        return f"list of {kind_of(rule.get('items', {}), schemas)}"
    if rule.get("type") == "object" and isinstance(rule.get("additionalProperties"), dict):
        return f"object of {kind_of(rule['additionalProperties'], schemas)}"
    bounds = [
        f"{word} {rule[name]}"
        for name, word in (("minimum", "from"), ("maximum", "to"))
        if abs(rule.get(name, 2**53)) < 2**53
    ]
    return " ".join([str(rule.get("type", "any")), *bounds])


def prose(text: str) -> str:
    """A paragraph."""
    return textwrap.fill(" ".join(text.split()), 110, break_on_hyphens=False) + "\n"


def typed(rule: object) -> str:
    """A schema's type in words."""
    assert isinstance(rule, dict)
    return f"list of {typed(rule['items'])}" if rule["type"] == "array" else str(rule["type"])


def about(section: type) -> str:
    """Return a section's description without its name."""
    return first(section).partition(": ")[2].capitalize()


def first(thing: object) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(thing) or "").split("\n")[0]


def shown(value: object) -> str:
    """A default in a table's cell."""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return "none" if value in ("", None, ()) else f"`{value}`"


def cell(text: str) -> str:
    """Escape text for a table's cell."""
    return " ".join(text.split()).replace("|", "\\|")


PAGES = {
    "cli.md": command_line,
    "configuration.md": configuration,
    "errors.md": error_page,
    "mcp.md": mcp,
    "http.md": http,
}

if __name__ == "__main__":
    sys.exit(main())
