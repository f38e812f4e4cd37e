"""Real lists of abstracts: who saved one paper gets its relatives first."""

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest

from models import IntArray
from models.feedback import History
from models.ranking.model import Model
from models.recommending import related
from models.training import train
from tests.models.papers import ask, history_of, ids_of, training_set

SHARED = Path(__file__).resolve().parents[3] / "shared"
LISTINGS = SHARED / "listings"
PAPERS = SHARED / "papers"
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not LISTINGS.is_dir(), reason="the listings are not beside the checkout"),
]
FIRST_TITLE_ID = 100_000
NOT_ACCEPTED = {"Reject", "Withdraw", "Desk Reject"}
MUST_FIND = [
    ("1.10", {"2.1"}, 1),
    ("2.1", {"1.10"}, 1),
    ("2.4", {"2.16"}, 1),
    ("1.4", {"2.13"}, 3),
    ("1.13", {"2.8"}, 3),
    ("2.7", {"2.9"}, 3),
    ("1.6", {"1.8", "2.14"}, 5),
    ("1.8", {"1.6", "2.14"}, 5),
    ("1.5", {"2.2", "2.18"}, 5),
]
OUTLIERS = ["1.3", "1.11", "1.14", "1.19"]


def abstracts() -> dict[str, str]:
    """By file and ordinal: "2.14" is the fourteenth of the second file."""
    found = {}
    for number, path in enumerate(sorted(LISTINGS.glob("*.txt")), start=1):
        paragraphs = [p for p in re.split(r"\n\s*\n", path.read_text("utf-8")) if p.strip()]
        for ordinal, text in enumerate(paragraphs[1:], start=1):
            found[f"{number}.{ordinal}"] = text
    return found


def starter_titles() -> list[str]:
    titles = []
    for path in sorted(PAPERS.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            papers = [json.loads(line) for line in lines]
        titles += [p["title"] for p in papers if p.get("status") not in NOT_ACCEPTED]
    return titles


TEXTS = abstracts() if LISTINGS.is_dir() else {}
IDS = {name: 1 + place for place, name in enumerate(TEXTS)}
NAMES = {paper_id: name for name, paper_id in IDS.items()}


def ids() -> IntArray:
    return np.array(list(IDS.values()))


def alone() -> Model:
    return train(training_set(list(TEXTS.values()), ids=ids()))


def alone_with_a_person() -> Model:
    history = History.of_saved(np.array([IDS["1.10"]]))
    return train(training_set(list(TEXTS.values()), ids=ids(), history=history))


def imported_after_training() -> Model:
    titles = starter_titles()
    first = np.arange(FIRST_TITLE_ID, FIRST_TITLE_ID + len(titles))
    m = len(TEXTS)
    starter = train(training_set(titles, ids=first))
    days = np.zeros(m, np.float32)
    return starter.extend(ids(), list(TEXTS.values()), np.full(m, np.nan, np.float32), days)


def trained_with_titles() -> Model:
    titles = starter_titles()
    first = np.arange(FIRST_TITLE_ID, FIRST_TITLE_ID + len(titles))
    return train(training_set([*TEXTS.values(), *titles], ids=np.concatenate([ids(), first])))


@pytest.fixture(
    scope="module",
    params=[alone, alone_with_a_person, imported_after_training, trained_with_titles],
    ids=lambda make: make.__name__,
)
def listed(request) -> Model:
    if request.param in (imported_after_training, trained_with_titles) and not PAPERS.is_dir():
        pytest.skip("the lists of titles are not beside the checkout")
    return request.param()


def ranking(model: Model, *liked: str, limit: int = 37) -> list[str]:
    slate = ask(model, history_of(*(IDS[x] for x in liked)), limit, allowed=ids())
    return [NAMES[item_id] for item_id in ids_of(slate)]


def test_thirty_eight_abstracts_were_read():
    assert len(TEXTS) == 38


@pytest.mark.parametrize(("liked", "relatives", "within"), MUST_FIND)
def test_relatives_come_first(listed, liked, relatives, within):
    assert relatives <= set(ranking(listed, liked, limit=within))


def test_a_hypernetwork_that_also_speaks_of_context_does_not_push_tables_away(listed):
    """2.15 shares "in-context" and "forward pass" with 1.5 and comes out as near as 2.2: they may
    change places, but nothing else may come between."""
    order = ranking(listed, "1.5")
    assert order.index("2.2") <= order.index("2.15") + 1


def test_nothing_crowds_out_the_relative_in_the_whole_catalogue(listed):
    assert ids_of(ask(listed, history_of(IDS["1.10"]), 5))[0] == IDS["2.1"]
    assert related(listed, IDS["1.10"], limit=1)[0][0] == IDS["2.1"]


def test_outliers_get_no_confident_scores(listed):
    def top(name: str) -> float:
        return ask(listed, history_of(IDS[name]), 1, allowed=ids()).items[0].score

    assert max(map(top, OUTLIERS)) < top("1.10")
    assert np.mean([*map(top, OUTLIERS)]) < np.mean([top(name) for name, _, _ in MUST_FIND])


def test_dismissing_the_relative_removes_it(listed):
    history = history_of(IDS["1.10"], IDS["2.1"], saved=[True, False], dismissed=[False, True])
    assert IDS["2.1"] not in ids_of(ask(listed, history, 40, allowed=ids()))


def test_one_star_for_a_paper_lowers_its_neighbours(listed):
    liked = history_of(IDS["1.10"], IDS["2.4"])
    disliked = history_of(IDS["1.10"], IDS["2.4"], ratings=[0, 1])
    before, after = (
        ids_of(ask(listed, history, 36, allowed=ids())).index(IDS["2.16"])
        for history in (liked, disliked)
    )
    assert after > before
