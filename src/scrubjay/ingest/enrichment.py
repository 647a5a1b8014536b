"""Enrichment: connect stored memories by entities, similarity, topics, links and folders, and extract facts from turns.

The mark of a memory (`Record.due`) is the queue: it is written with the text, and changed with the edges. So enrichment
can be interrupted at any time, and the next call ends in the same state.

A link may precede its page, so all links of a source are resolved together, once its documents are connected; when a
page is new or changed, stored notes that may link to it are searched for. URLs, images and links in code do not count.
"""

from __future__ import annotations

import posixpath
import re
import time
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from scrubjay.categories.folders import folder_changes
from scrubjay.ingest.fact_stage import FactStage
from scrubjay.ingest.linker import EdgeBuilder
from scrubjay.ingest.reader import document_aliases
from scrubjay.ingest.sync_run import LINK_BATCH, write_in_batches
from scrubjay.models.dates import now_micros
from scrubjay.models.graph import SUPERSEDED_BY_RULE, SUPERSEDES_RULE, Edge
from scrubjay.models.records import (
    DUE_EDGES,
    DUE_FACTS,
    DUE_LINKS,
    DUE_PLACE,
    Document,
    PassageRef,
    PassageRefs,
    Record,
    RecordFilter,
    Scope,
    Source,
    due_level,
    due_mark,
    due_since,
    note_documents,
)
from scrubjay.models.reports import Progress
from scrubjay.storage.changes import Change, PreparedMemory, PutDue, PutEdges, PutMemory, RequireUnchanged
from scrubjay.storage.interface import DueMemory, Reader, Store, in_batches, retry_conflicts
from scrubjay.text.language import detect_language
from scrubjay.text.markdown import (
    MAX_LINKS,
    NUMBERED_NOTE,
    LinkTarget,
    block_ids,
    extract_links,
    heading_slug,
)
from scrubjay.text.tokenizer import Terms, query_groups
from scrubjay.tracing import traced

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder

PAGE: Final = 1_000
"""Memories of one transaction, whose entities are discovered together."""
NO_TERMS: Final = Terms({}, 0)


def due_memories(reader: Reader, level: int = DUE_LINKS) -> list[DueMemory]:
    """Return memories that are due for enrichment, except those of others' sources, whose folders only they see."""
    due = reader.due(level)
    own = {source.id for source in reader.sources()} if due else set()
    return [one for one in due if one.source is None or one.source in own]


