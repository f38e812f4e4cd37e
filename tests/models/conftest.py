import pytest

from models.ranking.model import Model
from models.training import train
from tests.models.papers import PAPERS, small_model, titles, training_set


@pytest.fixture(scope="session")
def model() -> Model:
    """The invented papers, no people."""
    return small_model()


@pytest.fixture(scope="session")
def crowded() -> Model:
    """The invented papers among a thousand bare titles."""
    return train(training_set([*PAPERS.values(), *titles(1000)]))
