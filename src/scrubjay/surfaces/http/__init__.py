"""HTTP: the one server, with its interface for builders; MCP, proxy and viewer hang on it."""
