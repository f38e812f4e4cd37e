"""Answers what to read next: one read of history, one of papers, arithmetic in between."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID, uuid4

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, insert, select
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
from service.recommend.interleaved import propose
from service.recommend.live_model import Live, LiveModel
from service.recommend.rebuild import why_late, why_stale
from service.recommend.records import (
    ModelFacts,
    Reason,
    Recommendations,
    RecommendedPaper,
    RelatedPapers,
    TrainingFacts,
    Wish,
)
from service.recommend.restrictions import (
    Restriction,
    allowed_works,
    fitting_papers,
    restrictions_of,
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

    Raises InvalidInput for seeds, tags, venues or listings that are not there.
    """
    library_version = get_user(session, user_id).library_version
    live = live_model.current(session, now=now)
    history = history_of(session, user_id, now=now)
    restrictions = restrictions_of(session, wish)
    allowed = allowed_works(session, restrictions)
    hidden = np.concatenate(
        [
            hidden_works(session, user_id, now=now),
            history.known_ids,
            _works_named(session, wish.exclude, "exclude_papers"),
        ]
    )
    known = history.without(_works_tagged(session, user_id, wish.exclude_tags, "exclude_tag"))
    request = Request(
        limit=wish.limit,
        allowed=allowed,
        exclude=hidden,
        seeds=_seeds(session, user_id, wish),
        diversity=DEFAULT_DIVERSITY if wish.diversity is None else wish.diversity,
        freshness=wish.freshness,
        exploration=wish.exploration,
    )

    def ask(one: Live) -> ModelSlate:
        return recommending.recommend(one.model, known, request, rng=rng)

    proposal = propose(session, live_model, live, ask, limit=wish.limit, now=now, rng=rng)
    slate, live, shared = proposal.slate, proposal.live, proposal.shared
    works = [item.item_id for item in slate.items]
    reasons = [one.item_id for item in slate.items for one in item.because]
    fitting = fitting_papers(session, restrictions, works)
    papers = _papers_of_works(session, {*works, *reasons}, fitting)
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
                item.score
                - item.parts.get("freshness", 0.0)
                - sum(one.amount for one in item.because)
                if slate.strategy == "personal"
                else 0.0
            ),
            propensity=item.propensity,
            explored=item.explored,
            arm=shared.arms[item.item_id] if shared else None,
            generation=shared.generations[shared.arms[item.item_id]] if shared else None,
        )
        for item in slate.items
        if item.item_id in papers
    )
    return Recommendations(
        slate_id=uuid4(),
        strategy=slate.strategy,
        explanation=_explanation(slate, wish, restrictions, allowed),
        items=items,
        model=replace(facts_of(session, live, now=now), experiment=shared.name if shared else None),
        library_version=library_version,
        catalogue_version=live.catalogue_version,
        experiment_id=shared.experiment_id if shared else None,
    )


def _explanation(
    slate: ModelSlate,
    wish: Wish,
    restrictions: Sequence[Restriction],
    allowed: NDArray[np.int64] | None,
) -> str:
    if not slate.items:
        return f"Nothing is left to recommend: {_why_empty(restrictions, allowed)}"
    if slate.strategy == "personal" and wish.seeds:
        return "Chosen by the papers that you named; what you dislike still counts against a paper."
    if slate.strategy == "personal" and wish.tag is not None:
        return "Chosen by your papers with this tag; what you dislike still counts against a paper."
    if slate.strategy == "cold_start" and wish.exclude_tags:
        return "Recent papers: without those with these tags, you have none that say what you like."
    return EXPLANATIONS[slate.strategy]


def _why_empty(restrictions: Sequence[Restriction], allowed: NDArray[np.int64] | None) -> str:
    if allowed is None:
        return "you know every paper of the catalogue, or have put it aside."
    fields = ", ".join(one.field for one in restrictions)
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
    papers = _papers_of_works(session, {work for work, _ in found}, frozenset())
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


def _seeds(session: Session, user_id: int, wish: Wish) -> NDArray[np.int64]:
    """The works to go by instead of the whole library; none for the library."""
    tags = () if wish.tag is None else (wish.tag,)
    named = _works_named(session, wish.seeds, "seeds")
    return np.union1d(named, _works_tagged(session, user_id, tags, "tag"))


def _works_named(session: Session, papers: Collection[UUID], field: str) -> NDArray[np.int64]:
    """The works of these papers; raises InvalidInput for one that is not there."""
    if not papers:
        return np.zeros(0, np.int64)
    rows = select(Paper.public_id, Paper.work_id).where(Paper.public_id.in_(papers))
    found: dict[UUID, int] = {row.public_id: row.work_id for row in session.execute(rows)}
    if unknown := set(papers) - set(found):
        raise InvalidInput(f"There is no paper {min(unknown)}.", field=field)
    return np.array(sorted(set(found.values())), dtype=np.int64)


def _works_tagged(
    session: Session, user_id: int, tags: Iterable[str], field: str
) -> NDArray[np.int64]:
    """The works of the person's bookmarks with one of these tags; raises InvalidInput for a tag
    that no bookmark has."""
    works: set[int] = set()
    for tag in tags:
        tagged = works_tagged(session, user_id, tag)
        if not tagged:
            raise InvalidInput("None of your bookmarks has this tag.", field=field)
        works |= tagged
    return np.array(sorted(works), dtype=np.int64)


def _papers_of_works(
    session: Session, works: Collection[int], fitting: Collection[int]
) -> dict[int, Paper]:
    """One paper for each work: one of ``fitting``, if it can be, and with an abstract."""
    rows: Sequence[Paper] = session.scalars(
        select(Paper).where(Paper.work_id.in_(works)).options(*WITH_PARTS).order_by(Paper.id)
    ).all()

    def preference(paper: Paper) -> tuple[bool, bool]:
        return paper.id in fitting, paper.abstract is not None

    best: dict[int, Paper] = {}
    for paper in rows:
        if paper.work_id not in best or preference(paper) > preference(best[paper.work_id]):
            best[paper.work_id] = paper
    return best
