"""Start the MCP server of the scrubjay that pyproject.toml names."""

import sys

from scrubjay.cli.entry import main

sys.argv[1:] = ["mcp"]
main()
