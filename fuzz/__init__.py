"""Fuzz: bytes -> a part of scrubjay, which must keep what it promises whatever they are."""
