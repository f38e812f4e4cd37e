"""Hyper-parameters, in one frozen value that is stored with every model.

Where a number comes from stands beside it; "measured" means nDCG@20 on 500 people of the warm
validation part of CiteULike-t (Wang, Chen & Li, IJCAI 2013), see ``benchmarks/quality.py``. What
has no such note is a usual value that was not compared with others here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields

ENOUGH_FACTORS = 256
"""For the few people of a laboratory: more cost time and bring nothing."""
BATCH = 1_024
"""People a step of learning which papers go together."""
LEAST_STEPS, MOST_STEPS = 96, 480
OF_OTHERS = frozenset(
    {"factors", "regularization", "alpha", "iterations", "term_weight", "map_regularization"}
    | {"max_terms", "neighbours", "shrinkage"}
    | {"embedding", "epochs", "hold_own", "hold_words"}
)
"""Settings of the parts that go by what others do. These parts have no weight for a person alone
(``community`` in models/ranking/weights.py); the factors then only help to find interests."""
LARGEST: Mapping[str, int] = {
    "factors": 2_048,
    "regularization": 1_000,
    "alpha": 10_000,
    "iterations": 200,
    "term_weight": 1_000,
    "map_regularization": 1_000,
    "max_terms": 200_000,
    "threads": 256,
    "slope": 1,
    "dislike": 10,
    "neighbours": 10_000,
    "shrinkage": 1_000,
    "embedding": 2_048,
    "epochs": 1_000,
    "hold_own": 1_000_000,
    "hold_words": 1_000_000,
    "diversity": 1,
}
"""Beyond these lies no better model, but a training that ends in a day or with the memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """How to train and how to rank. Nothing in here depends on the data."""

    # Factors (models/collaborative/joint_als.py)
    factors: int = 512
    """At most; fewer where there are few papers or people, see ``factors_for``. Measured for the
    factors alone: .151 with 256, .158 with 512."""
    regularization: float = 1.0
    alpha: float = 20.0
    """Confidence of one bookmark; the cells nobody touched have confidence 1."""
    iterations: int = 15
    term_weight: float = 1.5
    """Of a TF-IDF weight, in bookmarks. Measured for 256 factors alone: .151 at 1.5, .149 at 3,
    .141 at 6; for 512 .152 at 0.8, .158 at 1.5."""
    map_regularization: float = 1.0
    """Of the ridge regression from words to factors. Measured for papers without readers: .265
    at 1, .263 at 3, .258 at 6."""
    max_terms: int = 20_000
    """Terms that become rows of the factor model: the most frequent of those in two papers."""
    threads: int = 2

    # Content (models/content/)
    slope: float = 0.5
    """Of pivoted length normalisation, 1 being plain cosine. Measured for the content part alone
    with tf = 1 + ln(count) and plain idf: .067 at 0.2, .076 at 0.5 and 0.6, .077 at 0.7, .069 at 1;
    0.5 also keeps titles from passing for abstracts."""
    dislike: float = 0.5
    """Rocchio's gamma: disliked papers against liked ones."""

    # Neighbours (models/collaborative/neighbours.py)
    neighbours: int = 200
    shrinkage: float = 0.5
    """Measured for the neighbours alone: .110 at 0.1, .123 at 0.5 (a quarter of the people)."""

    # Item similarity (models/collaborative/item_similarity.py)
    embedding: int = 256
    """Length of a paper's embedding."""
    epochs: int = 16
    """How often each person is learned from, as far as ``steps_for`` allows."""
    hold_own: float = 1.0
    """What keeps a paper's own part of its embedding small; as much as so many people's losses."""
    hold_words: float = 0.2
    """The same for the embedding of a word."""

    # Ranking (models/ranking/)
    diversity: float = 0.12
    """Measured on 2,000 people (``benchmarks/diversity.py``): nDCG@20 loses 1.7 % (95 % interval
    0.7 to 2.6), diversity within a slate rises from .919 to .937. 0.15 loses 2.4 %."""

    def __post_init__(self) -> None:
        if self.factors < 1 or self.iterations < 1 or self.regularization <= 0:
            raise ValueError("factors, iterations and regularization are positive")
        for name, largest in LARGEST.items():
            value = getattr(self, name)
            if not 0 <= value <= largest:
                raise ValueError(f"{name} is from 0 to {largest:,}, not {value:,}")

    def differing(self, other: "Config", *, n_items: int, n_people: int) -> frozenset[str]:
        """The settings that make another model of so many papers and people than ``other`` does."""
        names = {f.name for f in fields(self) if getattr(self, f.name) != getattr(other, f.name)}
        if self.factors_for(n_items, n_people) == other.factors_for(n_items, n_people):
            names.discard("factors")
        n_batches = -(-n_people // BATCH)
        if self.steps_for(n_batches) == other.steps_for(n_batches):
            names.discard("epochs")
        return frozenset(names)

    def factors_for(self, n_items: int, n_people: int) -> int:
        """As many factors as the data can fill: two papers a factor, at least 2; and beyond
        ENOUGH_FACTORS eight people for each."""
        most = min(self.factors, max(ENOUGH_FACTORS, n_people // 8))
        return max(2, min(most, n_items // 2))

    def steps_for(self, n_batches: int) -> int:
        """Steps of learning which papers go together: enough where few people are seen again and
        again, and no more than take minutes where a hundred thousand are seen at all."""
        return min(max(LEAST_STEPS, self.epochs * n_batches), MOST_STEPS)
