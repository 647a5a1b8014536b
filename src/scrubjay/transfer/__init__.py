"""Transfer: export and import stores, and import the memories of other tools."""
