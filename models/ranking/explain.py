"""What each of the person's papers adds to a score.

For the factors after Hu, Koren & Volinsky (2008), section 5: with A the normal matrix of the
person, the score of paper i is Σⱼ cⱼ · yᵢᵀ A⁻¹ yⱼ over the liked papers j. Disliked papers have no
term of their own there (they act through A); what they do is shown by leaving them out.
"""

import numpy as np

from models import FloatArray, IntArray
from models.collaborative.fold_in import solve_normal
from models.collaborative.neighbours import neighbour_shares
from models.content.profile import content_shares
from models.ranking.blend import Blend
from models.ranking.model import Model


def shares(model: Model, blended: Blend, targets: IntArray) -> FloatArray:
    """Shares (len(targets), k) float32 of the person's k papers; a row sums to the score."""
    evidence, gains = blended.evidence, blended.gains
    factors = model.factors.items
    liked = np.maximum(evidence.confidence, 0) * np.float32(model.config.alpha)
    solved = solve_normal(blended.normal, factors[targets].T)
    collaborative = (solved.T @ factors[evidence.rows].T) * liked
    neighbours = neighbour_shares(model.neighbours, evidence.rows, evidence.confidence, targets)
    content = content_shares(model.content, evidence.rows, blended.profile, targets)
    return np.asarray(
        collaborative * gains["collaborative"][targets][:, None]
        + neighbours * gains["neighbours"][targets][:, None]
        + content * gains["content"][targets][:, None],
        np.float32,
    )