@dataclass(frozen=True, slots=True)
class EnrichmentRun:
    """One call; ``edges`` and ``facts`` are used by no other.

    Attributes:
        recluster: Recomputes the topics that are due, given how many memories of each key were connected.
        proceed: Called before each page; if it returns False, the run ends and a later one continues.
    """

    store: Store
    scope: Scope
    base: Embedder
    edges: EdgeBuilder
    facts: FactStage
    recluster: Callable[[Mapping[str, int]], None]
    progress: Callable[[Progress], None] | None
    proceed: Callable[[], bool]

    def enrich(self) -> None:
        """Enrich pending memories page by page, then the links and folders of their sources, then topics."""
        started, done = time.monotonic(), 0
        with self.store.reader(self.scope) as reader:
            due = due_memories(reader, DUE_EDGES)
        for page in in_batches(due, PAGE):
            if not self.proceed():
                return
            retry_conflicts(partial(self._connect, [one.id for one in page]), self.edges.discard)
            done += len(page)
            if self.progress is not None:
                self.progress(Progress("connect", done, len(due), time.monotonic() - started))
        with self.store.reader(self.scope) as reader:
            connected = [one for one in due_memories(reader) if due_level(one.mark) < DUE_EDGES]
        self._finalize_sources(connected)
        # An interrupted call may have connected more of them.
        self.edges.connected |= Counter(one.key for one in connected if due_level(one.mark) == DUE_PLACE)
        self.recluster(self.edges.connected)
        for batch in in_batches(connected, PAGE):
            marks = {one.id: one.mark for one in batch}
            self.store.write(self.scope, [PutDue(dict.fromkeys(marks, 0), marks)])

    @traced("scrubjay.enrich.connect")
    def _connect(self, ids: Sequence[str]) -> None:
        fingerprint = self.base.model.fingerprint
        with self.store.reader(self.scope) as reader:
            records = [one for one in reader.get(ids).values() if due_level(one.due) >= DUE_EDGES]
            embedded = any(one.model.fingerprint == fingerprint for one in reader.models())
            vectors = reader.vectors(fingerprint, [one.id for one in records]) if embedded else {}
        memories = [
            PreparedMemory(
                one,
                NO_TERMS,
                {fingerprint: vectors[one.id]} if one.id in vectors else {},
                detect_language(one.content) if due_level(one.due) == DUE_FACTS else "",
            )
            for one in records
        ]
        self.edges.add_entities(records, records)
        facts = self.facts.extract([one for one in memories if one.language], settle=False)
        self.edges.add_entities([one.record for one in facts.fresh])
        marks = {one.id: one.due for one in records}
        first, last = self.edges.changes([*memories, *facts.fresh], list(marks))
        remaining = {memory: due_mark(DUE_PLACE, due_since(mark)) for memory, mark in marks.items()}
        puts = map(PutMemory, facts.fresh)
        stating = RequireUnchanged({one.id: one for one in records if one.id in facts.stated})
        self.store.write(
            self.scope,
            [facts.unchanged(), stating, *first, *puts, *last, *facts.after, PutDue(remaining, marks)],
        )

    @traced("scrubjay.enrich.finalize")
    def _finalize_sources(self, due: Sequence[DueMemory]) -> None:
        by_source: dict[str, dict[str, int]] = defaultdict(dict)
        for one in due:
            if one.source is not None and one.path is not None:
                levels = by_source[one.source]
                levels[one.path] = max(due_level(one.mark), levels.get(one.path, 0))
        if not by_source:
            return
        secret = self.store.secret(self.scope)
        with self.store.reader(self.scope) as reader:
            sources = [source for source in reader.sources() if source.id in by_source]
        for source in sources:
            with self.store.reader(self.scope) as reader:
                levels = by_source[source.id]
                changes = finalize_source(reader, secret, self.scope, source, levels, self.edges.stages)
            write_in_batches(lambda some: self.store.write(self.scope, some), changes)


MAX_CACHED_PASSAGES: Final = 50_000
"""Passages cached while one source is finalized: 15 MB."""
MAX_MENTIONS: Final = 200
"""Stored passages searched for links to a new page."""
DOCUMENTS_PER_LOOKUP: Final = 50
"""Documents that can be read in the time of one word lookup."""


def finalize_source(
    reader: Reader,
    secret: bytes,
    scope: Scope,
    source: Source,
    due: Mapping[str, int],
    stages: Collection[str],
) -> list[Change]:
    """Return the changes that bring links and folder categories of a source up to date.

    ``due`` maps the path of each document that is due to its level: at `DUE_LINKS` only its own links are resolved.
    """
    at = now_micros()
    documents = note_documents(reader.documents(source.id))
    relinked = sorted(due.keys() & documents.keys())
    placed = [path for path in relinked if due[path] >= DUE_PLACE]
    names = PageNames(reader, source.id, documents)
    resolver = LinkResolver(names, scope)
    passages: dict[str, tuple[PassageRef, ...]] = {}
    keys: set[str] = set()
    cache_room = MAX_CACHED_PASSAGES
    for path in relinked:
        records = reader.passages(source.id, path)
        if due[path] >= DUE_PLACE:
            keys.update(record.key for record in records)
        if "links" in stages:
            resolver.add(records, changed=True)
            names.add(path, records)
        if len(records) <= cache_room:
            passages[path] = tuple(PassageRef(r.id, r.key, r.heading_path, r.title) for r in records)
            cache_room -= len(records)
    changes: list[Change] = []
    if "links" in stages:
        if len(relinked) < len(documents):
            resolver.add_mentions(placed)
        links = resolver.edges(at, passages)
        for some in in_batches(links, LINK_BATCH):
            edges = tuple(edge for memory in some for edge in links[memory])
            changes.append(PutEdges(edges, tuple(some), ("links",)))
    if placed and "categories" in stages:
        # Other keys' categories stay as they are: their viewers must not notice.
        changed = None if len(placed) == len(documents) else placed
        changes += folder_changes(reader, secret, source, at, changed=changed, passages=passages, keys=keys)
    return changes


