import math

import pytest

from bench.metrics import difference, figure, figures, first_seen, measure


def test_metrics_of_a_ranking_worked_out_by_hand():
    found = measure(["x", "a", "b", "y", "z", "c"], {"a", "b", "c", "d"})
    assert found["recall@1"] == 0.0
    assert found["recall@2"] == 0.25
    assert found["recall@5"] == 0.5
    assert found["recall@10"] == 0.75
    assert found["hit@1"] == 0.0
    assert found["hit@5"] == 1.0
    assert found["all@5"] == 0.0
    assert found["all@10"] == 0.0
    assert found["mrr@10"] == 0.5
    gained = 1 / math.log2(3) + 1 / math.log2(4) + 1 / math.log2(7)
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4) + 1 / math.log2(5)
    assert found["ndcg@10"] == pytest.approx(gained / ideal)


def test_a_perfect_ranking_scores_one_everywhere_it_can():
    found = measure(["a", "b", "x"], {"a", "b"})
    assert {found[name] for name in ("all@5", "all@10", "ndcg@10", "mrr@10", "recall@2")} == {1.0}
    assert found["recall@1"] == 0.5


def test_an_empty_ranking_scores_zero():
    assert set(measure([], {"a"}).values()) == {0.0}


def test_more_than_ten_relevant_ones_can_still_have_an_ndcg_of_one():
    wanted = [f"d{i}" for i in range(15)]
    assert measure(wanted, set(wanted))["ndcg@10"] == pytest.approx(1.0)


def test_what_stands_at_rank_eleven_counts_for_nothing():
    found = measure([f"x{i}" for i in range(10)] + ["a"], {"a"})
    assert set(found.values()) == {0.0}


def test_a_query_without_relevant_ids_is_refused():
    with pytest.raises(ValueError, match="without relevant"):
        measure(["a"], set())


def test_a_ranking_that_names_an_id_twice_is_refused():
    with pytest.raises(ValueError, match="twice"):
        measure(["a", "a"], {"a"})


def test_sessions_rank_by_their_first_turn():
    assert first_seen(["s2", "s1", "s2", "s3", "s1"]) == ["s2", "s1", "s3"]


def test_the_same_values_and_seed_give_the_same_interval():
    values = [i % 17 / 16 for i in range(60)]
    assert figure(values, 3) == figure(values, 3)
    assert figure(values, 3) != figure(values, 4)


def test_an_interval_holds_the_mean_and_narrows_with_more_queries():
    few, many = figure([0.0, 1.0] * 10), figure([0.0, 1.0] * 500)
    assert few.low < 0.5 < few.high
    assert many.high - many.low < few.high - few.low
    assert many.high - many.low == pytest.approx(2 * 1.96 * 0.5 / math.sqrt(1000), rel=0.1)


def test_equal_values_have_an_interval_of_no_width():
    found = figure([0.5] * 9)
    assert (found.mean, found.low, found.high, found.queries) == (0.5, 0.5, 0.5, 9)


def test_a_paired_difference_sees_what_two_intervals_hide():
    base = [i % 2 * 1.0 for i in range(100)]
    better = [min(1.0, value + 0.1) for value in base]
    assert difference(better, base).low > 0
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        difference(better, base[:-1])


def test_no_queries_give_no_figure():
    with pytest.raises(ValueError, match="No values"):
        figure([])
    assert figures([]) == {}
