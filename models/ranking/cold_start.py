"""What to show somebody of whom nothing good is known: recent papers, central to the catalogue."""

import numpy as np

from models import BoolArray, FloatArray
from models.content.similar import centrality
from models.content.tfidf import TermIndex

YEARS_TO_HALF = 2.0
"""A paper is half as recent as one that is two years younger."""
DAYS_TO_HALF = 60.0
"""The same for papers of unknown year, by how long they are in the catalogue."""
RECENCY_SHARE = 0.6
"""Of the prior; the rest is centrality."""


def prior_of(
    content: TermIndex, published_year: FloatArray, added_days: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Recency and centrality, each (m,) float32 with 0 ≤ value ≤ its share of 1.

    Years are counted back from the newest in the catalogue, so no clock is needed.
    """
    central = centrality(content)
    top = float(central.max()) if len(central) else 0.0
    central_share = (1 - RECENCY_SHARE) * central / max(top, 1e-9)
    recent_share = RECENCY_SHARE * _recency(published_year, added_days)
    return recent_share.astype(np.float32), central_share.astype(np.float32)


def _recency(published_year: FloatArray, added_days: FloatArray) -> FloatArray:
    dated: BoolArray = np.isfinite(published_year)
    newest = float(published_year[dated].max()) if dated.any() else 0.0
    years = np.where(dated, newest - np.nan_to_num(published_year), 0.0)
    days = np.maximum(np.nan_to_num(added_days, nan=1e6, posinf=1e6, neginf=0.0), 0.0)
    by_year = np.exp2(-years / YEARS_TO_HALF)
    by_day = np.exp2(-days / DAYS_TO_HALF) / 2
    return np.where(dated, by_year, by_day).astype(np.float32)
