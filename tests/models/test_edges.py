"""Data at the edge of what there can be."""

import subprocess
import sys
import tracemalloc
from dataclasses import Field, fields

import numpy as np
import pytest

from models.artifacts.registry import Registry, check_fit
from models.collaborative import neighbours
from models.config import LARGEST, Config
from models.feedback import History
from models.ids import IdIndex
from models.ranking.scoring import evidence_of
from models.ranking.twins import twins
from models.recommending import Slate, related
from models.training import TrainingSet, UnfitData, train
from tests.models.papers import IDS, PAPERS, ask, history_of, ids_of, saved, titles, training_set


def people_who_save(*lists: list[int]) -> dict[str, object]:
    items = np.concatenate([np.asarray(ids, np.int64) for ids in lists])
    owners = np.repeat(np.arange(len(lists)), [len(ids) for ids in lists])
    return {"user_ids": owners, "history": History.of_saved(items)}


def assert_sane(slate: Slate) -> None:
    """Numbers that mean something: not NaN, and not the -3.4e38 of a paper that fills a gap."""
    numbers = [[item.score, *item.parts.values(), item.propensity] for item in slate.items]
    assert np.all(np.abs(np.array(numbers)) < 1e3)


def test_no_papers():
    empty = train(training_set([]))
    assert ask(empty, History.empty()).items == ()
    assert ask(empty, history_of(1, 2)).items == ()
    assert related(empty, 1, limit=3) == ()


def test_no_papers_then_some():
    undated = np.full(len(PAPERS), np.nan, np.float32)
    ids = np.array(list(IDS.values()))
    grown = train(training_set([])).extend(ids, list(PAPERS.values()), undated, undated)
    assert ids_of(ask(grown, saved("moat"), 1)) == [IDS["ebb"]]


def test_one_person_and_one_paper():
    one = train(training_set(["a graph"], **people_who_save([100])))
    assert ask(one, history_of(100)).items == ()
    assert ids_of(ask(one, History.empty())) == [100]


def test_somebody_who_saved_everything(model):
    slate = ask(model, history_of(*IDS.values()))
    assert (slate.items, slate.n_candidates) == ((), 0)


@pytest.mark.parametrize("text", ["", "the same graph networks again", "图神经网络的预训练方法"])
def test_papers_that_are_all_the_same(text):
    same = train(training_set([text] * 30, **people_who_save([100, 101], [101])))
    slate = ask(same, history_of(100), 40)
    assert len(slate.items) == 29
    assert np.all(np.isfinite([item.score for item in slate.items]))


def test_chinese_texts_find_each_other():
    texts = ["图神经网络的预训练", "大规模图神经网络", "强化学习中的探索", "联邦学习与隐私"]
    assert ids_of(ask(train(training_set(texts)), history_of(100), 1)) == [101]


def test_two_people_with_one_list():
    both = train(training_set(list(PAPERS.values()), **people_who_save([100, 101], [100, 101])))
    assert ids_of(ask(both, history_of(100), 1)) == [101]


def test_everybody_hates_everything():
    n = len(PAPERS)
    data = training_set(
        list(PAPERS.values()),
        user_ids=np.repeat([1, 2], n),
        history=history_of(*(list(IDS.values()) * 2), ratings=1),
    )
    sad = train(data)
    assert len(ask(sad, saved("moat"), 30).items) == n - 1
    slate = ask(sad, history_of(*list(IDS.values())[:5], ratings=1), 30)
    assert slate.strategy == "cold_start"
    assert len(slate.items) == n - 5


def test_more_factors_than_papers():
    tiny = train(training_set(["graph a1", "graph b1", "tree c1"]), Config(factors=500))
    assert tiny.factors.items.shape[1] <= 3
    assert ids_of(ask(tiny, history_of(100), 1)) == [101]


CHINESE = ["图神经网络的预训练", "大规模图神经网络", "强化学习中的探索", "联邦学习与隐私"]
ABSTRACTS = list(PAPERS.values())
EDGES = {
    "nobody and nothing": training_set([]),
    "nobody": training_set(ABSTRACTS),
    "one by one": training_set(["a graph"], **people_who_save([100])),
    "all the same": training_set([ABSTRACTS[0]] * 30, **people_who_save([100, 101], [101])),
    "no text": training_set([""] * 30, **people_who_save([100, 101], [100, 101])),
    "text of blanks": training_set([" \n", "\t"], **people_who_save([100])),
    "only Chinese": training_set(CHINESE, **people_who_save([100, 101])),
    "one list": training_set(ABSTRACTS, **people_who_save([100, 101, 102], [100, 101, 102])),
    "one star": training_set(ABSTRACTS, history=history_of(*IDS.values(), ratings=1)),
    "everything saved": training_set(ABSTRACTS, **people_who_save(list(IDS.values()))),
}


