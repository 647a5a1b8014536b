"""Run the command line as a module: ``python -m scrubjay.cli``."""

from __future__ import annotations

from scrubjay.cli.entry import main

main()