def linking_passages(reader: Reader, passages: Sequence[str]) -> set[str]:
    """Return the passages with found links to some that are about to change, move or go."""
    edges = reader.edges(passages, ["links"], inward=True) if passages else ()
    return {edge.src for edge in edges if edge.origin == "found"}


class LinkResolver:
    def __init__(self, names: PageNames, scope: Scope) -> None:
        self._names = names
        self._scope = scope
        # Key, path and links of each passage, by its id.
        self._links: dict[str, tuple[str, str, tuple[LinkTarget, ...]]] = {}

    def add(self, records: Iterable[Record], *, changed: bool = False) -> None:
        """Add passages with links; those that were ``changed`` may have had links before."""
        for record in records:
            place = record.place
            if place is not None and place.source == self._names.source and record.session is None:
                targets = extract_links(record.content)
                if targets or changed:
                    self._links[record.id] = record.key, place.path, targets

    def add_mentions(self, new: Sequence[str]) -> None:
        """Add stored passages that may link to new or retitled pages, given by their paths."""
        names = self._names
        if len(names.documents) < DOCUMENTS_PER_LOOKUP * len(new):
            for path in names.documents:
                self.add(names.read_page(path))
            return
        for path in new:
            page_names = {PurePosixPath(path).stem, names.documents[path].title, *journal_names(path)}
            for name in sorted(page_names.union(names.aliases.get(path, ()))):
                self.add(names.mentions(name))

    def edges(self, at: int, passages: PassageRefs) -> dict[str, list[Edge]]:
        """Return the link edges of each added passage.

        A shared passage links to what all its viewers see, so a private page never shadows a shared one; a link
        that only its writer can follow becomes an edge of their own.
        """
        pages = _VisiblePages(self._names, passages)
        resolved: dict[str, list[Edge]] = {}
        for memory, (own_key, path, targets) in self._links.items():
            edges: dict[str, Edge] = {}
            for target in targets:
                for key in dict.fromkeys((own_key, self._scope.key())):
                    for end in pages.link_ends(target, path, self._scope.seen_with(key).keys):
                        if end != memory:
                            edges.setdefault(end, Edge(memory, "links", end, key, 1.0, at, rule=target.rule))
            resolved[memory] = list(edges.values())
        return resolved


