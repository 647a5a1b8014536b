"""The command line as a module: ``python -m scrubjay.surfaces.cli``."""

from __future__ import annotations

from scrubjay.surfaces.cli.entry import main

main()
