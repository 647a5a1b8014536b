"""A process that imports a file until it is done or killed; it tells each batch that it committed.

Usage: importer.py STORE FILE
"""

from __future__ import annotations

import sys

from scrubjay import Memory
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.services import imports
from scrubjay.transfer import importer


def main(store: str, file: str) -> None:
    importer.MEMORY_BATCH = importer.ROW_BATCH = imports.BATCH_ITEMS = 7  # type: ignore[misc]
    with Memory.open(store, user="ann", embedders=[HashEmbedder(16)]) as memory:
        memory.import_(file, progress=None)
    print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
