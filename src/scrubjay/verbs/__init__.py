"""Verbs: a name and what was asked -> what JSON can say; every surface that speaks to programs answers by them."""
