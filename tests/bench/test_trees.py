import io
import tarfile
from pathlib import Path

import pytest

from bench.fts5 import Fts5, fts5_passages
from bench.texts import SMALL, generate, headings, known_items, unpack, varied, words_of


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


NOTES = {
    "a.md": "# Heron watching\n\nAt the mill.\n\n## The Old Mill Beside Quiet Rivers\n\nText.\n",
    "sub/b.md": "# Sourdough\n\n```\n# not a heading\n```\n\n## Shared heading\n\nText.\n",
    "sub/c.md": "## Shared heading\n\nOther text.\n",
}


def test_headings_are_lower_cased_without_marks_and_without_those_in_fences():
    text = "# The `Drop` **Trait** {#drop}\n\n~~~\n# no\n~~~\n## See [the book](https://x.y)\n### and the\n"
    assert headings(text) == ["the drop trait", "see the book"]


def test_a_known_item_is_a_heading_of_one_file_less_one_content_word_when_it_has_more_than_three(
    tmp_path: Path,
):
    tree = ("notes", write(tmp_path, NOTES))
    found = {
        item.path: item.query
        for item in known_items([tree], 10, 1)
        if "mill" in item.query or "river" in item.query
    }
    (query,) = found.values()
    words = query.split()
    assert words[0] == "the"
    assert len([word for word in words if word not in SMALL]) == 4
    others = {item.query for item in known_items([tree], 10, 1)}
    assert {"heron watching", "sourdough"} <= others
    assert "shared heading" not in others


def test_known_items_depend_on_the_seed_alone(tmp_path: Path):
    tree = generate(tmp_path, 3, files=5)
    assert known_items([tree], 8, 1) == known_items([tree], 8, 1)
    assert known_items([tree], 8, 1) != known_items([tree], 8, 2)


def test_a_varied_tree_has_so_many_files_of_the_sections_of_another_in_new_words(tmp_path: Path):
    tree = generate(tmp_path, 3, files=5)
    name, folder = varied(tree, tmp_path, 1, files=12, size=2_000)
    sizes = [file.stat().st_size for file in folder.rglob("*.md")]
    assert (name, len(sizes)) == ("generated-large", 12)
    assert 300 < min(sizes) < max(sizes) < 4_500
    assert len(known_items([(name, folder)], 20, 1)) == 20
    assert set(words_of([(name, folder)])) & set(words_of([tree]))


def test_an_archive_and_a_folder_give_the_same_tree(tmp_path: Path):
    source = write(tmp_path / "source" / "notes", NOTES)
    with tarfile.open(tmp_path / "notes.tar.gz", "w:gz") as archive:
        archive.add(source, ".")
    ((_, one),) = unpack(source, tmp_path / "one")
    ((name, two),) = unpack(tmp_path / "notes.tar.gz", tmp_path / "two")
    assert name == "notes"
    read = [{f.relative_to(t).as_posix(): f.read_text() for f in t.rglob("*.md")} for t in (one, two)]
    assert read == [NOTES, NOTES]


def test_a_tree_that_is_not_there_or_holds_no_markdown_is_refused(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match="There is no tree"):
        unpack(tmp_path / "absent", tmp_path / "into")
    with pytest.raises(FileNotFoundError, match="no Markdown"):
        unpack(write(tmp_path / "text", {"a.txt": "x"}), tmp_path / "into")


@pytest.mark.parametrize("name", ["../outside.md", "/outside.md", "a/../../outside.md"])
def test_an_archive_that_would_write_outside_of_its_folder_is_refused(name: str, tmp_path: Path):
    with tarfile.open(tmp_path / "bad.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.size = 4
        archive.addfile(member, io.BytesIO(b"text"))
    with pytest.raises(ValueError, match="no plain file below its own root"):
        unpack(tmp_path / "bad.tar.gz", tmp_path / "into" / "deeper")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["bad.tar.gz"]


def test_an_archive_with_a_link_is_refused(tmp_path: Path):
    with tarfile.open(tmp_path / "bad.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("link.md")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/hostname"
        archive.addfile(member)
    with pytest.raises(ValueError, match=r"'link\.md'"):
        unpack(tmp_path / "bad.tar.gz", tmp_path / "into")


def test_words_are_drawn_with_their_repetitions(tmp_path: Path):
    tree = ("notes", write(tmp_path, {"a.md": "heron heron mill 42"}))
    assert sorted(words_of([tree])) == ["heron", "heron", "mill"]


def test_bare_fts5_finds_a_passage_and_survives_queries_without_words(tmp_path: Path):
    notes = write(tmp_path / "notes", NOTES)
    base = Fts5(tmp_path / "base.db")
    base.sync(notes)
    assert base.search("old mill", 1) == ["a.md"]
    assert base.search('"-*', 5) == []
    (notes / "a.md").write_text("A crane stands here.\n", encoding="utf-8")
    (notes / "sub" / "b.md").unlink()
    base.sync(notes)
    assert base.search("crane old mill", 5) == ["a.md"]
    assert base.search("sourdough", 5) == []
    base.close()


def test_passages_of_the_baseline_break_at_headings_and_keep_every_word():
    text = "# One\n\nfirst\n\nsecond\n# Two\n\n" + "third " * 300
    found = fts5_passages(text)
    assert found[0] == "# One\n\nfirst\n\nsecond"
    assert " ".join(" ".join(found).split()) == " ".join(text.split())
