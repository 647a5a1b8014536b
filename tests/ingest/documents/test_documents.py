"""Documents become memories as notes do, cited by page or heading; one that cannot be read harms nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import made
import pytest
from notes_folder import Notes

from scrubjay import Memory
from scrubjay.config.settings import Settings
from scrubjay.errors import InputError
from scrubjay.ingest.documents import converter
from scrubjay.ingest.documents.converter import DocumentConverter
from scrubjay.ingest.files import FileBytes, UnconvertibleError

REPORT = (
    "The survey of the harbour.\nIt was made in May.",
    "The quay wall leans by four degrees.",
    "",
    "Costs: ninety.",
)
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def text(memory: Memory, path: Path) -> str:
    return "".join(record.content for record in memory.get(path=path).records)


def cited(memory: Memory, query: str) -> list[str]:
    """Citations of what a search by words finds, without the folder."""
    results = memory.search(query, channels=["bm25"]).results
    return [Path(result.citation).name for result in results]


def problem(memory: Memory, root: Path) -> tuple[str, str]:
    (found,) = memory.sync(root).problems
    return found.message, found.hint


# --- PDF ----------------------------------------------------------------------------------------------------


def test_a_passage_of_a_pdf_is_cited_by_its_page(memory: Memory, notes: Notes) -> None:
    file = notes.write("report.pdf", made.pdf(REPORT))
    done = memory.sync(notes.root)
    assert (done.files, done.added, done.problems) == (1, 3, ())
    assert cited(memory, "quay wall") == ["report.pdf#page=2"]
    assert cited(memory, "costs ninety") == ["report.pdf#page=4"]  # the third page is blank
    (result,) = memory.search("quay wall", channels=["bm25"]).results
    assert (result.path, result.line_start, result.line_end) == (str(file), None, None)


def test_a_page_longer_than_a_passage_is_cut_and_each_part_cites_it(memory: Memory, notes: Notes) -> None:
    words = "\n".join(
        f"Berth {number} is let to the pilot boat, from March until the ice comes." for number in range(50)
    )
    notes.write("long.pdf", made.pdf(["Contents", words]))
    memory.sync(notes.root)
    parts = memory.get(path=notes.root / "long.pdf").records
    assert len(parts) > 2
    assert set(cited(memory, "pilot boat")) == {"long.pdf#page=2"}


def test_text_beyond_the_edge_of_a_page_is_not_read(memory: Memory, notes: Notes) -> None:
    file = notes.write("a.pdf", made.pdf(["The oak.\n" + "\n" * 80 + "Forward all mail."]))
    memory.sync(notes.root)
    assert text(memory, file) == "The oak.\n\f"


def test_a_citation_of_a_page_is_a_path_that_get_takes(memory: Memory, notes: Notes) -> None:
    file = notes.write("report.pdf", made.pdf(REPORT))
    memory.sync(notes.root)
    assert "quay wall" in text(memory, Path(f"{file}#page=2"))
    assert len(memory.get(path=f"{file}#page=2-4").records) == 2
    assert memory.get(path=f"{file}#page=9").unknown == (f"{file}#page=9",)
    with pytest.raises(InputError, match="without lines"):
        memory.get(path=file, lines=(1, 3))


def test_the_title_of_a_pdf_is_its_own_unless_a_program_wrote_a_file_name_there(
    memory: Memory, notes: Notes
) -> None:
    notes.write("a.pdf", made.pdf(["apple"], title="The orchard"))
    notes.write("b.pdf", made.pdf(["bramble"], title="Microsoft Word - draft 7.docx"))
    memory.sync(notes.root)
    assert memory.search("apple").results[0].title == "The orchard"
    assert memory.search("bramble").results[0].title == "b.pdf"


def test_hebrew_and_japanese_pages_are_read_in_their_order(memory: Memory, notes: Notes) -> None:
    # On a page Hebrew runs from the right: its first letter is written last.
    file = notes.write("words.pdf", made.pdf(["שלום עולם"[::-1], "港の壁は傾いている。"]))
    memory.sync(notes.root)
    assert "שלום עולם" in text(memory, file)
    assert "港の壁は傾いている。" in text(memory, file)


def test_a_rebuild_keeps_pages_headings_and_ids(memory: Memory, notes: Notes) -> None:
    notes.write("report.pdf", made.pdf(REPORT))
    notes.write("a.docx", made.docx(made.paragraph("Rent", "Heading1") + made.paragraph("Due in advance.")))
    memory.sync(notes.root)
    before = {one.id: one.citation for one in memory.search("quay costs survey rent").results}
    memory.rebuild()
    after = {one.id: one.citation for one in memory.search("quay costs survey rent").results}
    assert len(before) == 4
    assert after == before


def test_a_rebuild_after_a_page_was_forgotten_still_cites_the_others_rightly(
    memory: Memory, notes: Notes
) -> None:
    notes.write("report.pdf", made.pdf(REPORT))
    memory.sync(notes.root)
    (gone,) = memory.search("survey harbour", channels=["bm25"]).results
    memory.forget([gone.id])
    memory.rebuild()
    assert cited(memory, "survey harbour") == []
    assert cited(memory, "quay wall") == ["report.pdf#page=2"]
    assert cited(memory, "costs ninety") == ["report.pdf#page=4"]


# --- DOCX, HTML, EPUB ---------------------------------------------------------------------------------------


def test_a_docx_keeps_headings_tables_and_footnotes_and_is_cited_by_heading(
    memory: Memory, notes: Notes
) -> None:
    body = (
        made.paragraph("Lease", "Heading1")
        + made.paragraph("The parties agree.")
        + made.paragraph("Terms of payment", "Heading2")
        + made.table([["Month", "Euro"], ["May", "90"]])
        + made.FOOTNOTE
    )
    file = notes.write("lease.docx", made.docx(body, title="Lease of berth 7", footnote="Of 1984."))
    memory.sync(notes.root)
    stored = text(memory, file)
    assert "## Terms of payment" in stored
    assert "| May | 90 |" in stored
    assert "See the survey[1]" in stored
    assert "1. Of 1984.\n" in stored
    assert cited(memory, "May 90") == ["lease.docx#terms-of-payment"]
    assert "May" in text(memory, Path(f"{file}#terms-of-payment"))
    assert "parties" not in text(memory, Path(f"{file}#terms-of-payment"))
    assert memory.search("parties agree").results[0].title == "Lease of berth 7"


def test_an_epub_is_read_in_the_order_of_its_spine(memory: Memory, notes: Notes) -> None:
    file = notes.write(
        "book.epub", made.epub(["<h1>Storm</h1><p>It blew.</p>", "<h1>Calm</h1><p>It ended.</p>"])
    )
    memory.sync(notes.root)
    assert text(memory, file) == "# Storm\n\nIt blew.\n\n# Calm\n\nIt ended.\n"
    assert cited(memory, "ended") == ["book.epub#calm"]


PAGE = """<!DOCTYPE html><title>Seeds</title><nav>Home</nav><h1>Seeds</h1>
<p>Sow   the <b>oak</b><br>in autumn.<p># not a heading
<ul><li>oak<ul><li>pedunculate</ul><li>pine</ul>
<table><tr><th>Kind<th>Depth<tr><td>oak|ash<td>5 cm</table>
<pre>
soil = dig(5)
  wait()