@pytest.mark.parametrize("edge", EDGES)
def test_every_edge_goes_all_the_way(edge, tmp_path):
    """Trained with more factors than there is data, published, opened, grown, and asked."""
    registry = Registry(tmp_path)
    registry.publish(train(EDGES[edge]), facts={})
    model = registry.open_current()[1]
    day = np.zeros(2, np.float32)
    grown = model.extend(np.array([7, 100]), ["graphs anew", "图 graphs"], day, day)
    check_fit(grown)
    for asked in (model, grown):
        everything = asked.item_ids
        assert ask(asked, History.of_saved(everything)).items == ()
        for history in (
            History.empty(),
            history_of(100),
            history_of(100, 101, ratings=1),
            history_of(*everything[1:].tolist()),
        ):
            slate = ask(asked, history, 50)
            shown = np.array(ids_of(slate), np.int64)
            assert not set(shown) & set(history.item_ids)
            there = asked.items.positions(np.union1d(shown, history.item_ids))
            missing = np.setdiff1d(np.arange(len(everything)), there)
            copies = twins(asked.content, asked.title_keys, missing, there)[0]
            assert len(np.unique(copies)) == len(missing), "only twins are left out"
            assert_sane(slate)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
@pytest.mark.parametrize("column", ["age_days", "added_days"])
def test_numbers_that_are_none_are_not_learned_from(column, wrong):
    whole = training_set(["a", "b"], history=history_of(100))
    columns = {name: getattr(whole, name) for name in TrainingSet.__slots__}
    if column == "age_days":
        columns["history"] = history_of(100, age_days=wrong)
    else:
        columns[column] = np.array([0, wrong], np.float32)
    with pytest.raises(UnfitData, match=column):
        TrainingSet(**columns)


def test_unknown_ids_are_no_trouble(model):
    history = history_of(1, 2, IDS["moat"], -7)
    assert ids_of(ask(model, history, 1, exclude=np.array([5]))) == [IDS["ebb"]]
    assert ask(model, history_of(1, 2), 3).strategy == "cold_start"


def test_the_same_row_twice_counts_once(model):
    assert len(evidence_of(model, history_of(IDS["moat"], IDS["moat"])).rows) == 1


def test_a_hundred_thousand_saves(monkeypatch):
    n = 100_000
    mine = np.arange(200, 200 + n)
    documents = [*PAPERS.values(), *titles(1000), *[""] * n]
    pairs: list[int] = []
    usual = neighbours._block

    def counted(by_item, scaled, *rest):
        pairs.append(int(np.diff(scaled.indptr).max()))
        return usual(by_item, scaled, *rest)

    monkeypatch.setattr(neighbours, "_block", counted)
    data = training_set(documents, **people_who_save(mine.tolist(), [100, 101]))
    big = train(data, Config(factors=8, iterations=1))
    assert max(pairs) <= neighbours.LONGEST_LIST, "the square of it is what neighbours cost"
    history = History.of_saved(mine)
    tracemalloc.start()
    slate = ask(big, history, 20)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 300 * 2**20
    assert len(slate.items) == 20
    assert not set(ids_of(slate)) & set(mine.tolist())
    assert_sane(slate)


def test_columns_of_different_length_are_refused():
    whole = training_set(["a", "b"])
    columns = {name: getattr(whole, name) for name in TrainingSet.__slots__}
    with pytest.raises(ValueError, match="one length"):
        TrainingSet(**{**columns, "documents": ["a"]})
    with pytest.raises(ValueError, match="one length"):
        TrainingSet(**{**columns, "user_ids": np.array([1])})


def test_a_repeated_paper_is_refused():
    with pytest.raises(ValueError, match="twice"):
        train(training_set(["a", "b"], ids=np.array([5, 5])))


def test_ids_are_found_whatever_their_order():
    index = IdIndex(np.array([50, -3, 2**62]))
    positions, known = index.look_up(np.array([2**62, 7, -3, 50]))
    assert known.tolist() == [True, False, True, True]
    assert positions[known].tolist() == [2, 1, 0]


def test_config_refuses_nonsense():
    with pytest.raises(ValueError, match="positive"):
        Config(regularization=0.0)


@pytest.mark.parametrize("setting", fields(Config), ids=lambda setting: setting.name)
def test_every_setting_has_a_largest_value(setting: Field[int | float]):
    largest = setting.type(LARGEST[setting.name])
    assert getattr(Config(**{setting.name: largest}), setting.name) == largest
    for wrong in (largest + 1, -1, float("nan")):
        with pytest.raises(ValueError, match=setting.name):
            Config(**{setting.name: wrong})


def test_progress_goes_up_to_the_end():
    told: list[float] = []
    train(training_set(list(PAPERS.values())), progress=lambda _stage, done: told.append(done))
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0.0, 1.0)


def test_serving_needs_neither_scikit_learn_nor_implicit():
    code = (
        "import sys, models.recommending, models.artifacts.registry, models.training;"
        "heavy = {'sklearn', 'implicit', 'pandas', 'flask', 'sqlalchemy'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
