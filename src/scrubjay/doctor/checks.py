"""Checks of the installation: files, store, models, background processes and the log."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrubjay.api.auth import TokenStore, tokens_path
from scrubjay.api.jobs import JobQueue
from scrubjay.atomic_files import hold_lock
from scrubjay.config.loader import api_key
from scrubjay.config.paths import (
    ALL_AGENTS,
    Pauses,
    hooks_disabled,
    pause_end,
    runtime_folder,
    settings_fingerprint,
)
from scrubjay.config.settings import ExtraModelSettings
from scrubjay.daemon import client
from scrubjay.daemon.client import is_private_folder, socket_path
from scrubjay.daemon.embedding import EmbeddingJob, embedding_summary
from scrubjay.errors import ConfigError, ScrubjayError, StoreError
from scrubjay.log import FILE_NAME, LEVELS, OLD_FILE_NAME
from scrubjay.models.dates import DAY, iso_seconds, now_micros, to_datetime
from scrubjay.models.reports import PROBLEM, Check, check_ok, check_problem, check_warning
from scrubjay.models.sources import source_location
from scrubjay.storage.urls import store_file, store_key

if TYPE_CHECKING:
    from scrubjay.agents.base import Home
    from scrubjay.config.settings import Settings
    from scrubjay.embeddings.base import AnyEmbedder
    from scrubjay.memory import Memory
    from scrubjay.models.reports import SourceStatus, StoreStatus
    from scrubjay.storage.interface import AlteredMemory, Store
    from scrubjay.storage.sqlite.connection import EncryptionKey


@dataclass(frozen=True, slots=True)
class Installation:
    """An installation to check.

    Attributes:
        fix: Whether safe repairs are made.
        seconds: Time limit of each slow check: a store's file, the models, an agent's command.
    """

    settings: Settings
    home: Home
    fix: bool = False
    seconds: float = 10.0

    @property
    def file(self) -> Path | None:
        """The store's file, None for a store without one."""
        return store_file(self.settings.store)

    @property
    def key(self) -> EncryptionKey | None:
        """The store's encryption key."""
        return store_key(self.settings.store)

    def memory(self) -> Memory:
        """Open the store as a one-shot command does."""
        from scrubjay.memory import Memory

        return Memory.open(settings=self.settings, cold=True)


FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
MIN_FREE_BYTES: Final = 100_000_000
"""Bytes below which a sync may fill the disk: a rebuild of 100,000 memories writes about as much."""
LOW_FREE_BYTES: Final = 1_000_000_000


def check_files(installation: Installation) -> Iterator[Check]:
    """Check permissions, free space and the token file."""
    if sys.platform != "win32":
        yield _check_permissions(installation)
    yield _check_disk_space(installation)
    try:
        TokenStore(tokens_path(installation.home.env)).all()
    except ScrubjayError as error:
        yield check_problem("tokens", str(error), error.hint)


def own_files(installation: Installation) -> list[Path]:
    """Return the existing files of the store and of the data folder."""
    files = []
    if installation.file is not None and installation.file.parent.is_dir():
        name = installation.file.name
        files += [
            path
            for path in installation.file.parent.iterdir()
            if path.name == name or path.name.startswith((f"{name}-", f"{name}.lock"))
        ]
    if installation.home.data.is_dir():
        files += [
            installation.home.data,
            *installation.home.data.glob("log*"),
            *installation.home.data.glob("agents/*"),
        ]
    return sorted(set(files))


def _check_permissions(installation: Installation) -> Check:
    exposed = [path for path in own_files(installation) if _file_mode(path) & 0o077]
    if not exposed:
        return check_ok("files", "only you can read the store and its files")
    if not installation.fix:
        in_one_folder = {path.parent for path in exposed} == {exposed[0].parent}
        names = ", ".join(path.name if in_one_folder else str(path) for path in exposed[:3])
        place = f" in {exposed[0].parent}" if in_one_folder else ""
        more = ", …" if len(exposed) > 3 else ""
        return check_warning("files", f"others can read {names}{more}{place}", "scrubjay doctor --fix")
    failed = [path for path in exposed if not _restrict_mode(path)]
    if failed:
        return check_problem(
            "files", f"the permissions of {failed[0]} cannot be changed", f"sudo chown $USER {failed[0]}"
        )
    return check_ok("files", f"made {len(exposed)} files private that others could read", mended=True)


