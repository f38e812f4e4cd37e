"""What each part weighs, as a function of how much is known of the paper and of the person.

The weight of a part is b + p·k + q·z, never below 0. k = people / (people + KNOWN_AT), from 0 to
1, is how well the paper is known, z = ln(papers the person likes) - 2 how well the person is.
The numbers were learned by ``benchmarks/weights.py``, which prints them: softmax regression over
the parts' scores of a pool of candidates (Cao et al., "Learning to Rank: From Pairwise Approach to
Listwise Approach", ICML 2007), on the validation people of CiteULike-t, warm, new and with cold
papers together. The test people were never looked at.
"""

from collections.abc import Mapping

import numpy as np

from models import FloatArray
from models.ranking.model import Model
from models.ranking.part import Evidence

KNOWN_AT = 3.0
"""A paper kept by that many people is half known."""
MOST_LIKED = 150
"""Beyond that many liked papers the weights do not change."""

LEARNED: Mapping[str, tuple[float, float, float]] = {
    "collaborative": (1.31, -0.62, -0.01),
    "neighbours": (0.19, -0.10, 0.06),
    "content": (0.54, -0.31, 0.15),
}
"""(b, p, q) of each part."""
OF_READERS = 0.281
OF_UNREAD = 0.364
"""The prior part, see ``parts/prior.py``."""

COMMUNITY = 30.0
"""With that many other people what others do has half its weight. Alone it has none: the factors
then know nothing but words, which the content part knows better (by the relatives in two lists of
abstracts; CiteULike, with its thousands of people, cannot say)."""


def weight_of(name: str, model: Model, evidence: Evidence) -> FloatArray:
    """The weight of a part for each paper, (m,) float32."""
    base, by_paper, by_person = LEARNED[name]
    weight = base + by_paper * known(model.people) + by_person * grown(evidence)
    return np.asarray(np.maximum(weight, 0), np.float32)


def known(people: FloatArray) -> FloatArray:
    """k of each paper, (m,) float32 from 0 to 1."""
    return np.asarray(people / (people + np.float32(KNOWN_AT)), np.float32)


def grown(evidence: Evidence) -> float:
    """z of a person: -2 with one liked paper, about 0 with seven, 3 with MOST_LIKED."""
    n_liked = int(np.count_nonzero(evidence.confidence > 0))
    return float(np.log(np.clip(n_liked, 1, MOST_LIKED))) - 2.0


def community(model: Model) -> float:
    """How far what others do is to be trusted, 0 to 1."""
    others = max(0, model.n_people - 1)
    return others / (others + COMMUNITY)