</pre><img src="http://tracker.example/x.png" alt="a row of pots">"""


def test_html_keeps_headings_lists_tables_and_preformatted_text(memory: Memory, notes: Notes) -> None:
    file = notes.write("seeds.html", PAGE)
    memory.sync(notes.root)
    assert text(memory, file) == (
        "# Seeds\n\nSow the oak\nin autumn.\n\n\\# not a heading\n\n- oak\n  - pedunculate\n- pine\n\n"
        "| Kind | Depth |\n| --- | --- |\n| oak\\|ash | 5 cm |\n\n```\nsoil = dig(5)\n  wait()\n```\n\n"
        "a row of pots\n"
    )
    assert cited(memory, "pedunculate") == ["seeds.html#seeds"]


def test_of_a_saved_page_navigation_alone_is_left_out(memory: Memory, notes: Notes) -> None:
    file = notes.write(
        "biochar.html",
        "<div role=navigation>Home</div><main><h1>Biochar</h1><p>It holds water in sand.</p></main>"
        "<aside>Not in loam.</aside><footer>By Ann</footer>",
    )
    memory.sync(notes.root)
    assert text(memory, file) == "# Biochar\n\nIt holds water in sand.\n\nNot in loam.\n\nBy Ann\n"


def test_html_keeps_captions_of_tables_and_backticks(memory: Memory, notes: Notes) -> None:
    file = notes.write(
        "prices.html",
        "<table><caption>Agreed with <b>Lindqvist</b> | June</caption><tr><th>Berth<th>Price<tr><td>12<td>900</table>"
        "<p>Write ``` or ``, <code>a</code><code>b</code><code></code>.<h2>The `` mark</h2>",
    )
    memory.sync(notes.root)
    assert text(memory, file) == (
        "Agreed with Lindqvist | June\n\n| Berth | Price |\n| --- | --- |\n| 12 | 900 |\n\n"
        "Write ``` or ``, `ab`.\n\n## The `` mark\n"
    )


@pytest.mark.parametrize(
    "data",
    [
        "<p>Der Preis: 90 € für Müller".encode("cp1252"),
        '<meta charset="iso-8859-15"><p>Der Preis: 90 € für Müller'.encode("iso-8859-15"),
        "<p>Der Preis: 90 € für Müller".encode(),
        "\ufeff<p>Der Preis: 90 € für Müller".encode("utf-16-le"),
        '<meta charset="nonsense"><p>Der Preis: 90 € für Müller'.encode(),
    ],
    ids=["Windows-1252", "as declared", "UTF-8", "UTF-16", "an encoding nobody knows"],
)
def test_html_is_decoded_as_browsers_do(memory: Memory, notes: Notes, data: bytes) -> None:
    file = notes.write("price.html", data)
    memory.sync(notes.root)
    assert text(memory, file) == "Der Preis: 90 € für Müller\n"


def test_text_that_a_reader_does_not_see_is_left_out(memory: Memory, notes: Notes) -> None:
    html = (
        "<p>Seen.</p><p hidden>order one</p><div style='color:red; display : none'><p>order two</div>"
        "<script>order three</script><style>.order-four{}</style><!-- order five --><template>order six</template>"
        "<p style='visibility:hidden'>order seven</p>"
    )
    page = notes.write("a.html", html)
    body = made.paragraph("Seen.") + made.paragraph("order eight", hidden=True)
    letter = notes.write("b.docx", made.docx(body))
    memory.sync(notes.root)
    assert text(memory, page) == text(memory, letter) == "Seen.\n"


def test_a_document_sets_nothing_by_front_matter_tags_or_properties(memory: Memory, notes: Notes) -> None:
    notes.write("a.html", "<p>---<br>pinned: true<br>visibility: public<br>---<p>#urgent<p>The oak.")
    notes.write("b.pdf", made.pdf(["---\npinned: true\ntags: [urgent]\n---\n#urgent\nThe pine."]))
    memory.sync(notes.root, share=True)
    records = [
        record for name in ("a.html", "b.pdf") for record in memory.get(path=notes.root / name).records
    ]
    assert [(one.pinned, one.tags, one.key) for one in records] == [(False, (), "user:ann")] * 2


# --- As for notes -------------------------------------------------------------------------------------------


def test_a_changed_document_replaces_only_what_changed(memory: Memory, notes: Notes) -> None:
    notes.write("report.pdf", made.pdf(REPORT))
    memory.sync(notes.root)
    kept = {one.content: one.id for one in memory.get(path=notes.root / "report.pdf").records}
    notes.write("report.pdf", made.pdf([REPORT[0], "The quay wall was pulled down.", *REPORT[2:]]))
    done = memory.sync(notes.root)
    assert (done.added, done.updated, done.unchanged, done.removed) in ((0, 1, 2, 0), (1, 0, 2, 1))
    now = {one.content: one.id for one in memory.get(path=notes.root / "report.pdf").records}
    assert len(kept.items() & now.items()) == 2
    assert cited(memory, "degrees") == []


def test_ignore_files_secrets_and_dates_of_paths_hold_for_documents(memory: Memory, notes: Notes) -> None:
    notes.write(".scrubjayignore", "drafts/\n")
    notes.write("drafts/a.pdf", made.pdf(["unripe"]))
    file = notes.write("2026-03-01 minutes.docx", made.docx(made.paragraph(f"The token is {KEY}.")))
    done = memory.sync(notes.root)
    assert (done.files, sum(done.scrubbed.values())) == (1, 1)
    assert KEY not in text(memory, file)
    assert memory.search("token").results[0].date == "2026-03-01"
    (mark,) = memory.redactions()
    assert (mark.path, mark.line) == (str(file), 0)


def test_a_deleted_or_renamed_document_is_followed(memory: Memory, notes: Notes) -> None:
    file = notes.write("report.pdf", made.pdf(REPORT))
    notes.write("a.md", "An anchor.")
    memory.sync(notes.root)
    before = {one.id for one in memory.get(path=file).records}
    moved = file.rename(notes.root / "survey.pdf")
    memory.sync(notes.root)
    assert {one.id for one in memory.get(path=moved).records} == before
    moved.unlink()
    assert memory.sync(notes.root).removed == 3


def test_a_passage_of_a_document_is_not_edited_in_its_file(memory: Memory, notes: Notes) -> None:
    file = notes.write("report.pdf", made.pdf(REPORT))
    before = file.read_bytes()
    memory.sync(notes.root)
    (result,) = memory.search("quay wall", channels=["bm25"]).results
    with pytest.raises(InputError, match=r"read from a document \(\.pdf\).*Nothing was written"):
        memory.rewrite(result.id, "The quay wall is sound.")
    with pytest.raises(InputError, match=r"report\.pdf#page=2"):
        memory.update(result.id, content="The quay wall is sound.")
    assert file.read_bytes() == before


def test_what_is_forgotten_of_a_document_stays_forgotten_and_its_page_is_named(
    memory: Memory, notes: Notes
) -> None:
    file = notes.write("report.pdf", made.pdf(REPORT))
    memory.sync(notes.root)
    (result,) = memory.search("quay wall", channels=["bm25"]).results
    assert memory.forget([result.id]).still == (f"{file}#page=2",)
    notes.write("report.pdf", made.pdf([*REPORT, "An appendix."]))
    assert memory.sync(notes.root).forgotten == 1
    assert cited(memory, "quay wall") == []


def test_an_export_brings_pages_and_headings_to_another_store(
    memory: Memory, opened: Callable[..., Memory], settings: Settings, notes: Notes, tmp_path: Path
) -> None:
    notes.write("report.pdf", made.pdf(REPORT))
    notes.write("a.html", "<h1>Rent</h1><p>Due in advance.")
    memory.sync(notes.root)
    archive = tmp_path / "all.jsonl"
    memory.export(archive)
    other = opened(settings=replace(settings, store=str(tmp_path / "other.db")))
    other.import_(archive)
    assert cited(other, "quay wall") == ["report.pdf#page=2"]
    assert cited(other, "due advance") == ["a.html#rent"]


def test_html_in_a_repository_is_code_until_an_ignore_file_or_pattern_names_it(
    memory: Memory, notes: Notes
) -> None:
    subprocess.run(["git", "init", "-q", str(notes.root)], check=True)
    notes.write("README.md", "The oak.")
    notes.write("templates/page.html", "<p>{{ name }}")
    notes.write("docs/manual.pdf", made.pdf(["The pine."]))
    assert memory.sync(notes.root, git=False).files == 2
    notes.write(".scrubjayignore", "!*.html\n")
    assert memory.sync(notes.root).files == 3


# --- What cannot be read ------------------------------------------------------------------------------------

DEEP = b"<div>" * 20_000 + b"The oak."
BILLION = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
UNREADABLE = {
    "an encrypted PDF": ("a.pdf", made.pdf(["secret"], password="pear"), "is encrypted and opens only with"),
    "a scan": ("a.pdf", made.pdf(["", ""]), "has no text on its 2 pages, only pictures"),
    "a PDF cut off": ("a.pdf", made.pdf(REPORT)[:300], "is a damaged PDF"),
    "another format named PDF": ("a.pdf", b"<html>The oak.", "is not a PDF"),
    "an encrypted DOCX": ("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "is encrypted, or"),
    "a DOCX cut off": ("a.docx", made.docx(made.paragraph("The oak."))[:-40], "is damaged, or was cut off"),
    "an EPUB named DOCX": ("a.docx", made.epub(["<p>The oak."]), "is not a DOCX"),
    "a DOCX named EPUB": ("a.epub", made.docx(made.paragraph("The oak.")), "is not an EPUB"),
    "a DOCX that is not XML": ("a.docx", made.docx("<w:p>"), "is damaged: its part 'word/document.xml' is not XML"),
    "entities that grow": ("a.docx", made.docx("<w:p>&b;</w:p>", prolog=BILLION), "declares XML entities"),
    "a zip bomb": ("a.docx", made.docx("", bomb=b" " * 200_000_001), "unpacks to more than the 200,000,000 bytes"),
    "a book with rights management": ("a.epub", made.epub(["<p>x"], encrypted=True), "is encrypted"),
    "a PDF named HTML": ("a.html", made.pdf(REPORT), "is not HTML"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "data", "reason"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_document_that_cannot_be_read_is_told_and_the_others_are_read(
    memory: Memory, notes: Notes, name: str, data: bytes, reason: str
) -> None:
    notes.write(name, data)
    notes.write("b.pdf", made.pdf(REPORT))
    notes.write("c.md", "The anchor.")
    done = memory.sync(notes.root)
    (found,) = done.problems
    assert (found.path, done.added) == (str(notes.root / name), 4)
    assert found.message.startswith(f"{name} {reason}")
    assert found.message.endswith("What was stored of it before is kept.")
    assert found.hint


def test_what_was_stored_stays_searchable_when_a_new_version_cannot_be_read(
    memory: Memory, notes: Notes
) -> None:
    notes.write("report.pdf", made.pdf(REPORT))
    memory.sync(notes.root)
    notes.write("report.pdf", made.pdf(REPORT, password="pear"))
    assert "encrypted" in problem(memory, notes.root)[0]
    assert cited(memory, "quay wall") == ["report.pdf#page=2"]
    (unread,) = memory.status().unread
    assert "encrypted" in unread.message
    assert "when the file changes" in unread.hint


def test_an_unreadable_document_is_tried_again_only_when_it_changes_and_counted_until_then(
    memory: Memory, notes: Notes
) -> None:
    for name in ("a.pdf", "b.pdf"):
        notes.write(name, made.pdf([""]))
    notes.write("c.md", "The anchor.")
    assert len(memory.sync(notes.root).problems) == 2
    again = memory.sync()
    assert again.problems == ()
    (notice,) = again.notices
    assert (Path(notice.path).name, "2 documents" in notice.message) == ("a.pdf", True)
    notes.write("a.pdf", made.pdf(["The oak."]))
    after = memory.sync()
    assert (after.added, after.problems) == (1, ())
    assert "This document" in after.notices[0].message


def test_a_deeply_nested_page_is_read(memory: Memory, notes: Notes) -> None:
    file = notes.write("deep.html", DEEP)
    assert memory.sync(notes.root).problems == ()
    assert text(memory, file) == "The oak.\n"


def as_file(data: bytes) -> FileBytes:
    return FileBytes(data, "", 0, len(data))


def test_a_document_that_takes_too_long_is_given_up_and_the_next_one_is_read() -> None:
    slow = made.pdf(["The quay wall leans by four degrees. " * 40] * 3_000)
    with (
        DocumentConverter(seconds=0.001) as impatient,
        pytest.raises(UnconvertibleError, match="was not read within"),
    ):
        impatient.convert("slow.pdf", as_file(slow))
    with DocumentConverter() as patient:
        patient.convert("a.html", as_file(b"<p>The oak."))
        patient._process.kill()  # type: ignore[union-attr]  # as a crash of a parser ends it
        patient._process.wait()  # type: ignore[union-attr]
        with pytest.raises(UnconvertibleError, match="ended the program that reads documents"):
            patient.convert("b.html", as_file(b"<p>The pine."))
        assert patient.convert("b.html", as_file(b"<p>The pine.")).text == "The pine.\n"


# --- Without the extra --------------------------------------------------------------------------------------

WITHOUT = """
import sys, runpy
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pypdfium2", "mammoth", "selectolax"):
            raise ModuleNotFoundError(name)
