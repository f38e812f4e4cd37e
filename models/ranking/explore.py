"""A share of each slate for papers whose worth is not known yet, with exact chances.

Lists that only show what a model believes in can never prove it wrong. What is learned from a list
later is weighted by one over the chance a paper had to be in it (Horvitz & Thompson, JASA 1952), so
these chances are computed, not estimated.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models import BoolArray, IntArray

LARGEST_SHARE = 0.5
"""A list is read for what is best; half of it must stay that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explored:
    """A slate of n papers: ``rows`` (n,) int64, the drawn ones last; ``propensities`` (n,) float64,
    the chance of each to be in the slate; ``is_drawn`` (n,) bool."""

    rows: IntArray
    propensities: npt.NDArray[np.float64]
    is_drawn: BoolArray


def explore(
    chosen: IntArray, pool: IntArray, share: float, *, rng: np.random.Generator
) -> Explored:
    """Give up the last places of ``chosen`` (n,) to rows drawn from the rest of ``pool``.

    ``share`` · n places on average: the whole part of it always, one more with the chance of its
    fraction. All rows of the pool that are not in the places kept are as likely as each other to be
    drawn, those that lost their place too. ``share`` is cut to 0 to ``LARGEST_SHARE``. Without rows
    beside the chosen ones there is nothing to try.
    """
    expected = _expected(share, len(chosen))
    if expected <= 0 or len(np.setdiff1d(pool, chosen)) == 0:
        n = len(chosen)
        return Explored(rows=chosen, propensities=np.ones(n), is_drawn=np.zeros(n, np.bool_))
    n_drawn = int(expected) + int(rng.random() < expected % 1)
    kept = chosen[: len(chosen) - n_drawn]
    rows = np.concatenate([kept, rng.permutation(np.setdiff1d(pool, kept))[:n_drawn]])
    return Explored(
        rows=rows,
        propensities=propensities(rows, chosen, len(np.union1d(pool, chosen)), expected),
        is_drawn=np.arange(len(rows)) >= len(kept),
    )


def most_drawn(share: float, n: int) -> int:
    """How many of n places may be given up at most."""
    return int(np.ceil(_expected(share, n)))


def _expected(share: float, n: int) -> float:
    return float(np.clip(share, 0.0, LARGEST_SHARE)) * n


def propensities(
    rows: IntArray, chosen: IntArray, n_pool: int, expected: float
) -> npt.NDArray[np.float64]:
    """The chance (k,) of each of the rows, which are of the pool, to be in the slate.

    A row is in it because its place among ``chosen`` (n,) was kept or because it was drawn: the sum
    over the two numbers of places that may be given up when ``expected`` are on average. Over all
    ``n_pool`` rows of the pool the chances sum to n.
    """
    n, fewest, fraction = len(chosen), int(expected), expected % 1
    order = np.argsort(chosen, kind="stable")
    found = order[np.minimum(np.searchsorted(chosen[order], rows), n - 1)]
    places = np.where(chosen[found] == rows, found, n)
    chances = np.zeros(len(rows))
    for n_drawn, likely in ((fewest, 1 - fraction), (fewest + 1, fraction)):
        n_kept = n - n_drawn
        if likely > 0 and n_kept < n_pool:
            chances += likely * np.where(places < n_kept, 1.0, n_drawn / (n_pool - n_kept))
    return chances