def _file_mode(path: Path) -> int:
    try:
        return stat.S_IMODE(path.lstat().st_mode) if not path.is_symlink() else 0
    except OSError:
        return 0


def _restrict_mode(path: Path) -> bool:
    try:
        path.chmod(FOLDER_MODE if path.is_dir() else FILE_MODE)
    except OSError:
        return False
    return True


def _check_disk_space(installation: Installation) -> Check:
    folder = (installation.file or installation.home.data).absolute()
    while not folder.is_dir():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    summary = f"{free / 1e9:.1f} GB free in {folder}"
    if free < MIN_FREE_BYTES:
        return check_problem("disk", summary, "free some space: nothing can be stored when the disk is full")
    if free < LOW_FREE_BYTES:
        return check_warning("disk", summary, "free some space")
    if not os.access(folder, os.W_OK):
        return _check_unwritable(folder)
    return check_ok("disk", summary)


def _check_unwritable(folder: Path) -> Check:
    if sys.platform != "win32" and os.statvfs(folder).f_flag & os.ST_RDONLY:
        return check_problem("disk", f"{folder} is on a read-only file system", f"findmnt --target {folder}")
    return check_problem("disk", f"{folder} is not writable", f"sudo chown $USER {folder}")


MAX_PENDING: Final = 500
"""Memories without a backfilled model's vectors: a day's worth. Until then words and the base model answer."""
MAX_LISTED_MEMORIES: Final = 5
"""Altered memories that are named."""
CLOCK_TOLERANCE: Final = 120.0
"""Seconds that a clock may be set back before a warning: memories written then are ordered wrongly."""


def check_store(installation: Installation) -> Iterator[Check]:
    """Check the store; checks that need it open are left out where it does not open."""
    integrity = _check_integrity(installation)
    yield integrity
    if integrity.state == PROBLEM or (installation.file is not None and not installation.file.exists()):
        return
    try:
        with installation.memory() as memory:
            status = memory.status()
            security_warning = memory.workspace.store.row_security_warning()
            unwritable = _check_writable(memory.workspace.store)
    except ScrubjayError as error:
        yield check_problem("memories", str(error), error.hint)
        return
    summary = f"{status.memories:,} in {status.store}, of {installation.settings.user}"
    yield (
        check_ok("memories", summary)
        if status.memories
        else check_warning(
            "memories",
            f"none of {installation.settings.user} yet in {status.store}",
            "scrubjay sync DIR, or install an agent: scrubjay install --list",
        )
    )
    yield from unwritable
    yield _check_texts(installation)
    yield from _check_server(status, security_warning)
    yield _check_backlog(status, installation)
    yield from _check_multilingual(status, installation)
    yield from check_contents(status)
    yield _check_clock(installation, status)


def _check_writable(store: Store) -> list[Check]:
    try:
        store.check_writable()
    except StoreError as error:
        return [check_problem("writes", str(error), error.hint)]
    return []


MAX_UNENRICHED: Final = timedelta(days=1)
"""Time after which documents pending enrichment are a warning: nothing processes them."""


def check_contents(status: StoreStatus) -> Iterator[Check]:
    """Check the memories and sources of a store's status."""
    if archived := sum(run.memories for run in status.archived if run.unasked):
        yield check_warning(
            "archive",
            f"{archived:,} memories were archived by an earlier version without being asked",
            "scrubjay restore --archived-by-consolidation",
        )
    since = status.unenriched_since
    if since is not None and datetime.now(UTC) - datetime.fromisoformat(since) > MAX_UNENRICHED:
        yield check_warning(
            "enrichment",
            f"{status.unenriched:,} documents have waited since {since[:10]} to be linked; searches find them",
            "scrubjay sync",
        )
    yield from _check_sources(status)


def _check_integrity(installation: Installation) -> Check:
    path = installation.file
    if path is None:
        return check_ok("store", "on a server, which checks its own files")
    if not path.exists():
        return check_warning("store", f"{path} does not exist yet; the first memory creates it")
    from scrubjay.storage.sqlite.maintenance import check_integrity

    try:
        report = check_integrity(path, installation.seconds, installation.key)
    except ScrubjayError as error:
        return check_problem("store", str(error), error.hint)
    if report.faults:
        fix = (
            f"stop what uses it; mkdir damaged && mv {path}* damaged/; cp BACKUP {path}; scrubjay sync "
            '(docs/operations.md, "The store is damaged")'
        )
        return check_problem("store", f"{path} is damaged: {report.faults[0]}", fix)
    summary = f"schema {report.schema}, {report.pages:,} pages"
    if not report.finished:
        return check_ok("store", f"{summary}; no fault found in {installation.seconds:g} seconds")
    return check_ok("store", f"{summary}, no fault")


