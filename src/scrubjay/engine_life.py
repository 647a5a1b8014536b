"""Living: the part of the facade that says what becomes of memories in use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from scrubjay.errors import InputError
from scrubjay.memory.life import UNCHANGED, Unchanged

if TYPE_CHECKING:
    from scrubjay.memory.audits import Audit, Retained
    from scrubjay.memory.histories import Changed, History, Rewritten, Updated
    from scrubjay.memory.nights import Consolidated, Undone
    from scrubjay.memory.reports import Progress
    from scrubjay.wiring.desk import Desk


class Living:
    """Archive, restore, judge, consolidate; `Memory` is one."""

    _desk: Desk

    def update(
        self,
        memory: str,
        content: str | Unchanged = UNCHANGED,
        *,
        title: str | Unchanged = UNCHANGED,
        tags: Sequence[str] | Unchanged = UNCHANGED,
        date: str | datetime | Unchanged | None = UNCHANGED,
        confidence: float | Unchanged = UNCHANGED,
        valid_from: str | datetime | Unchanged | None = UNCHANGED,
        valid_until: str | datetime | Unchanged | None = UNCHANGED,
        pinned: bool | Unchanged = UNCHANGED,
        origin: str | Unchanged = UNCHANGED,
    ) -> Updated:
        """Change a memory in place: it keeps its id, and what is not named stays as it is.

        Another text is scrubbed, embedded, counted and connected anew. The earlier one is kept as a superseded
        memory that `history` leads to. A digest or fact that was derived is the owner's once its text is changed.

        Args:
            memory: Its id, or the id's shortest unique beginning.
            content: What it says now.
            title: What it is called, and
            tags: all of its tags.
            date: When what it tells of happened; None takes that away.
            confidence: 0..1, how sure it is.
            valid_from: From when it is true; None for ever since.
            valid_until: Until when it is true; None for still.
            pinned: Whether time does nothing to it.
            origin: Who says the new text.

        Raises:
            NotFoundError: No memory's id begins so, or several do.
            InputError: Its words are a file's (which is named, with the lines), the text was forgotten or is another
                memory's, or a field has a value it cannot have; nothing was written.
        """
        from scrubjay.memory.new import Amendment
        from scrubjay.wiring.amending import update

        wish = Amendment(content, title, tags, date, confidence, valid_from, valid_until, pinned, origin)
        return update(self._desk, memory, wish)

    def rewrite(self, memory: str, content: str, *, was: str | None = None) -> Rewritten:
        """Write the new text of a passage into its file, and take the file in again.

        The file is written whole or not at all, and only where it still says what is stored. Front matter, the blank
        lines around the passage, line ends and encoding stay. A passage from which a secret was taken out is refused.

        Args:
            memory: The passage's id, or its shortest unique beginning.
            content: What shall stand there instead.
            was: ``content_hash`` of the memory as the caller saw it: refused, when it is another by now.

        Raises:
            NotFoundError: No memory's id begins so, or several do.
            ForbiddenError: The file is somebody else's.
            InputError: It stands in no file, or the file no longer says so, is read-only, a log, …: path and lines
                are named, and nothing was written.
            SourceError: The file cannot be read or written.
        """
        from scrubjay.wiring.passage import rewrite

        return rewrite(self._desk, memory, content, was)

    def archive(self, ids: str | Sequence[str]) -> Changed:
        """Take memories out of default answers; they stay whole, and `restore` brings them back.

        A passage of a file stays archived as long as its text stays the same. An exact identifier that stands
        only in an archived memory still finds it; `statuses=("active", "archived")` finds all of them.

        Args:
            ids: Ids, or their shortest unique beginnings.
        """
        from scrubjay.wiring.living import archive

        return archive(self._desk, [ids] if isinstance(ids, str) else list(ids))

    def restore(self, ids: str | Sequence[str]) -> Changed:
        """Make archived or superseded memories active again."""
        from scrubjay.wiring.living import restore

        return restore(self._desk, [ids] if isinstance(ids, str) else list(ids))

    def restore_consolidated(self) -> Changed:
        """Make active again whatever consolidation archived, in any run; no later run archives it unless it changes.

        What was archived by hand stays archived. Digests stay until the next run, which makes anew what an earlier
        version told.

        Raises:
            StoreBusyError: Another process consolidates.
        """
        from scrubjay.wiring.consolidating import restore

        return restore(self._desk)

    def feedback(self, ids: str | Sequence[str], verdict: str) -> Changed:
        """Remember that memories were ``used``, ``useful`` or ``wrong``.

        It is counted apart from what searches return, and its effect is bounded: "wrong" lowers a memory's
        strength to .3 at the least, "useful" makes up for it, and both that and ``used`` keep it young.

        Raises:
            InputError: The verdict is none of the three.
        """
        from scrubjay.wiring.living import feedback

        return feedback(self._desk, [ids] if isinstance(ids, str) else list(ids), verdict)

    def history(self, memory: str) -> History:
        """Return what happened to a memory: when it changed, what it rests on, what took its place.

        Raises:
            NotFoundError: No memory's id begins so, or several do.
        """
        from scrubjay.wiring.living import history

        return history(self._desk, memory)

    def audit(
        self,
        fix: Sequence[str] = (),
        limit: int = 20,
        *,
        dry_run: bool = False,
        now: str | datetime | None = None,
    ) -> Audit:
        """Return how many active memories are of no use, and why; put away those of the kinds to be mended.

        Args:
            fix: ``junk``, ``near-duplicate``, ``stale``, ``contradicted``, ``orphaned``, ``recall-loop``; what is
                pinned, or was restored by somebody, is left alone.
            limit: Most examples of each kind, the worst first.
            dry_run: Write nothing, and say what would be put away (by all fixes, where none is named).
            now: To which everything has its age; None for this moment.

        Raises:
            InputError: A kind has no fix, the limit is below 0, or ``now`` is no time.
        """
        from scrubjay.memory.dates import when
        from scrubjay.wiring.auditing import audit

        at = when(now)
        return audit(self._desk, fix, limit, dry_run=dry_run, now=at.start if at is not None else None)

    def undo_audit(self, run: str) -> Changed:
        """Take back what a run of `audit` or `retain` put away; what was changed since stays as it is.

        Raises:
            NotFoundError: No such run put away anything that the caller sees.
        """
        from scrubjay.wiring.auditing import undo

        return undo(self._desk, run)

    def retain(self, *, dry_run: bool = False, now: str | datetime | None = None) -> Retained:
        """Keep to the settings of [retention]: put away, or forget, what is too old or too much.

        Only the caller's own memories, never pinned ones nor passages of files.

        Args:
            dry_run: Write nothing, and say what would be done.
            now: To which everything has its age; None for this moment.

        Raises:
            InputError: ``now`` is no time.
        """
        from scrubjay.memory.dates import when
        from scrubjay.wiring.retention import retain

        at = when(now)
        return retain(self._desk, dry_run=dry_run, now=at.start if at is not None else None)

    def consolidate(
        self,
        *,
        if_due: str | None = None,
        after_days: int | None = None,
        archive: str | None = None,
        dry_run: bool = False,
        now: str | datetime | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Consolidated:
        """Add a digest of each old conversation, and promote what several sources say. Sources stay active.

        Nothing is archived unless the settings ([consolidation] archive) or ``archive`` ask for it. Everything leads
        back: a digest to its sources, an archived memory by `restore`, the whole run by `undo`. Where another
        process consolidates, nothing is done, and the answer says so.

        Args:
            if_due: Do nothing where the last run began less than this ago: ``4h``, ``30m``, ``1d``.
            after_days: Days after which an observation is old; None takes the settings'.
            archive: Archive, once a digest tells of them, ``transcripts`` (turns and tool results) or ``notes``
                (passages of daily notes, which have no digest otherwise); None takes the settings'.
            dry_run: Write nothing, and return what would be made.
            now: To which everything has its age; None for this moment.
            progress: Told how far it is.

        Raises:
            InputError: ``if_due`` or ``now`` is no time, or ``archive`` is neither of the two.
            StoreError: The store cannot be written; what was written before is whole.
        """
        from scrubjay.memory.dates import duration, now_micros, when
        from scrubjay.wiring.consolidating import consolidate

        if archive not in (None, "transcripts", "notes"):
            raise InputError(f"archive {archive!r} is not transcripts or notes. Nothing was done.")
        at = when(now)
        return consolidate(
            self._desk,
            dry_run=dry_run,
            now=at.start if at is not None else now_micros(),
            after_days=self._desk.settings.consolidation.after_days if after_days is None else after_days,
            due=None if if_due is None else duration(if_due),
            archive=archive,
            progress=progress,
        )

    def undo(self, run: str) -> Undone:
        """Take a consolidation back: what it made goes, and what it archived, if anything, is active again.

        What a person archived, restored or edited since stays as they left it.

        Args:
            run: Id of the run, or its shortest unique beginning.

        Raises:
            NotFoundError: No run, or several, are called so.
            StoreBusyError: Another process consolidates.
        """
        from scrubjay.wiring.consolidating import undo

        return undo(self._desk, run)
