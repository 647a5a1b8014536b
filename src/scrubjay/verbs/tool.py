"""Tool: what is known of one verb that programs call: its name, its text for a model, its schemas, what it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrubjay.engine import Memory


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls.

    Attributes:
        agent: The agent's name, kept with what it adds; empty where it is not known.
        local: Whether it runs on this machine as this user, so that paths mean the same to both.
        here: Folder that it works in, whose project a search prefers; empty where that is not known.
    """

    agent: str = ""
    local: bool = True
    here: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    Attributes:
        name: What it is called by.
        description: When and how to use it, for a model.
        properties: Argument to its JSON schema.
        required: Arguments that must be given.
        returns: Field to the JSON type of what an answer may hold.
        run: What it does.
        tell: An answer as a short text.
        writes: Whether it changes the store.
        destroys: Whether what it changes cannot be had back.
    """

    name: str
    description: str
    properties: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    returns: Mapping[str, str]
    run: Callable[[Memory, dict[str, Any]], dict[str, Any]]
    tell: Callable[[Mapping[str, Any]], str]
    writes: bool = False
    destroys: bool = False

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON schema of the arguments."""
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {name: dict(rule) for name, rule in self.properties.items()},
        }
        return schema | ({"required": list(self.required)} if self.required else {})

    @property
    def output_schema(self) -> dict[str, Any]:
        """JSON schema of what comes back.

        No field is required: clients hold errors against it too, and would show their own complaint instead of ours.
        """
        return {"type": "object", "properties": {name: {"type": kind} for name, kind in self.returns.items()}}
