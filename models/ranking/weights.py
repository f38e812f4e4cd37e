"""What each part weighs, as a function of how much is known of paper, person and community.

The weight of a part is b + p·k + q·z + r·d + s·k·d, never below 0. k = people / (people +
KNOWN_AT), from 0 to 1, is how well the paper is known, z = ln(papers the person likes) - 2 how well
the person is, and d, from 0 to 1, how densely the community reads: how many readers a paper has
that has any. Where few people read, k counts as little as what they do (``community``).
The numbers were learned by ``benchmarks/weights.py``, which prints them: softmax regression over
the parts' scores of a pool of candidates (Cao et al., "Learning to Rank: From Pairwise Approach to
Listwise Approach", ICML 2007), on the validation people of CiteULike-t and CiteULike-a, warm, new
and with cold papers together. The test people were never looked at.
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
SPARSE, DENSE = 3.5, 10.0
"""Readers of a read paper at which d is 0 and 1; about what CiteULike-t and CiteULike-a have. What
lies beyond was not measured and counts as one of these."""

LEARNED: Mapping[str, tuple[float, float, float, float, float]] = {
    "collaborative": (1.25, -0.50, 0.11, 0.32, -0.11),
    "similarity": (1.34, -0.45, -0.03, 0.06, -0.62),
    "neighbours": (0.23, -0.24, 0.09, 0.27, 0.03),
    "content": (0.36, -0.39, 0.11, 0.07, -0.16),
}
"""(b, p, q, r, s) of each part."""
OF_READERS = (0.43, -0.14)
OF_UNREAD = (0.47, -0.02)
"""(b, r) of the prior part, see ``parts/prior.py``."""

COMMUNITY = 30.0
"""With that many other people what others do has half its weight. Alone it has none: the factors
then know nothing but words, which the content part knows better (by the relatives in two lists of
abstracts; CiteULike, with its thousands of people, cannot say)."""


def weight_of(name: str, model: Model, evidence: Evidence) -> FloatArray:
    """The weight of a part for each paper, (m,) float32."""
    base, by_paper, by_person, by_density, by_both = LEARNED[name]
    dense, trust = density(model), community(model)
    of_all = base + by_person * grown(evidence) + by_density * dense
    weight = of_all + (by_paper + by_both * dense) * known(model.people) * trust
    return np.asarray(np.maximum(weight, 0), np.float32)


def known(people: FloatArray) -> FloatArray:
    """k of each paper, (m,) float32 from 0 to 1."""
    return np.asarray(people / (people + np.float32(KNOWN_AT)), np.float32)


def grown(evidence: Evidence) -> float:
    """z of a person: -2 with one liked paper, about 0 with seven, 3 with MOST_LIKED."""
    n_liked = int(np.count_nonzero(evidence.confidence > 0))
    return float(np.log(np.clip(n_liked, 1, MOST_LIKED))) - 2.0


def density(model: Model) -> float:
    """d of a community, from 0 to 1."""
    place = np.log(np.clip(model.readers_of_read, SPARSE, DENSE) / SPARSE)
    return float(place / np.log(DENSE / SPARSE))


def community(model: Model) -> float:
    """How far what others do is to be trusted, 0 to 1."""
    others = max(0, model.n_people - 1)
    return others / (others + COMMUNITY)
