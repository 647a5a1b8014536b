"""Old import path, kept for one release: see `scrubjay.search.request`."""

from scrubjay.deprecation import moved_names

__getattr__ = moved_names(
    __name__, "scrubjay.search.request", {name: name for name in ("CHANNELS", "FUSIONS", "STAGES")}
)
