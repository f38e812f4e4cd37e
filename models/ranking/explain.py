"""What each of the person's papers adds to a score: the shares of the parts, times their gains."""

import numpy as np

from models import FloatArray, IntArray
from models.ranking.blend import Blend


def shares(blended: Blend, targets: IntArray) -> FloatArray:
    """Shares (len(targets), k) float32 of the person's k papers; a row sums to the score."""
    total = np.zeros((len(targets), len(blended.evidence.rows)), np.float32)
    for name, part in blended.parts.items():
        total += part.shares(targets) * blended.gains[name][targets][:, None]
    return total