def _check_server(status: StoreStatus, security_warning: str) -> Iterator[Check]:
    """Row-level security and the large-tenant index, which only a PostgreSQL store has."""
    for text in status.warnings:
        if text == security_warning:
            yield check_warning(
                "fence", text, 'run it as a user that is neither: docs/deployment.md, "Two users"'
            )
        else:
            yield check_warning(
                "index", text, 'scrubjay rebuild --large, as the owner: docs/deployment.md, "A large tenant"'
            )


def _check_texts(installation: Installation) -> Check:
    """Compare each text with its stored hash, a few hundred at a time."""
    from scrubjay.storage.urls import open_store

    deadline = time.monotonic() + installation.seconds
    altered: list[tuple[AlteredMemory, str]] = []
    checked, note = 0, ""
    try:
        with closing(open_store(installation.settings.store)) as store:
            for count, batch in _altered_texts(store, installation.settings.tenant):
                if note:
                    break
                checked += count
                altered += batch
                if time.monotonic() > deadline:  # the next batch, if any, tells that some were not checked
                    note = f" in {installation.seconds:g} seconds"
            else:
                note = ""
    except ScrubjayError as error:
        return check_problem("texts", str(error), error.hint)
    if not altered:
        return check_ok("texts", f"{checked:,} checked{note}, all as written")
    named = [f"{m.id} ({os.path.join(place, m.path)})" if m.path else m.id for m, place in altered]
    surplus = len(altered) - MAX_LISTED_MEMORIES
    more = [f"and {surplus:,} more"] if surplus > 0 else []
    summary = ", ".join([*named[:MAX_LISTED_MEMORIES], *more])
    return check_problem(
        "texts", f"{len(altered):,} of {checked:,} were altered on disk{note}: {summary}", _recovery_hint(altered)
    )  # fmt: skip


def _altered_texts(store: Store, own_tenant: str) -> Iterator[tuple[int, list[tuple[AlteredMemory, str]]]]:
    """Yield the number of memories compared, the altered ones, and the roots of their sources."""
    from scrubjay.services.inspection import known_tenants

    for tenant in known_tenants(store, [own_tenant])[0]:
        with store.tenant_reader(tenant) as reader:
            places = {source.id: source_location(source) for source in reader.sources()}
            for count, altered in reader.altered_memories():
                yield count, [(memory, places.get(memory.source or "", "")) for memory in altered]


def _recovery_hint(altered: Sequence[tuple[AlteredMemory, str]]) -> str:
    """Return the steps that restore texts: from the backup, else from existing files."""
    synced = {(m.source, place) for m, place in altered if m.source and place and Path(place).exists()}
    steps = [
        f"scrubjay sources remove {source}, then scrubjay sync {place}" for source, place in sorted(synced)
    ]
    backup = 'restore the last backup (docs/portability.md, "Backup and restore"); without one:'
    if any(not m.source for m, _ in altered):
        steps.append("scrubjay forget the ids without a file, and add them again")
    return f"{backup} {'; '.join(steps)}" if steps else backup.removesuffix("; without one:")


def _check_backlog(status: StoreStatus, installation: Installation) -> Check:
    pending = {model.name: model.waiting for model in status.models if model.waiting}
    state = EmbeddingJob(str(installation.home.data), installation.settings.store).state()
    if not pending:
        return check_ok("vectors", "complete for every model")
    summary = ", ".join(f"{count:,} pending for {name}" for name, count in pending.items())
    summary += f"; {embedding_summary(state, installation.settings)}"
    has_many = max(pending.values()) > MAX_PENDING
    if (has_many and state is None) or (state is not None and not state["running"]):
        return check_warning(
            "vectors", f"{summary}; searches use words and the base model meanwhile", "scrubjay embed"
        )
    return check_ok("vectors", summary)


def _check_multilingual(status: StoreStatus, installation: Installation) -> Iterator[Check]:
    from scrubjay.embeddings.base import INSTALLED_BY
    from scrubjay.search.fusion import MULTILINGUAL

    install = INSTALLED_BY["multilingual"]
    for note in status.notes:
        if note.endswith(install):
            yield check_warning("languages", note.removesuffix(install).strip(), install)
    mark = settings_fingerprint(installation.home.env)
    path = socket_path(runtime_folder(installation.home.env), mark)
    used = [model.name for model in status.models if model.state == "active" and model.name in MULTILINGUAL]
    if used and path is not None and client.daemon_state(path, mark) is None:
        yield check_warning(
            "languages",
            f"`scrubjay search` does without {used[0]}, which takes too long to load for one command",
            "scrubjay resident start",
        )


