"""Verbs: a name and what was asked -> what can be said as JSON. Every surface that speaks to programs answers by them."""
