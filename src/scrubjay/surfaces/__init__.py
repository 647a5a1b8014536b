"""The old place of the command line, for configurations that name it."""