def _check_sources(status: StoreStatus) -> Iterator[Check]:
    if not status.sources:
        yield check_ok("sources", "none registered")
        return
    here = [source for source in status.sources if source.present or not source.imported]
    problems = [(source, why) for source in here if (why := _source_problem(source))]
    for source, why in problems:
        yield check_warning(
            "sources",
            f"{source.root} {why}",
            f"restore it, or delete its memories: scrubjay sources remove {source.id}",
        )
    if status.unread:
        unread, others = status.unread[0], len(status.unread) - 1
        rest = f" {others:,} more could not be read as a whole either." if others else ""
        yield check_warning("sources", f"{unread.path}: {unread.message}{rest}", "scrubjay status")
    if not problems and not status.unread:
        imported = len(status.sources) - len(here)
        more = f"; {imported:,} imported and not on this machine, memories kept" if imported else ""
        yield check_ok("sources", f"{len(here):,}, all readable{more}")


def _source_problem(source: SourceStatus) -> str:
    if not source.present:
        return "does not exist; its memories are kept"
    if not os.access(source.root, os.R_OK | (os.X_OK if Path(source.root).is_dir() else 0)):
        return "cannot be read; its memories are kept"
    return ""


def _check_clock(installation: Installation, status: StoreStatus) -> Check:
    """Warn of a clock that was set back: new memories would be older than existing ones."""
    now = now_micros()
    latest = max((source.synced for source in status.sources if source.synced), default="")
    ahead = latest > iso_seconds(now + round(CLOCK_TOLERANCE * 1e6))
    if installation.file is not None and installation.file.exists():
        ahead = ahead or installation.file.stat().st_mtime > time.time() + CLOCK_TOLERANCE
    if ahead:
        time_now = iso_seconds(now)
        return check_warning(
            "clock",
            f"it shows {time_now}, but the store was written after that",
            "set the clock: timedatectl status",
        )
    return check_ok("clock", "it agrees with the times in the store")


SAMPLE_SENTENCE: Final = "Where is the key?"


def check_models(installation: Installation) -> Iterator[Check]:
    """Check the models; nothing is sent anywhere."""
    from scrubjay.embeddings.static import StaticEmbedder
    from scrubjay.services.models import DEFAULT_MODELS, open_bundled

    settings = installation.settings
    yield _check_bundled_model("model static", lambda: StaticEmbedder(settings.models.static_path))
    for name in DEFAULT_MODELS:
        yield _check_bundled_model(f"model {name}", partial(open_bundled, settings, name, None))
    for name, model in settings.models.extra.items():
        yield _check_extra_model(name, model)
    if settings.llm.model:
        try:
            api_key("llm", settings.llm)
        except ConfigError as error:
            yield check_warning("model of [llm]", str(error), error.hint)
        else:
            yield check_ok("model of [llm]", "configured; not contacted")


def _check_bundled_model(name: str, make: Callable[[], AnyEmbedder]) -> Check:
    """Hash a model's files, ignoring the cache, and embed a sentence."""
    from scrubjay.embeddings.base import TokenEmbedder

    try:
        embedder = make()
        if isinstance(embedder, TokenEmbedder):
            rows = embedder.query(SAMPLE_SENTENCE)
        else:
            (rows,) = embedder.embed([SAMPLE_SENTENCE])
    except ScrubjayError as error:
        return check_problem(name, str(error), error.hint)
    if rows.shape[-1] != embedder.model.dimensions:
        return check_problem(name, f"it returns {rows.shape[-1]} dimensions, not {embedder.model.dimensions}")
    return check_ok(name, f"files verified, embeds ({embedder.model.revision})")


def _check_extra_model(name: str, model: ExtraModelSettings) -> Check:
    label = f"model {name}"
    if model.provider == "sentence-transformers" and find_spec("sentence_transformers") is None:
        return check_problem(
            label, "sentence-transformers is not installed", "pip install scrubjay[sentence-transformers]"
        )
    try:
        api_key(f"models.{name}", model)
    except ConfigError as error:
        return check_problem(label, str(error), error.hint)
    return check_ok(label, f"configured ({model.provider}); not contacted")


