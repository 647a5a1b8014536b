"""Serve: what every server over HTTP stands on: an address, a gate that says who asks, one open store."""
