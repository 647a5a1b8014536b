"""MCP server, over standard input and output or over HTTP."""
