"""Programmatic API: tools, queries, serializers, jobs and tokens that every surface shares."""
