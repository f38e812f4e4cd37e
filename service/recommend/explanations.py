"""Answers why one paper has its score: the numbers of ``models.explaining``, in words."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from models import explaining
from models.content.analyzer import surface_forms
from models.explaining import Explanation, PaperShare
from models.feedback import History
from models.recommending import Request
from service.errors import TemporarilyUnavailable
from service.recommend.dataset import hidden_works, history_of, texts_of
from service.recommend.live_model import LiveModel
from service.recommend.reasons import Share, deeds_of, reasons_of
from service.recommend.records import (
    PaperExplanation,
    PartOfScore,
    Reason,
    Standing,
    Wish,
    WordOfScore,
)
from service.recommend.serve import facts_of, named_works, papers_of_works, seeds_of
from service.recommend.wording import summary_of
from service.tables import Paper

COUNTERFACTUALS = explaining.COUNTERFACTUALS


def explain_paper(
    session: Session,
    live_model: LiveModel,
    user_id: int,
    paper: Paper,
    wish: Wish,
    *,
    now: datetime,
    counterfactuals: int = COUNTERFACTUALS,
) -> PaperExplanation:
    """Why the paper ranks where it does for one person, in a session bound to that person.

    Its numbers are those of a list made at the same moment. Of the wish count ``tag`` and
    ``seeds``, and ``limit``: so many papers and terms are shown, the rest as a sum. Raises
    InvalidInput for seeds or tags that are not there, TemporarilyUnavailable for a paper that the
    model has not read yet.
    """
    live = live_model.current(session, now=now)
    history = history_of(session, user_id, now=now)
    hidden = hidden_works(session, user_id, now=now)
    seeds = seeds_of(session, user_id, wish)
    found = explaining.explain(
        live.model,
        history,
        Request(limit=wish.limit, exclude=np.concatenate([hidden, history.item_ids]), seeds=seeds),
        paper.work_id,
        counterfactuals=counterfactuals,
    )
    if found is None:
        raise TemporarilyUnavailable("The recommender has not read this paper yet.")
    reasons = _reasons(session, user_id, found, history, wish)
    terms = _words(session, found, limit=wish.limit)
    explanation = PaperExplanation(
        paper=paper,
        strategy=found.strategy,
        standing=_standing(found, history, hidden),
        score=found.score,
        rank=found.rank,
        n_candidates=found.n_candidates,
        parts=_parts(found),
        papers=reasons,
        n_papers=len(found.papers),
        other_papers=_rest(found.score - found.not_from_papers, reasons),
        not_from_papers=found.not_from_papers,
        terms=terms,
        other_terms=_rest(found.score - found.not_from_words, terms),
        not_from_words=found.not_from_words,
        summary="",
        model=facts_of(session, live, now=now),
    )
    return replace(explanation, summary=summary_of(explanation))


def _reasons(
    session: Session, user_id: int, found: Explanation, history: History, wish: Wish
) -> tuple[Reason, ...]:
    shown = _shown(found.papers, limit=wish.limit)
    papers = papers_of_works(session, [share.item_id for share in shown], wish)
    deeds = deeds_of(history, named=named_works(session, wish))
    shares = [_share(found, one) for one in shown]
    reasons = reasons_of(session, user_id, shares, papers, deeds)
    return tuple(reasons.get(found.item_id, ()))


def _shown(papers: Sequence[PaperShare], *, limit: int) -> Sequence[PaperShare]:
    """The largest shares, and whatever was tried: a dislike may work without having a share."""
    return [*papers[:limit], *(one for one in papers[limit:] if one.rank_without is not None)]


def _share(found: Explanation, one: PaperShare) -> Share:
    return Share(
        work=found.item_id,
        own=one.item_id,
        amount=one.amount,
        terms=one.terms,
        is_liked=one.is_liked,
        rank=found.rank,
        rank_without=one.rank_without,
    )


def _words(session: Session, found: Explanation, *, limit: int) -> tuple[WordOfScore, ...]:
    """The largest terms as the paper writes them; a stem that stands in no text is not shown."""
    written = surface_forms(texts_of(session, [found.item_id]).get(found.item_id, ""))
    named = [one for one in found.terms if one.term in written]
    return tuple(WordOfScore(term=written[one.term], amount=one.amount) for one in named[:limit])


def _standing(found: Explanation, history: History, hidden: NDArray[np.int64]) -> Standing:
    if found.rank is not None:
        return Standing.CANDIDATE
    of_it = history.item_ids == found.item_id
    grounds = {
        Standing.IN_LIBRARY: of_it & history.saved,
        Standing.DISMISSED: of_it & history.dismissed,
        Standing.RATED: of_it & (history.ratings > 0),
        Standing.OPENED: of_it & (history.opens > 0),
    }
    if found.item_id in hidden and not grounds[Standing.IN_LIBRARY].any():
        return Standing.DISMISSED
    return next((why for why, rows in grounds.items() if rows.any()), Standing.SEED)


def _parts(found: Explanation) -> tuple[PartOfScore, ...]:
    return tuple(
        PartOfScore(name=part.name, raw=part.raw, gain=part.gain, amount=part.amount)
        for part in found.parts
    )


def _rest(total: float, shown: Sequence[Reason] | Sequence[WordOfScore]) -> float:
    return total - sum(one.amount for one in shown)
