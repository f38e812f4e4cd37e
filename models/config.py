"""Hyper-parameters, in one frozen value that is stored with every model.

Where a number comes from stands beside it; "measured" means nDCG@20 on 500 people of the warm
validation part of CiteULike-t (Wang, Chen & Li, IJCAI 2013), see ``benchmarks/quality.py``. What
has no such note is a usual value that was not compared with others here.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """How to train and how to rank. Nothing in here depends on the data."""

    # Factors (models/collaborative/joint_als.py)
    factors: int = 256
    """At most; fewer where there are few papers, see ``factors_for``."""
    regularization: float = 1.0
    alpha: float = 20.0
    """Confidence of one bookmark; the cells nobody touched have confidence 1."""
    iterations: int = 15
    term_weight: float = 3.0
    """Of a TF-IDF weight, in bookmarks."""
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
    shrinkage: float = 1.0

    # Ranking (models/ranking/)
    diversity: float = 0.15
    """Measured on 3,000 people (``benchmarks/diversity.py``): nDCG@20 loses 0.0 % (95 %
    interval -0.9 to +0.8), diversity within a slate rises from .905 to .921. 0.2 loses 0.7 %, 0.3
    1.3 %, 0.5 6 %."""

    def __post_init__(self) -> None:
        if self.factors < 1 or self.iterations < 1 or self.regularization <= 0:
            raise ValueError("factors, iterations and regularization are positive")

    def factors_for(self, n_items: int) -> int:
        """As many factors as the catalogue can fill: two papers a factor, at least 2."""
        return max(2, min(self.factors, n_items // 2))
