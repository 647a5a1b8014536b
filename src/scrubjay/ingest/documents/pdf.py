"""PDF: the text of its pages, each ended by a form feed, so that the page of a passage can be counted."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from scrubjay.ingest.documents.limits import MAX_PAGES, UnreadableDocumentError, check_length
from scrubjay.text.markdown import PAGE_END

# PDFium writes one of these for a hyphen at a line's end, and joins the lines.
_SOFT_HYPHENS: Final = re.compile("[\x02\ufffe\xad]")
_LINE_ENDS: Final = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\uffff\ud800-\udfff]")
_LIGATURES: Final = {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}
_PRODUCER_TITLE: Final = re.compile(r"(?i)microsoft (?:word|powerpoint|excel) - ")
_FILE_TITLE: Final = re.compile(
    r"(?i)\.(?:docx?|odt|rtf|pptx?|xlsx?|dvi|tex|ps|pdf|indd|qxd|pmd|html?|md)$|^untitled"
)
MAX_NAMED_PAGES: Final = 5


def read_pdf(data: bytes) -> tuple[str, str, list[str]]:
    """Return text, title and problems of a PDF."""
    import pypdfium2

    if b"%PDF-" not in data[:1024]:
        raise UnreadableDocumentError(
            "is not a PDF: its header is missing.", "give it the ending of its format"
        )
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise UnreadableDocumentError(
                "is encrypted and opens only with a password.",
                "save a copy without a password beside it, for example: qpdf --password=… --decrypt IN.pdf OUT.pdf",
            ) from error
        raise UnreadableDocumentError(
            f"is a damaged PDF ({error}).", "fetch or export it again; a program that opens it may repair it"
        ) from error
    count = len(document)
    if count > MAX_PAGES:
        raise UnreadableDocumentError(
            f"has {count:,} pages, more than the {MAX_PAGES:,} that are read.", "split it"
        )
    pages: list[str] = []
    damaged: list[int] = []
    size = 0
    for index in range(count):
        try:
            page = document[index]
            layer = page.get_textpage()
            text = layer.get_text_bounded()
        except pypdfium2.PdfiumError:
            damaged.append(index + 1)
            text = ""
        else:
            layer.close()
            page.close()
        pages.append(_clean_text(text))
        size += len(pages[-1]) + 1
        check_length(size)
    if not any(pages):
        if damaged or not count:
            raise UnreadableDocumentError(
                "is a damaged PDF: none of its pages can be read.", "fetch or export it again"
            )
        raise UnreadableDocumentError(
            f"has no text on its {count:,} page{'' if count == 1 else 's'}, only pictures, as scans have.",
            "add a text layer, for example: ocrmypdf IN.pdf OUT.pdf",
        )
    problems = []
    if damaged:
        named = ", ".join(map(str, damaged[:MAX_NAMED_PAGES]))
        more = f" and {len(damaged) - MAX_NAMED_PAGES:,} more" if len(damaged) > MAX_NAMED_PAGES else ""
        problems.append(f"Damaged pages were left out: {named}{more}.")
    title = document.get_metadata_value("Title")
    return "".join(page + PAGE_END for page in pages), _clean_title(title), problems


def _clean_text(text: str) -> str:
    text = _SOFT_HYPHENS.sub("", text)
    text = _CONTROL.sub("", _LINE_ENDS.sub("\n", text)).translate(_LIGATURES)
    return "\n".join(line.rstrip() for line in text.strip().split("\n")) + "\n" if text.strip() else ""


def _clean_title(raw: str) -> str:
    """Return a PDF's title, empty for the file name that programs write if nobody gave one."""
    title = " ".join(_PRODUCER_TITLE.sub("", _clean_text(raw)).split())
    return "" if _FILE_TITLE.search(title) else title
