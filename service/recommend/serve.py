"""Answers what to read next: one read of history, one of papers, arithmetic in between."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from models import recommending
from models.ranking.scoring import NO_IDS
from models.recommending import Recommended
from models.recommending import Slate as ModelSlate
from service.accounts.queries import get_user
from service.catalogue.queries import papers_of_works
from service.recommend.dataset import HighWater, library_changes, texts_of
from service.recommend.interests import MyInterests
from service.recommend.interleaved import propose
from service.recommend.live_model import Live, LiveModel
from service.recommend.question import Question, question_of, request_to
from service.recommend.reasons import Share, deeds_of, reasons_of, words_of
from service.recommend.rebuild import why_late, why_stale
from service.recommend.records import (
    InterestName,
    ModelFacts,
    Recommendations,
    RecommendedPaper,
    RelatedPapers,
    TrainingFacts,
    Wish,
    WordOfScore,
)
from service.recommend.restrictions import fitting_papers
from service.tables import Impression, Paper, Slate

MOST_TERMS = 5
EXPLANATIONS = {
    "personal": "Chosen by what you saved, rated and dismissed.",
    "cold_start": (
        "Recent papers that are central to the catalogue: you have not saved or liked any yet, "
        "so there is nothing to go by."
    ),
}

ALL_MUTED = "you have muted what you like, so there is nothing to go by."
ALL_WITH_TAGS = "what you like has these tags or is muted, so there is nothing to go by."


def recommend(
    session: Session,
    live_model: LiveModel,
    user_id: int,
    wish: Wish,
    *,
    now: datetime,
    rng: np.random.Generator,
) -> Recommendations:
    """The slate for one person, in a session bound to that person; logs nothing.

    Raises InvalidInput for seeds, tags, collections, interests, venues or listings that are
    not there.
    """
    library_version = get_user(session, user_id).library_version
    live = live_model.current(session, now=now)
    question = question_of(session, live_model, live, user_id, wish, now=now)
    interests: dict[str | None, MyInterests | None] = {}

    def ask(one: Live) -> ModelSlate:
        request, mine = request_to(session, live_model, one, user_id, question)
        interests[one.generation] = mine
        slate = recommending.recommend(one.model, question.history, request, rng=rng)
        unseen = _unseen(session, one, slate)
        if len(unseen):
            request = replace(request, exclude=np.concatenate([request.exclude, unseen]))
            slate = recommending.recommend(one.model, question.history, request, rng=rng)
        return slate

    proposal = propose(session, live_model, live, ask, limit=wish.limit, now=now, rng=rng)
    if live.generation not in interests:  # two others share the list
        interests[live.generation] = request_to(session, live_model, live, user_id, question)[1]
    mine = interests[live.generation]
    slate, live, shared = proposal.slate, proposal.live, proposal.shared
    makers = {
        item.item_id: shared.generations[shared.arms[item.item_id]] if shared else live.generation
        for item in slate.items
    }
    works = [item.item_id for item in slate.items]
    own = [one.item_id for item in slate.items for one in item.because]
    fitting = fitting_papers(session, question.restrictions, works)
    papers = papers_of_works(session, {*works, *own}, fitting)
    words = _words(session, slate)
    deeds = deeds_of(question.history, named=question.named)
    reasons = reasons_of(session, user_id, _shares(slate), papers, deeds)
    items = tuple(
        RecommendedPaper(
            paper=papers[item.item_id],
            rank=item.rank,
            score=item.score,
            parts=item.parts,
            because=tuple(reasons.get(item.item_id, ())),
            others=(
                item.from_papers - sum(one.amount for one in item.because)
                if slate.strategy == "personal"
                else 0.0
            ),
            terms=words[item.item_id][:MOST_TERMS],
            other_terms=_other_terms(item, words[item.item_id][:MOST_TERMS]),
            not_from_words=(None if item.terms is None else item.score - sum(item.terms.values())),
            propensity=proposal.propensities[item.item_id],
            explored=item.explored,
            interest=_interest(interests[makers[item.item_id]], item.interest),
            arm=shared.arms[item.item_id] if shared else None,
            generation=makers[item.item_id] if shared else None,
        )
        for item in slate.items
        if item.item_id in papers
    )
    return Recommendations(
        slate_id=uuid4(),
        strategy=slate.strategy,
        explanation=_explanation(slate, wish, question, interests.get(live.generation)),
        items=items,
        model=replace(facts_of(session, live, now=now), experiment=shared.name if shared else None),
        library_version=library_version,
        catalogue_version=live.catalogue_version,
        experiment_id=shared.experiment_id if shared else None,
        interests_fit=mine is None or mine.still_fit,
    )


def _unseen(session: Session, live: Live, slate: ModelSlate) -> NDArray[np.int64]:
    """The model's works (u,) that the session cannot see, if one of them is in the slate.

    While this session reads its snapshot, another may let the model grow by newer papers.
    """
    works = {item.item_id for item in slate.items}
    seen = select(Paper.work_id).distinct()
    if works <= set(session.scalars(seen.where(Paper.work_id.in_(works)))):
        return NO_IDS
    return np.setdiff1d(live.model.item_ids, np.array(session.scalars(seen).all(), np.int64))


def _words(session: Session, slate: ModelSlate) -> dict[int, tuple[WordOfScore, ...]]:
    """What the words of each work bring, as it writes them, the largest first."""
    told = {item.item_id: item.terms for item in slate.items if item.terms is not None}
    texts = texts_of(session, list(told)) if told else {}
    return {
        item.item_id: words_of(told.get(item.item_id, {}), texts.get(item.item_id, ""))
        for item in slate.items
    }


def _other_terms(item: Recommended, shown: Sequence[WordOfScore]) -> float | None:
    if item.terms is None:
        return None
    return sum(item.terms.values()) - sum(one.amount for one in shown)


def _interest(mine: MyInterests | None, unit: int | None) -> InterestName | None:
    return mine.name_of(unit) if mine else None


def _shares(slate: ModelSlate) -> list[Share]:
    return [
        Share(work=item.item_id, own=one.item_id, amount=one.amount, terms=one.terms)
        for item in slate.items
        for one in item.because
    ]


def _explanation(
    slate: ModelSlate, wish: Wish, question: Question, mine: MyInterests | None
) -> str:
    if not slate.items:
        return f"Nothing is left to recommend: {_why_empty(question)}"
    if slate.strategy == "personal" and wish.seeds:
        return "Chosen by the papers that you named; what you dislike still counts against a paper."
    if slate.strategy == "personal" and wish.interest is not None:
        return "Chosen by your papers of this interest; what you dislike still counts."
    if slate.strategy == "personal" and wish.collection is not None:
        return "Chosen by your papers in this collection; what you dislike still counts."
    if slate.strategy == "personal" and wish.tag is not None:
        return "Chosen by your papers with this tag; what you dislike still counts against a paper."
    if slate.strategy == "cold_start" and mine and mine.portfolio.mutes_any:
        return f"Recent papers: {ALL_WITH_TAGS if wish.exclude_tags else ALL_MUTED}"
    if slate.strategy == "cold_start" and wish.exclude_tags:
        return "Recent papers: without those with these tags, you have none that say what you like."
    return EXPLANATIONS[slate.strategy]


def _why_empty(question: Question) -> str:
    allowed = question.request.allowed
    if allowed is None:
        return "you know every paper of the catalogue, or have put it aside."
    fields = ", ".join(one.field for one in question.restrictions)
    if len(allowed) == 0:
        return f"no paper in the catalogue fits the request ({fields}). Ask for less of a paper."
    are = "the one paper that fits" if len(allowed) == 1 else f"the {len(allowed)} papers that fit"
    return f"you know {are} the request ({fields}), or have put them aside."


def log_slate(session: Session, user_id: int, made: Recommendations, *, now: datetime) -> None:
    """Keep what was shown, so that what is saved from it can be learned from."""
    slate = Slate(
        public_id=made.slate_id,
        user_id=user_id,
        at=now,
        generation=made.model.generation,
        strategy=made.strategy,
        library_version=made.library_version,
        catalogue_version=made.catalogue_version,
        experiment_id=made.experiment_id,
    )
    session.add(slate)
    session.flush()
    shown = [
        {
            "user_id": user_id,
            "slate_id": slate.id,
            "position": item.rank,
            "paper_id": item.paper.id,
            "score": item.score,
            "propensity": item.propensity,
            "arm": item.arm,
            "generation": item.generation,
        }
        for item in made.items
    ]
    if shown:
        session.execute(insert(Impression), shown)


def related(
    session: Session, live_model: LiveModel, paper: Paper, *, limit: int, now: datetime
) -> RelatedPapers:
    """The papers nearest to one, nearest first, with their similarity; never itself."""
    live = live_model.current(session, now=now)
    found = recommending.related(live.model, paper.work_id, limit=limit)
    papers = papers_of_works(session, {work for work, _ in found})
    return RelatedPapers(
        items=tuple((papers[work], score) for work, score in found if work in papers),
        model=facts_of(session, live, now=now),
    )


def model_facts(session: Session, live_model: LiveModel, *, now: datetime) -> ModelFacts:
    """How old the model behind the next answer is."""
    return facts_of(session, live_model.current(session, now=now), now=now)


def training_facts(session: Session, live_model: LiveModel, *, now: datetime) -> TrainingFacts:
    """How the trainings stand, in a session that is nobody's."""
    live = live_model.current(session, now=now)
    facts = dict(live.facts) if live.generation else None
    seconds = (facts or {}).get("fit_seconds")
    return TrainingFacts(
        generation=live.generation,
        trained_at=live.trained_at,
        seconds=None if seconds is None else float(seconds),
        catalogue_lag=live.catalogue_version - int((facts or {}).get("catalogue_version", 0)),
        late_because=why_late(session, facts, now=now),
    )


def facts_of(session: Session, live: Live, *, now: datetime) -> ModelFacts:
    """What every list says of the model that made it."""
    mark = HighWater(
        catalogue_version=live.catalogue_version,
        library_changes=library_changes(session),
        n_works=len(live.model.item_ids),
    )
    stale_because = live.trouble or why_stale(
        dict(live.facts) if live.generation else None, mark, now=now
    )
    return ModelFacts(
        generation=live.generation,
        trained_at=live.trained_at,
        catalogue_as_of=session.scalar(select(func.max(Paper.added_at))) or now,
        stale=stale_because is not None,
        stale_because=stale_because,
    )
