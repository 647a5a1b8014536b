"""Server: the HTTP API, MCP, the proxy and the viewer, and what they share."""
