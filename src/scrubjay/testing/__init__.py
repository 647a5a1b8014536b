"""Published stand-ins and contracts."""
