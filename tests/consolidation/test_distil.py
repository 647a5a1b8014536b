"""What a group says in fewer words."""

from hypothesis import given, settings
from hypothesis import strategies as st
from observations import DAY, HOUR, NOW, observation, passage, turn

from scrubjay.consolidation.digest import (
    MAX_CODE,
    MAX_DIGEST_TOKENS,
    MAX_SHARE,
    MIN_DIGEST_TOKENS,
    distil_digest,
    verbatim_sentences,
)
from scrubjay.models.records import EventTime, Record
from scrubjay.text.display import estimate_tokens

FILLER = (
    "Thanks for asking about that, there are many things that one could say about it here. "
    "It is always a good idea to think about what you would like to do and to take your time. "
)
TALK = [
    turn("I moved to Lisbon in March because my sister Inês lives there. Any tips?", 0),
    turn(FILLER * 3 + "The Alfama district has steep lanes.", 1, role="assistant"),
    turn("Good to know. I paid 1,250 euros for the flat in Graça.", 2),
    turn(FILLER * 4 + "Rents in Graça are high.", 3, role="assistant"),
]


def flat(text: str) -> str:
    return " ".join(text.split())


def test_a_digest_quotes_speakers_in_order() -> None:
    digest = distil_digest(TALK)
    assert digest is not None
    first, *_, last = digest.text.split("\n")
    assert first.startswith("user: I moved to Lisbon in March because my sister Inês lives there.")
    assert "user: " in last or "assistant: " in last
    assert "I paid 1,250 euros for the flat in Graça." in digest.text
    assert estimate_tokens(digest.text) <= MAX_SHARE * sum(estimate_tokens(one.content) for one in TALK)


def test_a_digest_leaves_out_german_acknowledgements() -> None:
    said = "Ich habe den Tagessatz erhöht, er ist jetzt 1.040 Euro statt 960. " + FILLER * 3
    replies = ("Alles klar.", "Verstanden, alles notiert.", "Einverstanden.")
    for reply in replies:
        digest = distil_digest([turn(said, 0), turn(reply, 1, role="assistant")])
        assert digest is not None
        assert "1.040 Euro statt 960" in digest.text
        assert reply not in digest.text


def test_informative_sentences_replace_filler() -> None:
    records = [
        turn(FILLER * 4 + "The Kumiko lattice needs hinoki cypress and a dozuki saw.", 0, role="assistant")
    ]
    digest = distil_digest(records)
    assert digest is not None
    assert [one.text for one in digest.sentences][
        -1
    ] == "The Kumiko lattice needs hinoki cypress and a dozuki saw."


def test_a_digest_has_the_request_and_the_solution_and_no_acknowledgement() -> None:
    talk = [
        ("user", "The staging deploy hangs since Friday, can you look at job deploy-staging?"),
        ("assistant", f"I'll look. {FILLER} Shall I restart the runner first?"),
        ("user", "ok"),
        ("assistant", "It is a Metabase session that is idle in transaction and holds a lock. " + FILLER),
        ("user", "great, next"),
        ("assistant", "Add this:\n\n```\nALTER ROLE metabase SET idle_timeout = '15min';\n```\n"),
        ("user", "lovely, thanks"),
    ]
    digest = distil_digest([turn(text, n, role=role) for n, (role, text) in enumerate(talk)])
    assert digest is not None
    first, *rest = digest.text.split("\n")
    assert first == "user: The staging deploy hangs since Friday, can you look at job deploy-staging?"
    assert all(line.startswith("assistant: ") for line in rest)
    assert "Metabase session that is idle in transaction" in digest.text
    assert "ALTER ROLE metabase SET idle_timeout = '15min';" in digest.text
    assert not {"I'll look.", "ok", "great, next", "lovely, thanks"} & {one.text for one in digest.sentences}


def test_a_repeated_sentence_occurs_once_with_all_sources() -> None:
    said = "The deploy of Heron failed because the registry was full."
    records = [turn(f"{said} {FILLER}", n, role="assistant") for n in range(4)]
    digest = distil_digest(records)
    assert digest is not None
    assert digest.text.count("registry was full") == 1
    own = next(one for one in digest.sentences if one.text == said)
    assert own.sources == tuple(record.id for record in records)


def test_similar_records_give_one_sentence_unless_a_number_differs() -> None:
    def told(*endings: str) -> list[str]:
        head = "The nightly backup of the Heron warehouse bucket to Frankfurt finished cleanly"
        records = [turn(f"{head} {end} {FILLER * 8}", n, role="tool") for n, end in enumerate(endings)]
        digest = distil_digest(records)
        assert digest is not None
        return [one.text for one in digest.sentences if one.text.startswith(head)]

    assert len(told("again.", "today.", "overnight.")) == 1
    assert len(told("in 31 minutes.", "in 94 minutes.", "in 94 minutes.")) == 2


