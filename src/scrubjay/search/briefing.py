"""Briefing v0."""

from __future__ import annotations


def build_briefing(reader, embedders, request):
    from scrubjay.search.context import build_context

    return build_context(reader, embedders, request)
