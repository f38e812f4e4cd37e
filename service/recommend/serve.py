"""Answers what to read next: one read of history, one of papers, arithmetic in between."""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, func, insert, select
from sqlalchemy.orm import Session

from models import recommending
from models.config import Config
from models.recommending import Request
from models.recommending import Slate as ModelSlate
from service.accounts.queries import get_user
from service.catalogue.queries import WITH_PARTS
from service.errors import InvalidInput
from service.recommend.dataset import (
    HighWater,
    hidden_works,
    history_of,
    library_changes,
    works_tagged,
)
from service.recommend.interests import interests_of, seeds_of
from service.recommend.live_model import Live, LiveModel
from service.recommend.rebuild import why_stale
from service.recommend.records import (
    ModelFacts,
    Reason,
    Recommendations,
    RecommendedPaper,
    Wish,
)
from service.tables import Impression, Paper, Slate

DEFAULT_DIVERSITY = Config().diversity

EXPLANATIONS = {
    "personal": "Chosen by what you saved, rated and dismissed.",
    "cold_start": (
        "Recent papers that are central to the catalogue: you have not saved or liked any yet, "
        "so there is nothing to go by."
    ),
}


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

    Raises InvalidInput for seeds, tags or interests that are not there.
    """
    library_version = get_user(session, user_id).library_version
    live = live_model.current(session, now=now)
    history = history_of(session, user_id, now=now)
    interests = interests_of(session, live_model, live, user_id, history)
    seeds = _seeds(session, user_id, wish)
    if wish.interest is not None:
        seeds = np.union1d(seeds, seeds_of(interests, wish.interest))
    hidden = np.concatenate([hidden_works(session, user_id, now=now), history.item_ids])
    slate = recommending.recommend(
        live.model,
        history,
        Request(
            limit=wish.limit,
            allowed=_allowed(session, wish),
            exclude=hidden,
            seeds=seeds,
            diversity=DEFAULT_DIVERSITY if wish.diversity is None else wish.diversity,
            interests=interests.portfolio,
        ),
        rng=rng,
    )
    works = [item.item_id for item in slate.items]
    reasons = [one.item_id for item in slate.items for one in item.because]
    papers = _papers_of_works(session, {*works, *reasons}, wish)
    items = tuple(
        RecommendedPaper(
            paper=papers[item.item_id],
            rank=item.rank,
            score=item.score,
            parts=item.parts,
            because=tuple(
                Reason(paper=papers[one.item_id], amount=one.amount) for one in item.because
            ),
            others=(
                item.score - sum(one.amount for one in item.because)
                if slate.strategy == "personal"
                else 0.0
            ),
            propensity=item.propensity,
            interest=interests.name_of(item.interest),
        )
        for item in slate.items
        if item.item_id in papers
    )
    return Recommendations(
        slate_id=uuid4(),
        strategy=slate.strategy,
        explanation=_explanation(slate, wish),
        items=items,
        model=_facts(session, live, now=now),
        library_version=library_version,
        catalogue_version=live.catalogue_version,
    )


def _explanation(slate: ModelSlate, wish: Wish) -> str:
    if not slate.items:
        return "Nothing is left to recommend: no paper that you do not know yet fits the request."
    if slate.strategy == "personal" and wish.seeds:
        return "Chosen by the papers that you named; what you dislike still counts against a paper."
    if slate.strategy == "personal" and wish.interest is not None:
        return "Chosen by your papers of this interest; what you dislike still counts."
    if slate.strategy == "personal" and wish.tag is not None:
        return "Chosen by your papers with this tag; what you dislike still counts against a paper."
    return EXPLANATIONS[slate.strategy]


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
        }
        for item in made.items
    ]
    if shown:
        session.execute(insert(Impression), shown)


def related(
    session: Session, live_model: LiveModel, paper: Paper, *, limit: int, now: datetime
) -> list[tuple[Paper, float]]:
    """The papers nearest to one, nearest first, with their similarity; never itself."""
    live = live_model.current(session, now=now)
    found = recommending.related(live.model, paper.work_id, limit=limit)
    papers = _papers_of_works(session, {work for work, _ in found}, Wish())
    return [(papers[work], score) for work, score in found if work in papers]


def model_facts(session: Session, live_model: LiveModel, *, now: datetime) -> ModelFacts:
    """How old the model behind the next answer is."""
    return _facts(session, live_model.current(session, now=now), now=now)


def _facts(session: Session, live: Live, *, now: datetime) -> ModelFacts:
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


def _seeds(session: Session, user_id: int, wish: Wish) -> NDArray[np.int64]:
    """The works to go by instead of the whole library; none for the library."""
    works: set[int] = set()
    if wish.seeds:
        found = session.execute(
            select(Paper.public_id, Paper.work_id).where(Paper.public_id.in_(wish.seeds))
        ).all()
        if unknown := set(wish.seeds) - {public_id for public_id, _ in found}:
            raise InvalidInput(f"There is no paper {min(unknown)}.", field="seeds")
        works |= {work_id for _, work_id in found}
    if wish.tag is not None:
        tagged = works_tagged(session, user_id, wish.tag)
        if not tagged:
            raise InvalidInput("None of your bookmarks has this tag.", field="tag")
        works |= tagged
    return np.array(sorted(works), dtype=np.int64)


def _allowed(session: Session, wish: Wish) -> NDArray[np.int64] | None:
    """The works that the wish leaves, or None if it leaves all."""
    conditions = _conditions(wish)
    if not conditions:
        return None
    return np.array(
        session.scalars(select(Paper.work_id).where(*conditions).distinct()).all(), dtype=np.int64
    )


def _conditions(wish: Wish) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wish.venue is not None:
        conditions.append(func.lower(Paper.venue) == wish.venue.lower())
    if wish.year_from is not None:
        conditions.append(Paper.year >= wish.year_from)
    if wish.list_name is not None:
        conditions.append(Paper.list_name == wish.list_name)
    return conditions


def _papers_of_works(session: Session, works: Collection[int], wish: Wish) -> dict[int, Paper]:
    """One paper for each work: one that fits the wish, if it can be, and has an abstract."""
    rows: Sequence[Paper] = session.scalars(
        select(Paper).where(Paper.work_id.in_(works)).options(*WITH_PARTS).order_by(Paper.id)
    ).all()

    def preference(paper: Paper) -> tuple[bool, bool]:
        fits = wish.list_name is None or paper.list_name == wish.list_name
        return fits, paper.abstract is not None

    best: dict[int, Paper] = {}
    for paper in rows:
        if paper.work_id not in best or preference(paper) > preference(best[paper.work_id]):
            best[paper.work_id] = paper
    return best
