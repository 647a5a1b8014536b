"""Moving: the part of the facade that carries memories out of a store and into one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from scrubjay.memory.moves import BackedUp, Copied, Exported, Imported
    from scrubjay.memory.reports import Progress
    from scrubjay.wiring.desk import Desk


class Moving:
    """Export, import, backup, copy; `Memory` is one."""

    _desk: Desk

    def export(
        self,
        path: str | Path | BinaryIO,
        *,
        overwrite: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> Exported:
        """Write all that the caller may see to a file, a JSON object a line: one consistent view, while others write.

        Memories of all tiers and statuses with every field, their documents and sources, edges, concepts, histories and
        nights. Vectors are made again by who imports it; what was forgotten, and settings, are not in it. Texts are
        written exactly as they are stored. docs/portability.md describes the lines.

        Args:
            path: The file, made with mode 0600 and put there whole or not at all; or a stream of bytes.
            overwrite: Whether a file that stands there may be replaced.
            progress: Told how far it is.

        Raises:
            InputError: Something stands there that must not be replaced.
            SourceError: The file cannot be written; none was left behind.
            StoreDamagedError: The store cannot be read to its end, or a text is not what was written. No file was left
                behind; what a stream got has no footer, so that no import takes it for whole.
        """
        from scrubjay.wiring.exporting import export

        return export(self._desk, path, overwrite=overwrite, progress=progress)

    def import_(
        self,
        path: str | Path,
        *,
        format: str = "auto",
        dry_run: bool = False,
        shared: bool = False,
        untrusted: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> Imported:
        """Take in an export of scrubjay, or the memories of another tool. What is here already is not taken twice.

        All of it becomes the caller's. An import that was stopped goes on when it is run again.

        Args:
            path: A file or folder.
            format: ``scrubjay``, ``openclaw``, ``claude-code``, ``basic-memory``, ``mem0``, ``agentmemory``,
                ``mcp-memory`` or ``jsonl``; ``auto`` looks. docs/import.md says what becomes of each.
            dry_run: Write nothing, and return what would be done.
            shared: Of an export: let what was shared be shared again, as far as the caller may. Else it is the
                caller's alone, unless it is their own store's.
            untrusted: Nobody vouches for any of it: it is found, and enters no injected context by itself.
            progress: Told how far it is.

        Raises:
            SourceError: It cannot be read.
            InputError: It is of no known format, not whole, or of another version; nothing was imported.
            StoreBusyError: Another process imports into this store.
        """
        from scrubjay.wiring.importing import import_

        return import_(
            self._desk,
            Path(path),
            format=format,
            dry_run=dry_run,
            shared=shared,
            untrusted=untrusted,
            progress=progress,
        )

    def backup(self, path: str | Path, *, overwrite: bool = False) -> BackedUp:
        """Copy the whole store, of all its users, to one file while others write; the copy is checked.

        To go back, put the file where the store is while nobody has it open, and remove the ``-wal``, ``-shm`` and
        ``-vectors`` that stand beside the old one.

        Args:
            path: The file, made with mode 0600 and put there whole or not at all.
            overwrite: Whether a file that stands there may be replaced.

        Raises:
            InputError: The store is no file (PostgreSQL, memory://), or something stands at the path.
            StoreError: The store cannot be read, or the copy did not pass its check.
            SourceError: The file cannot be written; none was left behind.
        """
        from scrubjay.wiring.exporting import backup

        return backup(self._desk, path, overwrite=overwrite)

    def copy(
        self,
        to: str | Path,
        *,
        tenant: str | None = None,
        all_tenants: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> tuple[Copied, ...]:
        """Copy all that a tenant has, whoever may see it, to another store of any kind, and verify it.

        Ids, the tenant's secret, vectors, histories and what was forgotten are the same there; so are the answers. It
        is of the moment in which it begins, while others write. A copy that was stopped goes on when it is made again.
        For who runs the machine, as `backup` is: it asks nobody whose memories they are.

        Args:
            to: URL or path of the other store; one that is not there is made.
            tenant: Which tenant; None for this one's own.
            all_tenants: All of them, one after the other.
            progress: Told how far it is.

        Raises:
            InputError: The other store holds something else of the tenant, or is this one; nothing was written.
            NotFoundError: There is no such tenant.
            StoreBusyError: Another process copies to it.
            StoreError: It cannot go on (make it again), or what is there is not the same.
        """
        from scrubjay.wiring.copying import copied

        wanted = None if all_tenants else (tenant or self._desk.scope.tenant,)
        return copied(self._desk.store, str(to), wanted, progress)
