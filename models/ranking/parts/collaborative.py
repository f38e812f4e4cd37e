"""The factor part: the person is folded in from their papers.

After Hu, Koren & Volinsky (2008), section 5: with A the normal matrix of the person, the score of
paper i is Σⱼ cⱼ · yᵢᵀ A⁻¹ yⱼ over the liked papers j. Disliked papers have no term of their own
there (they act through A); what they do is shown by leaving them out.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from models import FloatArray, IntArray
from models.collaborative.fold_in import normal_matrix, solve_normal
from models.ranking.model import Model
from models.ranking.part import Evidence, Sums


@dataclass(frozen=True, slots=True, kw_only=True)
class CollaborativeScores:
    """``liked`` (k,) float32 confidence, 0 for disliked papers; ``normal`` (f, f) is A, and
    ``person`` (f,) the factors it gives."""

    model: Model
    rows: IntArray
    liked: FloatArray
    normal: FloatArray
    person: FloatArray
    raw: FloatArray

    def shares(self, targets: IntArray) -> FloatArray:
        factors = self.model.factors.items
        solved = solve_normal(self.normal, factors[targets].T)
        return np.asarray((solved.T @ factors[self.rows].T) * self.liked, np.float32)

    def sums(self, belongs: FloatArray) -> Sums:
        factors = self.model.factors.items
        people = factors[self.rows].T @ (belongs * self.liked[:, None])
        solved = solve_normal(self.normal, people)
        return lambda targets: np.asarray(factors[targets] @ solved, np.float32)

    def term_shares(self, targets: IntArray) -> sp.csr_matrix:
        """What the words of a target would give if nobody had read it; readers do the rest."""
        weights = self.model.content.weights[targets]
        return self.model.factors.term_map.shares(weights, self.person)


def score(model: Model, evidence: Evidence) -> CollaborativeScores:
    """Folds the person in; one solve of f equations and one pass over the factors."""
    config, factors = model.config, model.factors
    seen = factors.items[evidence.rows]
    confidence = evidence.confidence * np.float32(config.alpha)
    liked = np.maximum(confidence, 0)
    normal = normal_matrix(seen, factors.gram, confidence, regularization=config.regularization)
    person = solve_normal(normal, liked @ seen)
    return CollaborativeScores(
        model=model,
        rows=evidence.rows,
        liked=liked,
        normal=normal,
        person=person,
        raw=np.asarray(factors.items @ person, np.float32),
    )
