"""Parsed: what a language model answered -> the JSON in it."""

from __future__ import annotations

import json


def parsed(answer: str) -> object:
    """Return a model's JSON, which may stand in a fence of Markdown.

    Raises:
        ValueError: It is no JSON.
    """
    text = answer.strip()
    if text.startswith("```") and text.endswith("```"):
        text = text[3:-3].removeprefix("json")
    try:
        return json.loads(text)
    except RecursionError as exc:
        raise ValueError("nested too deeply") from exc
