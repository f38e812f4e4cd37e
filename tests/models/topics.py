"""Papers on topics that share no words of their own, as many as a test wants."""

import numpy as np

from models import IntArray
from models.config import Config
from models.feedback import History
from models.ranking.interests import Interests, find_interests
from models.ranking.model import Model
from models.ranking.proportions import Portfolio
from models.training import train
from tests.models.papers import training_set

TOPICS = {
    "tides": "estuary tide surge gauge harbour salinity current mooring seabed bore lagoon delta",
    "parsing": "treebank parser syntax grammar token corpus dialect morphology clause verb noun",
    "batteries": "lithium cell anode electrolyte charging voltage plating cathode impedance aging",
}
COMMON = "model data measured analysis theory error sample estimate scale field"
EACH = 60
"""Papers of each topic; ids are 1000 a topic, by its place."""
QUICK = Config(factors=16, iterations=4, threads=1)


def documents(each: int = EACH) -> tuple[list[str], IntArray]:
    """Texts and their ids: 1000, 1001, … are about tides, 2000 … about parsing, and so on."""
    rng = np.random.default_rng(3)
    texts, ids = [], []
    for place, words in enumerate(TOPICS.values()):
        for number in range(each):
            own = rng.choice(words.split(), 8, replace=False)
            shared = rng.choice(COMMON.split(), 4, replace=False)
            texts.append(" ".join(rng.permutation([*own, *shared])))
            ids.append(1000 * (place + 1) + number)
    return texts, np.array(ids, np.int64)


def ids_about(topic: str, n: int, *, start: int = 0) -> IntArray:
    first = 1000 * (list(TOPICS).index(topic) + 1) + start
    return np.arange(first, first + n)


def topical_model(*, likes: History | None = None, seed: int = 0) -> Model:
    """Trained on the texts, and on one person's history if there is one."""
    texts, ids = documents()
    return train(training_set(texts, ids=ids, history=likes), QUICK, seed=seed)


def topic_of(item_id: int) -> str:
    return list(TOPICS)[item_id // 1000 - 1]


def library(**papers: int) -> IntArray:
    """So many papers of each topic."""
    return np.concatenate([ids_about(topic, n) for topic, n in papers.items()])


def as_found(found: Interests, weights: list[float] | None = None) -> Portfolio:
    """Every group an interest of its own."""
    n = found.n_groups
    given = np.ones(n, np.float32) if weights is None else np.array(weights, np.float32)
    return Portfolio(found=found, unit_of=np.arange(n), weights=given)


def interests(model: Model, liked: IntArray) -> Interests:
    return find_interests(model, liked)