import importlib.util
found = importlib.util.find_spec
absent = ("pypdfium2", "mammoth", "selectolax")
importlib.util.find_spec = lambda name, *rest: None if name in absent else found(name, *rest)
sys.meta_path.insert(0, Absent())
sys.argv = ["scrubjay", *sys.argv[1:]]
from scrubjay.cli.main import run
sys.exit(run(sys.argv[1:]))
"""


def without(store: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """Run a command where the libraries of the extra are not installed."""
    command = [sys.executable, "-c", WITHOUT, *map(str, words), "--store", str(store), "--user", "ann"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_without_the_extra_documents_are_skipped_and_one_line_says_how_to_read_them(
    memory: Memory, notes: Notes, tmp_path: Path
) -> None:
    notes.write("c.md", "The anchor.")
    for name in ("a.pdf", "b.html"):
        notes.write(name, b"whatever")
    done = without(tmp_path / "new.db", "sync", notes.root)
    assert done.returncode == 0
    assert "1 file, 1 passage: 1 added" in done.stdout
    (line,) = [line for line in done.stderr.splitlines() if "scrubjay[documents]" in line]
    assert line.startswith(f"{notes.root / 'a.pdf'}: 2 documents")


def test_what_was_read_stays_when_the_extra_is_gone(memory: Memory, notes: Notes, tmp_path: Path) -> None:
    notes.write("report.pdf", made.pdf(REPORT))
    memory.sync(notes.root)
    done = without(tmp_path / "memory.db", "sync", notes.root)
    assert done.returncode == 0, done.stderr
    assert "3 unchanged, 0 removed" in done.stdout
    assert cited(memory, "quay wall") == ["report.pdf#page=2"]


def test_a_single_document_without_the_extra_is_an_error_with_the_way_out(
    notes: Notes, tmp_path: Path
) -> None:
    file = notes.write("a.pdf", made.pdf(REPORT))
    done = without(tmp_path / "new.db", "sync", file)
    assert done.returncode == 2
    assert "pip install 'scrubjay[documents]'" in done.stderr


def test_html_that_a_pattern_names_is_read_as_written_without_the_extra(notes: Notes, tmp_path: Path) -> None:
    notes.write("a.html", "<h1>Oak</h1>\n")
    store = tmp_path / "new.db"
    assert "1 added" in without(store, "sync", notes.root, "--include", "*.html").stdout
    assert "a.html:1-1" in without(store, "search", "oak").stdout


def test_a_sync_without_changes_loads_no_library_of_documents(notes: Notes, tmp_path: Path) -> None:
    notes.write("report.pdf", made.pdf(REPORT))
    script = (
        "import sys\nfrom scrubjay.cli.main import run\n"
        f"code = run(['sync', {str(notes.root)!r}, '--store', {str(tmp_path / 'new.db')!r}])\n"
        "loaded = {'pypdfium2', 'mammoth', 'selectolax'} & set(sys.modules)\n"
        "started = 'scrubjay.ingest.documents.converter' in sys.modules\n"
        "print(code, sorted(loaded), started, file=sys.stderr)\n"
    )
    lasts = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False).stderr
        for _ in range(2)
    ]
    assert [last.splitlines()[-1] for last in lasts] == ["0 [] True", "0 [] False"]


def test_limits_are_what_the_page_says() -> None:
    page = (Path(__file__).parents[3] / "docs" / "documents.md").read_text("utf-8")
    for limit in ("100 MB", "10,000 pages", "30,000,000 characters", "200 MB", "120 seconds", "2 GiB"):
        assert limit in page
    assert converter.MAX_SECONDS == 120
