"""Run the command line under its old name: agents' configurations call ``python -m scrubjay.surfaces.cli``."""

from __future__ import annotations

from scrubjay.cli.entry import main

if __name__ == "__main__":
    main()
