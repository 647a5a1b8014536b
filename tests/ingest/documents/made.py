"""Documents made for the tests, byte by byte: PDF, DOCX and EPUB, sound and hostile."""

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib
from collections.abc import Sequence
from xml.sax.saxutils import escape

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_PAD = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


def pdf(pages: Sequence[str], *, title: str = "", password: str = "") -> bytes:
    """Return a PDF with one page per text; any character that UTF-16 holds in one unit can be written."""
    letters = sorted({letter for page in pages for letter in page if letter != "\n"})
    codes = {letter: number for number, letter in enumerate(letters, 1)}
    unicodes = "\n".join(f"<{codes[letter]:04x}> <{ord(letter):04x}>" for letter in letters)
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def\n"
        "1 begincodespacerange <0000> <ffff> endcodespacerange\n"
        f"{len(letters)} beginbfchar\n{unicodes}\nendbfchar\nendcmap end end"
    )
    objects: list[bytes] = [b"", b"", b""]  # catalog, pages, information

    def add(body: bytes) -> int:
        objects.append(body)
        return len(objects)

    descriptor = add(
        b"<</Type/FontDescriptor/FontName/Helvetica/Flags 4/FontBBox[0 0 1 1]/ItalicAngle 0/Ascent 800"
        b"/Descent -200/CapHeight 700/StemV 80>>"
    )
    cid = add(
        f"<</Type/Font/Subtype/CIDFontType2/BaseFont/Helvetica/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)"
        f"/Supplement 0>>/FontDescriptor {descriptor} 0 R/DW 500>>".encode()
    )
    table = add(_stream(cmap.encode()))
    font = add(
        f"<</Type/Font/Subtype/Type0/BaseFont/Helvetica/Encoding/Identity-H/DescendantFonts[{cid} 0 R]"
        f"/ToUnicode {table} 0 R>>".encode()
    )
    kids = []
    for page in pages:
        lines = [
            f"<{''.join(f'{codes[letter]:04x}' for letter in line)}> Tj 0 -14 Td" for line in page.split("\n")
        ]
        content = add(
            _stream(f"BT /F 11 Tf 40 750 Td {' '.join(lines)} ET".encode() if page else b"0 0 9 9 re f")
        )
        kids.append(
            add(
                f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents {content} 0 R"
                f"/Resources<</Font<</F {font} 0 R>>>>>>".encode()
            )
        )
    objects[0] = b"<</Type/Catalog/Pages 2 0 R>>"
    objects[1] = f"<</Type/Pages/Count {len(kids)}/Kids[{' '.join(f'{kid} 0 R' for kid in kids)}]>>".encode()
    objects[2] = b"<</Title<" + (b"\xfe\xff" + title.encode("utf-16-be")).hex().encode() + b">>>"
    return _file(objects, password)


def _stream(data: bytes) -> bytes:
    packed = zlib.compress(data)
    return b"<</Filter/FlateDecode/Length %d>>stream\n%s\nendstream" % (len(packed), packed)


def _file(objects: Sequence[bytes], password: str) -> bytes:
    identity = b"0123456789abcdef"
    trailer = b"/Root 1 0 R/Info 3 0 R/ID[<%s><%s>]" % (identity.hex().encode(), identity.hex().encode())
    if password:  # 40-bit RC4, revision 2; that the streams are in plain does not matter before it opens
        owner = _rc4(
            hashlib.md5((password.encode() + _PAD)[:32]).digest()[:5], (password.encode() + _PAD)[:32]
        )
        rights = (-4).to_bytes(4, "little", signed=True)
        key = hashlib.md5((password.encode() + _PAD)[:32] + owner + rights + identity).digest()[:5]
        user = _rc4(key, _PAD)
        trailer += b"/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<%s>/U<%s>>>" % (
            owner.hex().encode(), user.hex().encode(),
        )  # fmt: skip
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer<</Size %d%s>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, start)
    return bytes(out)


def _rc4(key: bytes, data: bytes) -> bytes:
    state, j = list(range(256)), 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def paragraph(text: str, style: str = "", *, hidden: bool = False) -> str:
    mark = "<w:rPr><w:vanish/></w:rPr>" if hidden else ""
    named = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{named}<w:r>{mark}<w:t xml:space='preserve'>{escape(text)}</w:t></w:r></w:p>"


def table(rows: Sequence[Sequence[str]]) -> str:
    cells = "".join(
        f"<w:tr>{''.join(f'<w:tc>{paragraph(cell)}</w:tc>' for cell in row)}</w:tr>" for row in rows
    )
    return f"<w:tbl>{cells}</w:tbl>"


FOOTNOTE = '<w:p><w:r><w:t>See the survey</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'


def docx(body: str, *, title: str = "", footnote: str = "", prolog: str = "", **parts: bytes) -> bytes:
    """Return a DOCX with a body of paragraphs and tables; ``parts`` are added under ``word/``."""
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{kind}.document.main+xml"/></Types>'
    )
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    links = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="r1" Type="{}" Target="{}"/></Relationships>'
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", types)
        archive.writestr("_rels/.rels", links.format(f"{office}/officeDocument", "word/document.xml"))
        archive.writestr("word/_rels/document.xml.rels", links.format(f"{office}/footnotes", "footnotes.xml"))
        document = f'<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>'
        archive.writestr("word/document.xml", prolog + document)
        note = f'<w:footnote w:id="2">{paragraph(footnote)}</w:footnote>' if footnote else ""
        archive.writestr("word/footnotes.xml", f'<w:footnotes xmlns:w="{W}">{note}</w:footnotes>')
        if title:
            core = (
                '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"'
                f' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{escape(title)}</dc:title></cp:coreProperties>'
            )
            archive.writestr("docProps/core.xml", core)
        for name, data in parts.items():
            archive.writestr(f"word/{name}.xml", data)
    return out.getvalue()


def epub(chapters: Sequence[str], *, title: str = "A book", encrypted: bool = False) -> bytes:
    """Return an EPUB with one page per chapter, listed in another order than they are read."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        archive.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
        )
        numbers = range(len(chapters))
        items = "".join(
            f'<item id="c{n}" href="text/c%20{n}.xhtml" media-type="application/xhtml+xml"/>'
            for n in reversed(numbers)
        )
        spine = "".join(f'<itemref idref="c{n}"/>' for n in numbers)
        archive.writestr(
            "OEBPS/book.opf",
            '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
            f"<dc:title>{escape(title)}</dc:title></metadata><manifest>{items}</manifest><spine>{spine}</spine>"
            "</package>",
        )
        for number, chapter in enumerate(chapters):
            page = (
                f'<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/>'
                f"</head><body>{chapter}</body></html>"
            )
            archive.writestr(f"OEBPS/text/c {number}.xhtml", page)
        if encrypted:
            archive.writestr(
                "META-INF/encryption.xml",
                '<encryption xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:CipherData>'
                '<enc:CipherReference URI="OEBPS/text/c%200.xhtml"/></enc:CipherData></enc:EncryptedData></encryption>',
            )
    return out.getvalue()