class PageNames:
    """Names of a source's documents that are only in their texts, as far as these were read: aliases, and block ids.

    Attributes:
        documents: All documents of the source, by path.
        aliases: Path of a document to its aliases.
        alias_pages: Alias, as a page's name, to the paths of its documents.
        blocks: Id of a Logseq block to the path of its document.
    """

    def __init__(self, reader: Reader, source: str, documents: Mapping[str, Document]) -> None:
        self.reader, self.source, self.documents = reader, source, documents
        self.aliases: dict[str, tuple[str, ...]] = {}
        self.alias_pages: dict[str, set[str]] = {}
        self.blocks: dict[str, str] = {}
        self._unread = set(documents)
        self._looked_up: set[str] = set()

    def add(self, path: str, records: Iterable[Record]) -> None:
        """Add the names of a document that was read whole."""
        self._unread.discard(path)
        for record in records:
            self._add_passage(path, record)

    def read_page(self, path: str) -> list[Record]:
        """Return the passages of a document, whose names are added."""
        records = self.reader.passages(self.source, path)
        self.add(path, records)
        return records

    def mentions(self, name: str) -> Iterable[Record]:
        """Return stored passages that may mention a page."""
        groups = query_groups(name, self.reader.languages() or ("en",))
        if not groups:
            return ()
        scores = self.reader.words(groups, RecordFilter(sources=(self.source,)))
        return self.reader.get([hit.id for hit in scores.top(MAX_MENTIONS)]).values()

    def look_up(self, target: LinkTarget) -> bool:
        """Search for the page of a link that no file or title matches; return whether names were added."""
        name = target.name or target.heading
        if name in self._looked_up or not self._unread:
            return False
        self._looked_up.add(name)
        known = len(self.aliases), len(self.blocks)
        if len(self._unread) < DOCUMENTS_PER_LOOKUP * len(self._looked_up):
            for path in sorted(self._unread):
                self.read_page(path)
        else:
            for record in self.mentions(name):
                if record.place is not None and record.place.path in self._unread:
                    self._add_passage(record.place.path, record)
        return known != (len(self.aliases), len(self.blocks))

    def _add_passage(self, path: str, record: Record) -> None:
        first = record.place is not None and record.place.start == 0
        if first and (aliases := document_aliases(record.content)):
            self.aliases[path] = aliases
            for one in aliases:
                self.alias_pages.setdefault(_page_name(one), set()).add(path)
        for block in block_ids(record.content):
            if len(block) == LOGSEQ_ID_LENGTH:  # unique among all pages; others are unique in their page
                self.blocks.setdefault(block, path)


LOGSEQ_ID_LENGTH: Final = 37


class _VisiblePages:
    def __init__(self, names: PageNames, cached: PassageRefs) -> None:
        self._names = names
        self._cached = cached
        self._by_block: dict[str, list[tuple[str, str, str]]] = {}
        self._pages = PageIndex(names.documents, names.alias_pages)
        self._hidden: dict[tuple[str, ...], set[str]] = {}
        self._by_path: dict[str, list[tuple[str, tuple[str, ...], str]]] = {}
        self._by_heading: dict[tuple[str, tuple[str, ...]], dict[str, str]] = {}

    def link_ends(self, target: LinkTarget, origin: str, keys: tuple[str, ...]) -> Sequence[str]:
        """Return the passage that a link leads to, under its heading or the first, or all of a replaced note."""
        if target.rule == "block":
            block = self._block_in_any_page(target, keys)
            return [block] if block else []
        path = self._target_page(target, origin, keys)
        if path is None:
            return []
        visible = self._first_by_heading(path, keys)
        if target.rule in (SUPERSEDES_RULE, SUPERSEDED_BY_RULE):
            every = [memory for memory, _, key in self._passages(path) if key in keys]
            return every[:MAX_LINKS] if path != origin else []
        if target.heading.startswith("^"):
            end = self._block_passage(path, target.heading, keys) or visible.get("")
        else:
            end = visible.get(heading_slug(target.heading), visible.get(""))
        return [end] if end else []

    def _target_page(self, target: LinkTarget, origin: str, keys: tuple[str, ...]) -> str | None:
        hidden = self._hidden.setdefault(keys, set())
        while True:
            path = self._pages.find(target, origin, hidden)
            # If several pages share an alias, an unread one may precede.
            is_unsure = path is None or self._pages.page_by_alias(_page_name(target.name), hidden) == path
            if is_unsure and self._names.look_up(target):
                continue
            if path is None:
                return None
            if self._first_by_heading(path, keys) or path == origin:
                return path
            hidden.add(path)  # a visible page may have the same name

    def _block_in_any_page(self, target: LinkTarget, keys: tuple[str, ...]) -> str | None:
        if target.heading not in self._names.blocks:
            self._names.look_up(target)
        path = self._names.blocks.get(target.heading)
        return None if path is None else self._block_passage(path, target.heading, keys)

    def _block_passage(self, path: str, block: str, keys: tuple[str, ...]) -> str | None:
        if path not in self._by_block:
            self._by_block[path] = [
                (one, record.id, record.key)
                for record in self._names.reader.passages(self._names.source, path)
                for one in block_ids(record.content)
            ]
        matches = (memory for one, memory, key in self._by_block[path] if one == block and key in keys)
        return next(matches, None)

    def _first_by_heading(self, path: str, keys: tuple[str, ...]) -> Mapping[str, str]:
        """Return the first visible passage under each heading, and under "" the first of all."""
        if (path, keys) not in self._by_heading:
            first = self._by_heading[path, keys] = {}
            for memory, headings, key in self._passages(path):
                if key in keys:
                    first.setdefault("", memory)
                    # A heading without text of its own begins with the first passage below it.
                    for heading in headings:
                        first.setdefault(heading, memory)
        return self._by_heading[path, keys]

    def _passages(self, path: str) -> list[tuple[str, tuple[str, ...], str]]:
        if path not in self._by_path:
            self._by_path[path] = [
                (p.id, tuple(map(heading_slug, p.heading_path)), p.key)
                for p in self._cached.get(path) or self._names.reader.passages(self._names.source, path)
            ]
        return self._by_path[path]


