"""Proxy: what stands in front of a model, puts memories into its requests and remembers what passes."""
