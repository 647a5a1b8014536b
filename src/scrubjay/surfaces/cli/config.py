"""config: every setting, its value and where that came from."""

from __future__ import annotations

from scrubjay.config import Settings, config_path, keys_of, names, variable
from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.output import line, table, write, write_json
from scrubjay.verbs import shape


@command("config")
def config(call: Call) -> None:
    """Show every setting, its value and where that came from.

    Settings come from the defaults, the settings file, the environment and the flags; the later wins.
    """
    settings = call.settings()
    path = config_path()
    found = listed(settings)
    if call.json:
        entries = [
            {"name": name, "value": value, "origin": origin, "variable": variable(name)}
            for name, value, origin in found
        ]
        write_json({"file": str(path), "file_exists": path.exists(), "settings": entries})
        return
    write(f"settings file: {line(str(path))}{'' if path.exists() else ' (not there)'}\n")
    for text in table([(name, _shown(value), f"({origin})") for name, value, origin in found]):
        write(text)


def listed(settings: Settings) -> list[tuple[str, object, str]]:
    """Return dotted name, JSON-able value and origin of every setting."""
    known = [*names().settings]
    for name, model in settings.models.extra.items():
        known += [f"models.{name}.{setting}" for setting in keys_of(type(model))]
    return [(name, _value(settings, name), settings.origins.get(name, "default")) for name in known]


def _value(settings: Settings, name: str) -> object:
    section, _, setting = name.rpartition(".")
    if not section:
        found = getattr(settings, setting)
    elif section.startswith("models."):
        found = getattr(settings.models.extra[section.removeprefix("models.")], setting)
    else:
        found = getattr(getattr(settings, section), setting)
    return (
        shape.plain(found) if found is None or isinstance(found, int | float | tuple | dict) else str(found)
    )


def _shown(value: object) -> str:
    if value is None or value in ("", []):
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return ",".join(f"{name}={weight:g}" for name, weight in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
