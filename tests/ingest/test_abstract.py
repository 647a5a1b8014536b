"""Abstract: L0 and L1 are taken from the memory, fit their limits, and cut nothing in two."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from scrubjay.text.summaries import L0_TOKENS, L1_TOKENS, abstract_of, overview_of
from scrubjay.text.tokenizer import index_terms

PROSE = (
    "The store keeps every memory in one file. Readers never wait for the writer, because each of them sees "
    "the snapshot it began with. The writer merges small segments in the background. Deleted rows are dropped "
    "at the next merge, and their bytes are overwritten. A crash between two merges loses nothing that was "
    "committed. Backups copy the file while it is open. "
)
MORE = (
    "Every reader asks under one scope, and a scope names a tenant, an owner and the groups that someone is in. "
    "Statistics are sums over what this scope may see, so that no count tells of a stranger's text. Old files "
    "open under new code; new files are refused by old code with a sentence that says which version is needed. "
    "Nothing is fetched from a network unless somebody configured a remote model by its address."
)
WORDS = (
    "word ",
    "don't ",
    "snake_case ",
    "v1.2.3 ",
    "x" * 500 + " ",
    ". ",
    "! ",
    "\n",
    "\n\n",
    "\r\n",
    "\u2028",
)
MARKS = (
    *(
        "**bold** ",
        "`code` ",
        "[link](http://a.b/c) ",
        "# Title\n",
        "- item\n",
        "```py\n",
        "```\n",
        "> said\n",
    ),
    *(
        "| a | b |\n|---|---|\n",
        "    x = 1\n",
        "[secret:password] ",
        "<!-- note -->",
        "<b>",
        "*",
        "_",
        "`",
        "[[",
    ),
)
SCRIPTS = (
    *(
        "記憶を保存する",
        "。",
        "한국어 문장 ",
        "ภาษาไทย",
        "हिन्दी में ",
        "é",
        "e\u0301 ",
        "🇩🇪🇫🇷",
        "\ud800",
        "１２ ",
    ),
    "👩\u200d👩\u200d👧 ",
)
PIECES = st.sampled_from((*WORDS, *MARKS, *SCRIPTS))


def summarise_text(
    title: str, content: str, heading_path: tuple[str, ...] = ()
) -> tuple[str | None, str | None]:
    return abstract_of(title, content, heading_path), overview_of(title, content, heading_path)


def size(text: str | None) -> int:
    return index_terms(text or "").length


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=120).map("".join))
@example("x" * 20_000)
@example("a\u0301" * 3_000)
@example("**a** " * 400)
@example("[" * 3_000 + "a b " * 100)
@example("word " * 27 + "_한국어")
@example("word " * 26 + "हिन्दी में हिन्दी में _**b**")
def test_both_fit_their_limits_and_are_left_out_where_the_content_is_that_short(content: str) -> None:
    phrase, paragraph = summarise_text("t", content)
    assert size(phrase) <= L0_TOKENS
    assert size(paragraph) <= L1_TOKENS
    if size(content) <= L0_TOKENS:
        assert phrase is None
    if size(content) <= L1_TOKENS:
        assert paragraph is None


def test_a_turn_of_a_few_words_has_neither() -> None:
    assert summarise_text("", "user: yes") == (None, None)
    assert summarise_text("", "") == (None, None)


def test_the_phrase_is_the_first_sentence_and_the_paragraph_goes_on_in_order() -> None:
    phrase, paragraph = summarise_text("", PROSE * 3)
    assert phrase is not None
    assert phrase.startswith("The store keeps every memory in one file.")
    assert paragraph is not None
    assert paragraph.index("Readers") < paragraph.index("writer merges") < paragraph.index("Backups")


def test_what_was_said_is_not_said_again() -> None:
    _, paragraph = summarise_text("", PROSE * 3 + "Nobody needs anything besides.")
    assert paragraph is not None
    assert paragraph.count("Readers never wait") == 1
    assert paragraph.endswith("Nobody needs anything besides.")


def test_marks_of_markdown_are_taken_off_and_marks_of_secrets_stay() -> None:
    content = (
        "**Bold** and `code_name` of [the page](https://example.org/a_(b)) and [[Topic|a topic]], "
        "with [secret:password] and [private] and snake_case, **kept** as it is, and 2 * 3 * 4. "
    )
    phrase, _ = summarise_text("", content + PROSE)
    assert phrase == (
        "Bold and code_name of the page and a topic, with [secret:password] and [private] and snake_case, "
        "kept as it is, and 2 * 3 * 4. …"
    )


def test_a_heading_that_is_the_title_is_passed_over_and_another_leads_its_text() -> None:
    content = "# Stores\n\n" + PROSE + "\n\n## Backups\n\nCopy it to a second disk each night. " + PROSE
    phrase, paragraph = summarise_text("Stores", content, ("Guide", "Stores"))
    assert phrase is not None
    assert phrase.startswith("The store")
    assert paragraph is not None
    assert "Stores" not in paragraph
    assert "Backups: Copy it" in paragraph


def test_of_a_fence_its_first_line_is_taken_and_of_a_table_its_header() -> None:
    fence = "```sh\nscrubjay sync notes\nscrubjay search " + "word " * 40 + "\n```\n"
    table = "| name | size |\n|---|---|\n" + "| a | 1 |\n" * 40
    _, paragraph = summarise_text("", f"Run this once.\n\n{fence}\n{table}\n" + PROSE + MORE)
    assert paragraph is not None
    assert paragraph.startswith("Run this once. scrubjay sync notes … name, size … The store keeps")


def test_code_alone_is_told_by_its_comments_and_first_lines() -> None:
    code = '"""Keep rows by key."""\n\nimport os\n\n\ndef keep(row):\n    """Store it."""\n    rows[row.key] = row\n'
    more = "\n".join(f"def f{n}(a, b):\n    return a + {n} * b\n" for n in range(40))
    phrase, _ = summarise_text("keep.py", code + more)
    assert phrase is not None
    assert phrase.startswith("Keep rows by key. import os")


def test_a_short_sentence_stays_before_the_one_that_explains_it() -> None:
    phrase, _ = summarise_text("", "Mantis or Kestrel? Mantis rejected. Reason: nobody answered. " + PROSE)
    assert phrase is not None
    assert phrase.startswith("Mantis or Kestrel? Mantis rejected. Reason: nobody answered. The store")


def test_the_items_of_a_list_keep_their_numbers_and_boxes() -> None:
    content = "1. Mantis raus. Grund: drei Ausfälle.\n2) Kessler bekommt ihn.\n- [x] Absage\n- [ ] Vertrag\n- Ende\n"
    phrase, paragraph = summarise_text("", content + PROSE + MORE)
    assert paragraph is not None
    assert paragraph.startswith(
        "1. Mantis raus. Grund: drei Ausfälle. 2) Kessler bekommt ihn. [x] Absage; [ ] Vertrag; Ende The store"
    )
    assert phrase is not None
    assert phrase.endswith("…")


def test_every_cut_is_marked() -> None:
    _, paragraph = summarise_text("", f"{PROSE * 2}Nobody needs it. {PROSE}{MORE}")
    assert paragraph is not None
    assert "while it is open. … Nobody needs it. … Every reader asks" in paragraph
    assert paragraph.endswith("…")


def test_a_sentence_longer_than_the_room_is_cut_at_a_pause_between_words() -> None:
    long = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    phrase, _ = summarise_text("", f"{long}seventeen eighteen, then " + long * 3)
    assert phrase == long + "seventeen eighteen…"


def test_a_cut_leaves_what_is_drawn_as_one_character_whole() -> None:
    family = "👩\u200d👩\u200d👧"
    phrase, _ = summarise_text("", f"a{family} " * 100)
    assert phrase is not None
    assert phrase.removesuffix("…").replace(f"a{family}", "").strip() in ("", "a")
    thai, _ = summarise_text("", "ที่" * 100)
    assert thai is not None
    assert set(thai.removesuffix("…").split("ที่")) == {""}


def test_chinese_counts_by_characters_and_ends_at_its_own_marks() -> None:
    told = "数据库把所有的记忆放在一个文件里。读者从不等待写入者，因为它们各自看到自己的快照。"
    phrase, paragraph = summarise_text("", told * 6)
    assert phrase == "数据库把所有的记忆放在一个文件里。读者从不等待写入者…"
    assert paragraph is not None
    assert paragraph.startswith("数据库把所有的记忆放在一个文件里。读者从不")


def test_a_word_too_long_for_the_room_is_left_out_whole() -> None:
    blob = "QUJD" * 4_000
    phrase, paragraph = summarise_text("", f"{blob} {PROSE * 3}")
    assert "QUJD" not in f"{phrase}{paragraph}"