class PageIndex:
    """The pages of a source by name: as Obsidian finds them, by file before title and alias.

    ``aliases`` maps a page name to paths, and may grow meanwhile.
    """

    def __init__(
        self, documents: Mapping[str, Document], aliases: Mapping[str, Collection[str]] | None = None
    ) -> None:
        self._ordered = sorted(documents, key=_page_rank)
        self._paths: dict[str, list[str]] = {}
        for path in sorted(documents):
            self._paths.setdefault(_fold(path), []).append(path)
        self._files: dict[str, list[str]] = {}
        self._titles: dict[str, list[str]] = {}
        self._aliases = {} if aliases is None else aliases
        for path in self._ordered:
            name = path.rpartition("/")[2]
            for one in dict.fromkeys(map(_page_name, (*_file_names(path), name))):
                self._files.setdefault(one, []).append(path)
            for one in (documents[path].title, *journal_names(path)):
                self._titles.setdefault(_page_name(one), []).append(path)

    def find(self, target: LinkTarget, path: str, hidden: Collection[str] = ()) -> str | None:
        """Return the page that a link in the document ``path`` leads to, none of the ``hidden`` ones."""
        if not target.name:
            return path
        if target.rule == "wikilink" and not target.name.startswith(("./", "../")):
            return self._page_by_name(target.name, path, hidden)
        start = "" if target.name.startswith("/") else posixpath.dirname(path)
        full = _fold(posixpath.normpath(posixpath.join(start, target.name.lstrip("/"))))
        for ending in ("", ".md", "/index.md", "/readme.md", ".markdown"):
            if page := _first_visible(self._paths.get(full + ending, ()), hidden):
                return page
        if full.endswith(".html"):  # rendered sites link to `page.html`, whose source is `page.md`
            return _first_visible(self._paths.get(full.removesuffix(".html") + ".md", ()), hidden)
        # Obsidian writes Markdown links as it writes `[[links]]`: the shortest path that is unique.
        if target.name.startswith(("/", "../")):
            return None
        return self._page_by_name(target.name, path, hidden) or self._page_by_number(target, path, hidden)

    def page_by_alias(self, page: str, hidden: Collection[str]) -> str | None:
        return _first_visible(sorted(self._aliases.get(page, ()), key=_page_rank), hidden)

    def _page_by_number(self, target: LinkTarget, origin: str, hidden: Collection[str]) -> str | None:
        """Return the page in the note's folder whose file name begins with the number in the link, if it is unique."""
        number = NUMBERED_NOTE.fullmatch(target.name)
        if number is None or not number["kind"] or target.rule not in (SUPERSEDES_RULE, SUPERSEDED_BY_RULE):
            return None
        folder = posixpath.dirname(origin)
        numbered = [
            path
            for path in self._ordered
            if posixpath.dirname(path) == folder
            and path not in hidden
            and (file := NUMBERED_NOTE.match(posixpath.basename(path)))
            and int(file["number"]) == int(number["number"])
        ]
        return numbered[0] if len(numbered) == 1 else None

    def _page_by_name(self, name: str, origin: str, hidden: Collection[str]) -> str | None:
        """Return the page of a name or of the end of a path, preferably one in or below the folder of the link."""
        page = _page_name(name.lstrip("/"))
        folder = _fold(posixpath.dirname(origin))
        ranked: list[tuple[bool, bool, bool, int]] = []
        named = [path for path in self._files.get(page, ()) if path not in hidden]
        paths = named or [path for path in self._files.get(page.rpartition("/")[2], ()) if path not in hidden]
        for place, path in enumerate(paths):
            full = _page_name(path)
            if named or full == page or full.endswith(f"/{page}"):
                strict = _fold(path).removesuffix(".md").endswith(_fold(name).removesuffix(".md"))
                inside = not folder or _fold(path).startswith(f"{folder}/")
                ranked.append((full != page, not strict, not inside, place))
        if ranked:
            return paths[min(ranked)[-1]]
        return _first_visible(self._titles.get(page, ()), hidden) or self.page_by_alias(page, hidden)


