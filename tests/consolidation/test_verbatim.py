"""The sentences of a text as they stand."""

import pytest

from scrubjay.consolidation.digest import verbatim_sentences


def told(text: str) -> list[str]:
    return list(verbatim_sentences(text))


def test_items_and_rows_are_sentences_without_their_marks() -> None:
    assert told("- Oak.\n- [ ] Buy pine\n1. Ash\n> Elm\n") == ["Oak.", "Buy pine", "Ash", "Elm"]
    assert told("| a | b |\n|---|---|\n| c | d |\n") == ["| c | d |"]


def test_headings_code_and_list_introductions_are_skipped() -> None:
    text = "---\ntags: a\n---\n# Trees\n\n**Next steps**\n\nThese are:\n\n- Oak\n\n```sh\nrm -r x\n```\n"
    assert told(text) == ["Oak"]
    assert told("- Run it:\n  ```sh\n  rm -r x\n  ```\n- Done.\n") == ["Done."]


def test_wrapped_lines_are_joined_and_log_lines_are_not() -> None:
    assert told("We met in the harbour and talked about all the old boats until\nMara left.") == [
        "We met in the harbour and talked about all the old boats until Mara left."
    ]
    assert told("10:01 started the build of Heron with all of its parts, on two cores\n10:02 failed\n") == [
        "10:01 started the build of Heron with all of its parts, on two cores",
        "10:02 failed",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Mara and J. Ek agree, e.g. Monday.",
        "It costs 3.50 vs. Bob's 4.",
        "See v1.2. x",
        "Ship it to Hafenstr. 9, 27570 Bremerhaven.",
        "Wir fliegen vom 28. Dezember bis 3. Januar nach Lissabon.",
        "Am 1./2. Mai ist zu.",
        "Die Prüfung ist am 12. Mai, nicht am 3. juni.",
        "Kd.-Nr. K-2041 (seit Feb. 2019. Immer angeben!) steht auf der Rechnung.",
    ],
)
def test_abbreviations_do_not_end_a_sentence(text: str) -> None:
    assert told(text) == [text]


def test_a_number_ends_a_sentence_where_no_month_follows() -> None:
    assert told("Wir sind 3. Januar wird kalt. Es kostet 12. Emils Gips ist ab.") == [
        "Wir sind 3. Januar wird kalt.",
        "Es kostet 12.",
        "Emils Gips ist ab.",
    ]


def test_marks_of_other_scripts_end_a_sentence() -> None:
    assert told("引っ越しました。坂が多い！「はい。」") == ["引っ越しました。", "坂が多い！", "「はい。」"]


def test_closing_marks_stay_with_their_sentence() -> None:
    assert told('She said "no." Then **left.** So?') == ['She said "no."', "Then **left.**", "So?"]
