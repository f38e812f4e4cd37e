"""Comparing parts, baselines and blend: figures against values worked out by hand."""

import itertools
import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from models.config import Config
from models.evaluation import baselines
from models.evaluation.calibration import N_BINS, calibrate
from models.evaluation.comparison import Comparison, compare, judge, mean_and_interval
from models.evaluation.contestants import BLEND, Contestant, of_model, trained
from models.evaluation.plot import draw
from models.evaluation.split import split_at_random
from models.evaluation.tasks import Evidences, Judged, Task, task_of
from models.feedback import History
from models.interactions import unit_rows
from models.ranking.blend import PARTS, blend
from models.ranking.scoring import evidence_of
from models.training import STAGE_OF_PART, train
from tests.models.papers import ask, history_of, ids_of, training_set

TEXTS = ["tides and tides", "tides of rivers", "rivers", "stones and bones", ""]
SECOND = 1.0


def ticking():
    """A clock on which every look takes a second."""
    return itertools.count(0, SECOND).__next__


def one_person(**wanted: object) -> Task:
    """Ids 100 to 104; the person knows 100 and should find 102 and 104."""
    person = Judged(known=History.of_saved(np.array([100])), relevant=np.array([102, 104]))
    return Task(training=training_set(TEXTS), people=(person,), **wanted)


def fixed(scores: list[float], name: str = "fixed") -> Contestant:
    """Somebody who gives everybody these scores."""
    return Contestant(
        name=name,
        kind="part",
        score=lambda _evidence: np.array(scores, np.float32),
        tie_break=np.arange(len(scores), dtype=np.float32),
    )


def judged(task: Task, *contestants: Contestant, k: int) -> Comparison:
    return judge(task, train(task.training), contestants, k=k, seed=0, clock=ticking())


# ---- Figures ------------------------------------------------------------------------------------


def test_figures_of_one_list():
    outcome = judged(one_person(), fixed([9, 4, 3, 2, 1]), k=2).outcome("fixed")
    assert outcome.recall.tolist() == [0.5]
    found, ideal = 1 / math.log2(3), 1 + 1 / math.log2(3)
    assert outcome.ndcg[0] == pytest.approx(found / ideal)
    assert outcome.curve.tolist() == [0, 0.5, 0.5, 1, 1], "101, 102, 103, 104 and nothing more"
    assert outcome.coverage == pytest.approx(2 / 5)
    assert outcome.ms_per_person == 1000 * SECOND


def test_only_candidates_are_ranked_and_covered():
    task = one_person(allowed=np.array([102, 103, 104]))
    outcome = judged(task, fixed([9, 4, 1, 2, 3]), k=1).outcome("fixed")
    assert outcome.curve.tolist() == [0.5, 0.5, 1]
    assert outcome.coverage == pytest.approx(1 / 3)


def test_what_is_held_back_for_another_purpose_is_not_ranked():
    person = replace(one_person().people[0], excluded=np.array([101]))
    task = replace(one_person(), people=(person,))
    assert judged(task, fixed([9, 4, 3, 2, 1]), k=1).outcome("fixed").recall.tolist() == [0.5]


def test_papers_without_words_have_no_part_in_diversity():
    model = train(training_set(TEXTS))
    unit = unit_rows(model.content.weights).toarray()
    lists = judged(one_person(), fixed([0, 4, 3, 0, 9], "empty"), fixed([9, 9, 1, 2, 3]), k=3)
    assert lists.outcome("empty").diversity[0] == pytest.approx(1 - unit[1] @ unit[2], abs=1e-6)
    silent = replace(one_person(), training=training_set([""] * 5))
    assert math.isnan(judged(silent, fixed([1, 2, 3, 4, 5]), k=3).outcome("fixed").diversity[0])


def test_equal_scores_come_in_the_order_of_the_tie_break():
    outcome = judged(one_person(), fixed([0, 0, 0, 0, 0]), k=1).outcome("fixed")
    assert outcome.curve.tolist() == [0.5, 0.5, 1, 1, 1], "104, 103, 102, 101"


def test_nobody_to_judge_is_an_error():
    with pytest.raises(ValueError, match="nobody"):
        judged(replace(one_person(), people=()), fixed([1] * 5), k=1)


def test_the_interval_of_one_person_is_none():
    mean, low, high = mean_and_interval(np.array([0.25, np.nan], np.float32), seed=0)
    assert mean == 0.25
    assert math.isnan(low)
    assert math.isnan(high)
    mean, low, high = mean_and_interval(np.array([0.0, 1.0] * 50, np.float32), seed=0)
    assert low < mean == 0.5 < high


# ---- Contestants --------------------------------------------------------------------------------