def _page_rank(path: str) -> tuple[int, str]:
    # Of two pages with one name the shallower wins: `seeds.md` before `old/seeds.md`.
    return path.count("/"), path


def _first_visible(paths: Iterable[str], hidden: Collection[str]) -> str | None:
    return next((path for path in paths if path not in hidden), None)


def find_pages(reader: Reader, source: str, target: LinkTarget) -> Iterable[tuple[int, str]]:
    """Yield the visible notes with the name of a link: 0 and the path for a file, 1 for a title, 2 for an alias."""
    documents = note_documents(reader.documents(source))
    names = PageNames(reader, source, documents)
    names.look_up(target)
    wanted = _page_name(target.name.lstrip("/"))
    for path, document in documents.items():
        files = (f"/{_page_name(one)}" for one in (path, *_file_names(path)))
        titles = map(_page_name, (document.title, *journal_names(path)))
        if any(one.endswith(f"/{wanted}") for one in files):
            rank = 0
        elif wanted in titles:
            rank = 1
        elif wanted in map(_page_name, names.aliases.get(path, ())):
            rank = 2
        else:
            continue
        if reader.passages(source, path):
            yield rank, path


def _file_names(path: str) -> Iterable[str]:
    """Yield a page's names by its file; Logseq writes ``a/b`` as ``a___b.md``, earlier as ``a%2Fb.md``."""
    stem = PurePosixPath(path).stem
    yield stem
    if "___" in stem or "%" in stem:
        yield unquote(stem.replace("___", "/"))


_JOURNAL = re.compile(r"(?:^|/)journals/(\d{4})_(\d\d)_(\d\d)\.(?:md|markdown)$")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def journal_names(path: str) -> tuple[str, ...]:
    """Return the name under which Logseq links to a journal.

    >>> journal_names("journals/2026_11_29.md")
    ('Nov 29th, 2026',)
    """
    match = _JOURNAL.search(path)
    if match is None or not 1 <= int(match[2]) <= 12:
        return ()
    day = int(match[3])
    ending = "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return (f"{_MONTHS[int(match[2]) - 1]} {day}{ending}, {match[1]}",)


def _fold(name: str) -> str:
    """Fold case, and letters that one system stores composed and another decomposed."""
    return name.casefold() if name.isascii() else unicodedata.normalize("NFC", name).casefold()


def _page_name(name: str) -> str:
    return " ".join(_fold(name).replace("_", " ").replace("-", " ").removesuffix(".md").split())