def check_oauth(installation: Installation) -> Iterator[Check]:
    """Check that the configured issuer answers and has keys."""
    if not installation.settings.oauth.issuer:
        return
    from scrubjay.api.oauth import check_issuer

    try:
        count = check_issuer(installation.settings)
    except ScrubjayError as error:
        yield check_problem("oauth issuer", str(error), error.hint)
    else:
        keys = f"{count} key{'' if count == 1 else 's'}"
        yield check_ok("oauth issuer", f"{installation.settings.oauth.issuer} answers, {keys}")


JOB_OVERDUE_SECONDS: Final = 600.0
"""Seconds within which a hook's jobs should be done: a first sync of years of conversations takes minutes."""

DAEMON_TIMEOUT: Final = 20.0
"""Seconds that a daemon has to answer, as it loads its models first, or to end."""


def check_background(installation: Installation) -> Iterator[Check]:
    """Check pauses, the daemon, stale sockets and queued jobs."""
    yield _check_pauses(installation)
    yield _check_daemon(installation)
    yield from _check_stale_sockets(installation)
    yield from _check_jobs(installation)


def hooks_off_reason(installation: Installation, agent: str) -> str:
    """Return why an agent's hooks do nothing now, or an empty string."""
    if hooks_disabled(installation.home.env):
        return "SCRUBJAY_OFF is set"
    until = Pauses(str(installation.home.data)).until(agent)
    return "" if until is None else f"paused {pause_end(until)}"


@contextmanager
def daemon_running(installation: Installation) -> Iterator[None]:
    """Ensure a daemon, as an agent's session does; one started here is stopped."""
    mark = settings_fingerprint(installation.home.env)
    path = socket_path(runtime_folder(installation.home.env), mark)
    if (
        path is None
        or not installation.settings.resident.auto
        or installation.settings.store.startswith("memory:")
    ):
        yield
        return
    starts_daemon = client.daemon_state(path, mark) is None
    try:
        if starts_daemon:
            _start_daemon(path, mark, installation)
        yield
    finally:
        if starts_daemon:
            client.stop_daemon(path, mark)
            _wait_for_daemon(path, mark, running=False)


def _start_daemon(path: str, mark: str, installation: Installation) -> None:
    """Start a daemon and wait until it answers; failing is reported by the checks that follow."""
    with contextlib.suppress(OSError):
        client.spawn_detached(["resident", "serve"], installation.home.env)
        _wait_for_daemon(path, mark, running=True)


def _wait_for_daemon(path: str, mark: str, *, running: bool) -> None:
    deadline = time.monotonic() + DAEMON_TIMEOUT
    while (client.daemon_state(path, mark) is not None) != running and time.monotonic() < deadline:
        time.sleep(0.1)


def _check_pauses(installation: Installation) -> Check:
    if hooks_disabled(installation.home.env):
        return check_warning("pause", "SCRUBJAY_OFF is set: hooks do nothing", "unset SCRUBJAY_OFF")
    pauses = Pauses(str(installation.home.data)).running()
    if not pauses:
        return check_ok("pause", "none")
    summary = ", ".join(
        f"{'all agents' if who == ALL_AGENTS else who} {pause_end(until)}" for who, until in pauses.items()
    )
    return check_warning("pause", f"hooks do nothing: {summary}", "scrubjay resume")


def _check_daemon(installation: Installation) -> Check:
    mark = settings_fingerprint(installation.home.env)
    path = socket_path(runtime_folder(installation.home.env), mark)
    if path is None:
        return check_ok("resident", "not available here, and not needed")
    folder = Path(path).parent
    if folder.is_dir() and not is_private_folder(path):
        return check_problem(
            "resident", f"{folder} is accessible to others, so it is not used", f"chmod 700 {folder}"
        )
    state = client.daemon_state(path, mark)
    if state is None:
        return check_ok("resident", "not running; an agent's session starts it")
    host = "" if state["host"] == "resident" else f" in `scrubjay {state['host']}`"
    return check_ok("resident", f"running{host}, process {state['pid']}, {state['requests']:,} requests")


def _check_stale_sockets(installation: Installation) -> Iterator[Check]:
    folder = Path(runtime_folder(installation.home.env))
    if not is_private_folder(str(folder / "any")):
        return
    stale = [path for path in sorted(folder.glob("*.sock")) if _is_unowned(path, remove=installation.fix)]
    if stale and installation.fix:
        yield check_ok("sockets", f"{len(stale)} stale sockets removed", mended=True)
    elif stale:
        yield check_warning("sockets", f"{len(stale)} stale sockets in {folder}", "scrubjay doctor --fix")