def test_a_short_group_has_no_digest() -> None:
    assert distil_digest([]) is None
    assert distil_digest([turn("Yes, thanks.", 0), turn("You are welcome!", 1, role="assistant")]) is None
    assert distil_digest([turn("```\n" + "let x = 1;\n" * 200 + "```", 0)]) is None


def test_sentences_of_several_days_carry_their_day() -> None:
    records = [
        passage(f"Met Mara about the Heron mooring, talk {n}. {FILLER * 2}", "d.md", n, days=40 - n)
        for n in range(3)
    ]
    digest = distil_digest(records)
    assert digest is not None
    assert digest.text.startswith("2026-01-")
    assert "user" not in digest.text
    same = distil_digest([turn(one.content, n) for n, one in enumerate(records)])
    assert same is not None
    assert "2026" not in same.text


def test_a_digest_has_its_sources_tags_commonest_title_and_time() -> None:
    at = NOW - 30 * DAY
    records = [
        turn("I moved to Lisbon in March. " + FILLER, 0, tags=("home",), title="Moving"),
        turn("My sister Inês lives in Graça. " + FILLER, 1, tags=("family", "home"), title="Moving"),
        turn(
            "The flat costs 1,250 euros. " + FILLER,
            2,
            title="Rent",
            event=EventTime(at + HOUR, at + 2 * HOUR),
        ),
    ]
    digest = distil_digest(records)
    assert digest is not None
    assert (digest.tags, digest.title) == (("family", "home"), "Moving")
    assert (digest.start, digest.end) == (at, at + 2 * HOUR)


def test_a_digest_is_no_longer_than_a_passage() -> None:
    words = [f"Heron{n} sails to Port{n} with cargo{n}." for n in range(900)]
    records = [turn(" ".join(words[n::30]), n, role="assistant") for n in range(30)]
    digest = distil_digest(records)
    assert digest is not None
    assert MAX_DIGEST_TOKENS - 30 <= estimate_tokens(digest.text) <= MAX_DIGEST_TOKENS


def test_a_text_without_spaces_is_summarised() -> None:
    filler = "それはとても良い考えだと思いますので、ゆっくり考えてみてください。"
    records = [
        turn("三月にリスボンへ引っ越しました。", 0),
        *(
            turn(filler * 3 + f"アルファマ地区は坂が多いです、第{n}回。", n, role="assistant")
            for n in range(1, 5)
        ),
    ]
    digest = distil_digest(records)
    assert digest is not None
    assert digest.text.startswith("user: 三月にリスボンへ引っ越しました。")
    assert digest.text.count(filler) <= 1


WORDS = st.sampled_from(
    "heron lisbon mara 31 94 the of boat café 東京 deploy failed because registry I we so".split()
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=12).map(lambda words: " ".join(words).capitalize() + ".")
TEXTS = st.lists(st.one_of(SENTENCES, st.text(max_size=40)), min_size=1, max_size=12).map(" ".join)


@settings(max_examples=80, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=8), st.integers(0, 200), st.randoms())
def test_a_digest_keeps_to_its_budget_and_its_sources(texts: list[str], budget: int, mixed) -> None:
    roles = ("user", "assistant", None)
    records = [observation(text, n, role=roles[n % 3], turn=n, session="s") for n, text in enumerate(texts)]
    digest = distil_digest(records, budget)
    if digest is None:
        return
    held = {record.id: record for record in records}
    assert (
        MIN_DIGEST_TOKENS
        <= estimate_tokens(digest.text)
        <= min(budget, MAX_SHARE * sum(estimate_tokens(text) for text in texts))
    )
    for sentence in digest.sentences:
        assert sentence.text in digest.text
        assert sentence.sources
        for source in sentence.sources:
            assert sentence.text in list(verbatim_sentences(held[source].content, MAX_CODE))
    again = list(records)
    mixed.shuffle(again)
    assert distil_digest(again, budget) == digest


def test_every_sentence_is_verbatim() -> None:
    text = "## Plan\n\n1. **Buy** the `dozuki`  saw\n   at Mara's for 90 euros.\n> She said “no”. Why?\n\n"
    text += "| a | b |\n|---|---|\n| c | d |\n"
    records: list[Record] = [turn(text + FILLER * 5, 0)]
    digest = distil_digest(records)
    assert digest is not None
    for sentence in digest.sentences:
        assert flat(sentence.text) in flat(text + FILLER * 5)