def crowd(n_people: int = 24) -> Evidences:
    """Two circles of readers, each of whom has four of the ten papers of their circle."""
    rng = np.random.default_rng(1)
    own = [rng.permutation(10)[:4] + 100 + 10 * (person % 2) for person in range(n_people)]
    return Evidences(
        user_ids=np.repeat(np.arange(n_people), 4),
        history=History.of_saved(np.concatenate(own)),
    )


def crowded_task(texts: list[str] | None = None) -> Task:
    everything = crowd()
    rng = np.random.default_rng(2)
    split = split_at_random(everything.user_ids, everything.history, rng=rng)
    known = everything.chosen(split.known)
    words = texts or [f"{'tides' if i < 10 else 'stones'} number{i % 5}" for i in range(20)]
    training = training_set(words, user_ids=known.user_ids, history=known.history)
    return task_of(training, known, everything.chosen(split.hidden))


@pytest.fixture(scope="module")
def compared() -> Comparison:
    return compare(crowded_task(), k=3, seed=0, clock=ticking())


def test_everything_is_compared_and_the_blend_comes_last(compared):
    expected = [*baselines.BASELINES, *PARTS, BLEND]
    assert [outcome.name for outcome in compared.outcomes] == expected
    assert compared.n_people == 24
    for outcome in compared.outcomes:
        assert np.all((outcome.recall >= 0) & (outcome.recall <= 1)), outcome.name
        assert np.all(np.diff(outcome.curve) >= 0), outcome.name
        assert outcome.curve[2] == pytest.approx(outcome.recall.mean()), outcome.name


def test_the_blend_finds_the_circle_of_each_reader(compared):
    chance = 3 / 17
    assert compared.outcome(BLEND).recall.mean() > chance
    assert compared.outcome(BLEND).recall.mean() > compared.outcome("popularity").recall.mean()


def test_the_same_seed_gives_the_same_figures(compared):
    again = compare(crowded_task(), k=3, seed=0, clock=ticking())
    for one, other in zip(compared.outcomes, again.outcomes, strict=True):
        assert np.array_equal(one.recall, other.recall), one.name


def test_without_any_text_there_are_figures_for_all_but_diversity():
    compared = compare(crowded_task([""] * 20), k=3, seed=0, clock=ticking())
    assert all(np.all(np.isfinite(one.ndcg)) for one in compared.outcomes)
    assert all(np.all(np.isnan(one.diversity)) for one in compared.outcomes)


def test_the_parts_are_those_of_the_blend_that_serves():
    model = train(training_set(TEXTS))
    evidence = evidence_of(model, history_of(100, 103, ratings=[0, 1]))
    scores = {one.name: one.score(evidence) for one in of_model(model)}
    served = blend(model, evidence)
    assert np.array_equal(scores.pop(BLEND), served.scores)
    assert list(scores) == list(PARTS)
    assert all(np.array_equal(scores[name], served.raw[name]) for name in PARTS)


def test_the_blend_ranks_as_a_slate_without_diversity():
    task = crowded_task()
    model, contestants = trained(task, Config(), seed=0, clock=ticking())
    person = task.people[0]
    slate = ids_of(ask(model, person.known, 5, diversity=0.0))
    alone = replace(task, people=(replace(person, relevant=np.array(slate[:1])),))
    ranked_first = judge(alone, model, contestants, k=1, seed=0, clock=ticking()).outcome(BLEND)
    assert ranked_first.recall.tolist() == [1.0]


def test_fitting_is_timed_by_the_stages_of_training():
    stages: list[str] = []
    _, contestants = trained(
        crowded_task(),
        Config(),
        seed=0,
        clock=ticking(),
        progress=lambda stage, _: stages.append(stage),
    )
    times = {one.name: one.fit_s for one in contestants}
    assert set(STAGE_OF_PART) <= set(PARTS)
    for part, stage in STAGE_OF_PART.items():
        assert times[part] == stages.count(stage) * SECOND, "each report lasts until the next"
    assert times[BLEND] == (len(stages) - 1) * SECOND, "from the first report to the last"


def test_knn_is_the_cosine_with_shrinkage():
    rng = np.random.default_rng(3)
    cells = (rng.random((30, 300)) < 0.2).astype(np.float32)
    together = cells.T @ cells
    lengths = np.sqrt(cells.sum(axis=0))
    likeness = together / (np.outer(lengths, lengths) + baselines.KNN_SHRINKAGE)
    rows = rng.permutation(300)[: baselines.KNN_BLOCK + 9]
    scores = baselines.item_knn(sp.csr_matrix(cells))(rows)
    assert scores == pytest.approx(likeness[rows].sum(axis=0), rel=1e-5)


# ---- Tasks --------------------------------------------------------------------------------------


