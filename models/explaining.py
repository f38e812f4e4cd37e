"""The way out that answers why: one score, taken apart in three ways, each of which sums to it.

By *part* of the blend; by *paper* of the person's; by *term* of the paper in question. What no
paper or no term accounts for is named. "Without this paper" is computed by folding the person in
again, never estimated.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from models import FloatArray, IntArray
from models.feedback import History
from models.ranking.blend import Blend, Evidence, blend
from models.ranking.explain import shared_terms, shares, term_shares
from models.ranking.model import Model
from models.ranking.proportions import Portfolio
from models.ranking.scoring import Ranking, place_by_score, rank_all, tie_break
from models.recommending import NOT_FROM_PAPERS, Request, evidence_for, open_rows, rank_without

COUNTERFACTUALS = 5
"""Each is a whole ranking: from 14 ms with ten thousand papers, 200 of them saved, 256 factors."""
InterestsWithout: TypeAlias = Callable[[int], Portfolio]
"""The interests of the person if they had never met this paper."""
NAMED = 500
"""Of a larger library only the papers with the largest shares have their terms looked up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartShare:
    """``amount`` is ``raw``, the score on the part's own scale, times ``gain``: the part's weight
    for this paper by the scale of the person's own top 20. A part that is not of the blend, such as
    ``freshness``, has no other scale than the score's, and a gain of 1."""

    name: str
    raw: float
    gain: float
    amount: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperShare:
    """``amount`` of the score is owed to the person's paper ``item_id``, which is liked or not.

    ``terms`` are those that both papers have, the weightiest first. ``rank_without``: where the
    paper in question would rank if the person had never met this one; None if it was not tried.
    """

    item_id: int
    amount: float
    is_liked: bool
    terms: tuple[str, ...]
    rank_without: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TermShare:
    """``amount`` of the score is owed to ``term``, a term of the vocabulary: a stem."""

    term: str
    amount: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why ``item_id`` has its ``score``.

    ``rank`` is its place by score among ``n_candidates``, from 1, before re-ranking; None if it is
    no candidate, as one of an interest that ``is_muted``. ``parts``, ``papers`` with
    ``not_from_papers``, and ``terms`` with ``not_from_words`` each sum to the score. Papers and
    terms come by size, whatever the sign.
    """

    item_id: int
    is_muted: bool
    strategy: Literal["personal", "cold_start"]
    score: float
    rank: int | None
    n_candidates: int
    parts: tuple[PartShare, ...]
    papers: tuple[PaperShare, ...]
    not_from_papers: float
    terms: tuple[TermShare, ...]
    not_from_words: float


def explain(
    model: Model,
    history: History,
    request: Request,
    item_id: int,
    *,
    counterfactuals: int = COUNTERFACTUALS,
    interests_without: InterestsWithout | None = None,
) -> Explanation | None:
    """Why the paper ranks where it does, or None for a paper that the model does not know.

    Of the request those fields count that say what is ranked, and how: ``allowed``, ``exclude``,
    ``seeds``, ``interests`` and ``freshness``, which no paper of the person's and no word accounts
    for. The paper may be one that the person has. ``counterfactuals`` bounds how many of the
    person's papers are left out for trial; ``interests_without`` finds the interests anew for each,
    which otherwise stay those of the request.
    """
    position, known = model.items.look_up(np.array([item_id], np.int64))
    if not known[0]:
        return None
    row = int(position[0])
    evidence = evidence_for(model, history, request)
    ranking = rank_all(model, evidence, freshness=request.freshness)
    rows = open_rows(model, history, request)
    is_muted = request.portfolio is not None and request.portfolio.mutes(model, position)[0]
    is_candidate = bool(np.isin(row, rows))
    score = sum(float(part[row]) for part in ranking.parts.values())
    papers, terms = _taken_apart(model, ranking, evidence, row)
    if is_candidate:
        papers = _tried_without(
            model, history, request, item_id, papers, counterfactuals, interests_without
        )
    return Explanation(
        item_id=item_id,
        is_muted=bool(is_muted),
        strategy=ranking.strategy,
        score=score,
        rank=(
            place_by_score(ranking.scores, rows, tie_break(model), row) if is_candidate else None
        ),
        n_candidates=len(rows),
        parts=_parts(ranking, row),
        papers=papers,
        not_from_papers=sum(
            float(part[row]) for name, part in ranking.parts.items() if name in NOT_FROM_PAPERS
        ),
        terms=terms,
        not_from_words=score - sum(term.amount for term in terms),
    )


def _parts(ranking: Ranking, row: int) -> tuple[PartShare, ...]:
    return tuple(_part(ranking, name, row) for name in ranking.parts)


def _part(ranking: Ranking, name: str, row: int) -> PartShare:
    amount, blended = float(ranking.parts[name][row]), ranking.blended
    if blended is None or name not in blended.parts:
        return PartShare(name=name, raw=amount, gain=1.0, amount=amount)
    raw, gain = float(blended.parts[name].raw[row]), float(blended.gains[name][row])
    return PartShare(name=name, raw=raw, gain=gain, amount=amount)


def _taken_apart(
    model: Model, ranking: Ranking, evidence: Evidence, row: int
) -> tuple[tuple[PaperShare, ...], tuple[TermShare, ...]]:
    """The shares by paper and by term, largest first."""
    if ranking.blended is not None:
        return _of_blend(model, ranking.blended, evidence, row, 1.0)
    # Where nothing liked says anything, the person's papers add what is taken away for likeness to
    # disliked ones. That is relative and cut off; each has its share of it in proportion.
    rows, confidence = evidence.rows, evidence.confidence
    disliked = Evidence(rows=rows[confidence < 0], confidence=confidence[confidence < 0])
    if not len(disliked.rows):
        return (), ()
    mirrored = blend(model, replace(disliked, confidence=-disliked.confidence))
    likeness = float(mirrored.taste[row])
    scale = float(ranking.parts["content"][row]) / likeness if likeness > 0 else 0.0
    return _of_blend(model, mirrored, disliked, row, scale)


def _of_blend(
    model: Model, blended: Blend, evidence: Evidence, row: int, scale: float
) -> tuple[tuple[PaperShare, ...], tuple[TermShare, ...]]:
    target = np.array([row], np.int64)
    amounts = shares(blended, target)[0] * scale
    by_term = term_shares(blended, target, len(model.content.vocabulary)) * scale
    papers = tuple(
        PaperShare(
            item_id=int(model.item_ids[evidence.rows[i]]),
            amount=float(amounts[i]),
            is_liked=bool(evidence.confidence[i] > 0),
            terms=shared_terms(model.content, row, int(evidence.rows[i])) if n < NAMED else (),
        )
        for n, i in enumerate(_largest(amounts))
    )
    terms = tuple(
        TermShare(term=model.content.vocabulary[by_term.indices[i]], amount=float(by_term.data[i]))
        for i in _largest(by_term.data)
        if by_term.data[i] != 0
    )
    return papers, terms


def _largest(amounts: FloatArray) -> IntArray:
    return np.argsort(-np.abs(amounts), kind="stable")


def _tried_without(
    model: Model,
    history: History,
    request: Request,
    item_id: int,
    papers: tuple[PaperShare, ...],
    most: int,
    interests_without: InterestsWithout | None,
) -> tuple[PaperShare, ...]:
    # Without its only seed the request would be another one: for the whole library.
    only = int(request.seeds[0]) if len(set(request.seeds.tolist())) == 1 else None
    tried = {
        without: rank_without(
            model,
            history,
            request,
            item_id=item_id,
            without=without,
            interests=interests_without(without) if interests_without else None,
        )
        for without in _worth_trying(papers, most)
        if without != only
    }
    return tuple(
        replace(paper, rank_without=tried.get(paper.item_id, paper.rank_without))
        for paper in papers
    )


def _worth_trying(papers: Sequence[PaperShare], most: int) -> list[int]:
    """The largest shares. Up to half of the trials are for disliked papers: what these do through
    the factors shows in no share."""
    liked = [paper.item_id for paper in papers if paper.is_liked]
    disliked = [paper.item_id for paper in papers if not paper.is_liked]
    n_disliked = min(len(disliked), max(most // 2, most - len(liked)))
    return liked[: most - n_disliked] + disliked[:n_disliked]
