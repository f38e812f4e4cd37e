"""Answers why one paper has its score: the numbers of ``models.explaining``, in words."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
from sqlalchemy.orm import Session

from models import explaining
from models.explaining import Explanation, PaperShare
from service.catalogue.queries import papers_of_works
from service.errors import TemporarilyUnavailable
from service.recommend.dataset import standing_feedback, texts_of
from service.recommend.interests import MyInterests, interests_without
from service.recommend.live_model import LiveModel
from service.recommend.question import Question, question_of, request_to
from service.recommend.reasons import Share, deeds_of, reasons_of, words_of
from service.recommend.records import (
    PaperExplanation,
    PartOfScore,
    Reason,
    Standing,
    Wish,
    WordOfScore,
)
from service.recommend.serve import facts_of
from service.recommend.wording import in_a_paragraph
from service.tables import FeedbackKind, Paper

COUNTERFACTUALS = explaining.COUNTERFACTUALS
OF_FEEDBACK = {
    FeedbackKind.NOT_MY_TOPIC: Standing.DISMISSED,
    FeedbackKind.LOW_QUALITY: Standing.LOW_QUALITY,
    FeedbackKind.MORE_LIKE_THIS: Standing.MORE_LIKE_THIS,
    FeedbackKind.SEEN: Standing.SEEN,
    FeedbackKind.LATER: Standing.LATER,
}
"""Of several papers of one work the first of these that was said of any of them."""


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

    Its numbers are those of a list made at the same moment for the same wish. Its ``limit`` says
    how many papers and terms are shown; the rest come as a sum. Raises InvalidInput for what of the
    wish is not there, TemporarilyUnavailable for a paper that the model has not
    read yet.
    """
    live = live_model.current(session, now=now)
    question = question_of(session, live_model, live, user_id, wish, now=now)
    request, mine = request_to(session, live_model, live, user_id, question)
    found = explaining.explain(
        live.model,
        question.history,
        request,
        paper.work_id,
        counterfactuals=counterfactuals,
        interests_without=_portfolio_without(mine) if mine else None,
    )
    if found is None:
        raise TemporarilyUnavailable("The recommender has not read this paper yet.")
    said = standing_feedback(session, user_id, paper.work_id, now=now)
    reasons = _reasons(session, user_id, found, question)
    terms = _words(session, found, limit=question.request.limit)
    explanation = PaperExplanation(
        paper=paper,
        strategy=found.strategy,
        standing=_standing(found, question, said),
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
    return replace(explanation, summary=in_a_paragraph(explanation))


def _portfolio_without(mine: MyInterests) -> explaining.InterestsWithout:
    return lambda work: interests_without(mine, work).portfolio


def _reasons(
    session: Session, user_id: int, found: Explanation, question: Question
) -> tuple[Reason, ...]:
    shown = _shown(found.papers, limit=question.request.limit)
    papers = papers_of_works(session, [share.item_id for share in shown])
    deeds = deeds_of(question.history, named=question.named)
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
    """The largest terms as the paper writes them."""
    text = texts_of(session, [found.item_id]).get(found.item_id, "")
    return words_of({one.term: one.amount for one in found.terms}, text)[:limit]


def _standing(found: Explanation, question: Question, said: Collection[FeedbackKind]) -> Standing:
    """``said``: the person's feedback on this paper."""
    if found.rank is not None:
        return Standing.CANDIDATE
    done = question.everything
    own = done.where(np.isin(done.item_ids, found.item_id))
    if own.saved.any():
        return Standing.IN_LIBRARY
    for kind, standing in OF_FEEDBACK.items():
        if kind in said:
            return standing
    if own.ratings.any():
        return Standing.RATED
    if len(own.known_ids) and own.opens.any():
        return Standing.OPENED
    if found.is_muted:
        return Standing.MUTED
    is_seed = np.isin(found.item_id, question.request.seeds).any()
    return Standing.SEED if is_seed else Standing.NOT_ASKED_FOR


def _parts(found: Explanation) -> tuple[PartOfScore, ...]:
    return tuple(
        PartOfScore(name=part.name, raw=part.raw, gain=part.gain, amount=part.amount)
        for part in found.parts
    )


def _rest(total: float, shown: Sequence[Reason] | Sequence[WordOfScore]) -> float:
    return total - sum(one.amount for one in shown)