def evidences(*rows: tuple[int, int], **columns: object) -> Evidences:
    return Evidences(
        user_ids=np.array([person for person, _ in rows], np.int64),
        history=history_of(*(paper for _, paper in rows), **columns),
    )


def test_a_task_is_what_is_liked_and_neither_known_nor_forbidden():
    known = evidences((1, 100), (1, 101), (2, 100), (3, 100), ratings=[0, 0, 0, 1])
    hidden = evidences(
        *[(1, 101), (1, 102), (1, 103), (1, 104), (2, 104), (3, 102), (9, 102)],
        ratings=[0, 0, 1, 0, 0, 0, 0],
    )
    task = task_of(training_set(TEXTS), known, hidden, allowed=np.array([101, 102, 103]))
    (person,) = task.people
    assert person.known.item_ids.tolist() == [100, 101]
    assert person.relevant.tolist() == [102], "not 101, known; 103, disliked; 104, not allowed"
    assert task.n_unknown == 2, "of 3 only a dislike is known, of 9 nothing"
    assert task.n_nothing_to_find == 1
    assert (task.n_known_already, task.n_to_find) == (1, 1)


@given(st.lists(st.integers(1, 4), max_size=30), st.floats(0.05, 0.95), st.integers(0, 3))
def test_nobody_loses_everything_at_random(people, share, seed):
    users = np.array(people, np.int64)
    history = History.of_saved(np.arange(len(users)))
    rng = np.random.default_rng(seed)
    split = split_at_random(users, history, rng=rng, share=share)
    for user in set(people):
        n, n_hidden = people.count(user), int(split.hidden[users == user].sum())
        assert n_hidden == (0 if n < 3 else min(n - 1, max(1, round(share * n))))


# ---- Calibration --------------------------------------------------------------------------------


def test_scores_that_tell_everything_are_calibrated():
    scores = np.tile(np.array([3, 2, 1], np.float32), (40, 1))
    found = calibrate(scores, scores > 2.5, rng=np.random.default_rng(0))
    assert found is not None
    assert found.error == pytest.approx(0, abs=1e-6)
    assert (found.n_fitted, found.n_people) == (20, 20)
    assert (found.n_papers.sum(), len(found.n_papers)) == (60, N_BINS)
    assert found.observed[0] == 0
    assert found.observed[-1] == 1


def test_scores_that_tell_nothing_predict_the_mean_rate():
    rng = np.random.default_rng(0)
    scores = rng.random((400, 50), np.float32)
    scores[:, 40:] = np.nan
    saved = rng.random(scores.shape) < 0.3
    found = calibrate(scores, saved, rng=rng)
    assert found is not None
    assert found.n_papers.sum() == 200 * 40, "what is not there is not counted"
    assert found.predicted == pytest.approx(0.3, abs=0.05)
    assert np.all(np.diff(found.predicted) >= 0)


def test_a_few_people_are_too_few_to_calibrate():
    few = np.ones((9, 5), np.float32)
    assert calibrate(few, few > 0, rng=np.random.default_rng(0)) is None


# ---- Plot ---------------------------------------------------------------------------------------

SVG = "{http://www.w3.org/2000/svg}"


def test_the_plot_has_a_curve_and_words_for_everything(compared):
    root = ET.fromstring(draw(compared, about="24 people & <20> papers."))
    curves = [group for group in root.iter(f"{SVG}g") if group.get("class") == "curve"]
    said = [curve.findtext(f"{SVG}title", "") for curve in curves]
    assert [text.partition(":")[0] for text in said] == [one.name for one in compared.outcomes]
    assert all(curve.find(f"{SVG}polyline").get("points") for curve in curves)
    in_words = root.findtext(f"{SVG}desc")
    assert in_words.startswith("24 people & <20> papers.")
    for one in compared.outcomes:
        assert f"{one.name} {one.recall.mean():.3f}" in in_words
    assert root.get("role") == "img"
    ids = {element.get("id") for element in root.iter()}
    assert set(root.get("aria-labelledby").split()) <= ids
    assert len(root.findall(f"{SVG}circle")) == len(compared.calibration.predicted)


def test_the_plot_needs_nothing_but_itself_and_can_be_read_in_the_dark(compared):
    text = draw(compared, about="")
    assert "prefers-color-scheme: dark" in text
    assert not re.search(r"<script|href|url\(|@import|<foreignObject", text)
    assert "nan" not in text


def test_a_plot_of_almost_nothing_is_whole():
    tiny = judged(one_person(allowed=np.array([104])), fixed([1] * 5), k=1)
    root = ET.fromstring(draw(tiny, about="One."))
    assert "Too few people" in root.findtext(f"{SVG}desc")