def _is_unowned(path: Path, *, remove: bool) -> bool:
    """Whether no process owns a socket. It is removed with the lock held, so that no new owner loses its own."""
    try:
        with hold_lock(f"{path}.lock") as free:
            if free and remove:
                path.unlink(missing_ok=True)
            return free
    except OSError:
        return False


def _check_jobs(installation: Installation) -> Iterator[Check]:
    jobs = JobQueue(str(installation.home.data), settings_fingerprint(installation.home.env))
    folder = Path(jobs.folder)
    if not folder.is_dir() or not jobs.waiting() or jobs.busy():
        return
    oldest = min(
        (path.stat().st_mtime for path in folder.iterdir() if path.name != "lock"), default=time.time()
    )
    if time.time() - oldest > JOB_OVERDUE_SECONDS:
        since = time.strftime("%Y-%m-%d %H:%M", time.localtime(oldest))
        yield check_warning(
            "errands", f"jobs queued by hooks are pending since {since}", "scrubjay hook --errands"
        )


MAX_READ_BYTES: Final = 1_000_000
"""Bytes read from the end of a file."""


def last_log_entries(
    folder: Path, level: str = "error", limit: int = 5, since: str = ""
) -> list[dict[str, Any]]:
    """Return the last ``limit`` log entries of at least ``level``, newest first; ``since`` is ISO time in UTC."""
    least = LEVELS.index(level)
    entries: list[dict[str, Any]] = []
    for name in (FILE_NAME, OLD_FILE_NAME):
        for entry in _read_backwards(folder / name):
            if entry["time"] < since:
                return entries
            if LEVELS.index(entry["level"]) >= least:
                entries.append(entry)
                if len(entries) == limit:
                    return entries
    return entries


def _read_backwards(path: Path) -> Iterator[dict[str, Any]]:
    """Entries of one file from its end; malformed lines are skipped."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(size - MAX_READ_BYTES, 0))
            lines = file.read().splitlines()
    except OSError:
        return
    for line in reversed(lines):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and isinstance(entry.get("time"), str) and entry.get("level") in LEVELS:
            yield entry


MAX_COUNTED_ERRORS: Final = 100
"""Maximum number of errors that are counted."""
MAX_COUNTED_ENTRIES: Final = 10_000
"""Lines of the log in which hooks are counted: more than its files hold."""
LATE_HOOK: Final = "hook late"
"""The event of the log (`cli.entry`)."""


def check_log(installation: Installation) -> Iterator[Check]:
    """Report recent errors in the log by type, and hooks that were late by event."""
    since = to_datetime(now_micros() - DAY).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    yield _check_errors(last_log_entries(installation.home.data, "error", MAX_COUNTED_ERRORS, since))
    entries = last_log_entries(installation.home.data, "info", MAX_COUNTED_ENTRIES, since)
    yield _check_late_hooks([entry for entry in entries if str(entry.get("event")).startswith("hook ")])


def _check_errors(entries: Sequence[Mapping[str, Any]]) -> Check:
    if not entries:
        return check_ok("log", "no error in the last day")
    kinds = Counter(f"{entry.get('event')} {entry.get('error', '')}".strip() for entry in entries)
    summary = ", ".join(f"{name} ({count})" for name, count in kinds.most_common(3))
    return check_warning(
        "log", f"errors in the last day: {summary}; the last at {entries[0]['time'][:16]}Z", "scrubjay status"
    )


def _check_late_hooks(hooks: Sequence[Mapping[str, Any]]) -> Check:
    """Warn of hooks whose time was up, after which an agent goes on without its memories."""
    late = [entry for entry in hooks if entry["event"] == LATE_HOOK]
    if not late:
        return check_ok("hooks", f"calls in the last day: {len(hooks):,}, none late")
    # Lines of earlier versions do not name their event.
    events = Counter(str(entry["at"]).rpartition(" ")[2] for entry in late if "at" in entry)
    summary = ", ".join(f"{event} ({count})" for event, count in events.most_common())
    return check_warning(
        "hooks",
        f"{len(late):,} of {len(hooks):,} of the last day were late{summary and ': '}{summary}; the agent went on "
        "without memories",
        "scrubjay resident start, or a larger budget in [hooks] (scrubjay config)",
    )
