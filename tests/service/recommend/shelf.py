"""A reader with a small conference listing: groups of papers that belong together, and outliers."""

import time
from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np

from service.catalogue.actions import add_paper
from service.catalogue.records import NewPaper
from service.db import scope
from service.library.actions import note_opening, save_bookmark, save_rating
from service.library.feedback import give_feedback, undo_feedback
from service.library.queries import feedback_page
from service.library.records import NewBookmark, NewFeedback, NewRating
from service.recommend.rebuild import Rebuilt, rebuild
from service.recommend.records import Recommendations, Wish
from service.recommend.serve import recommend
from service.runtime import Runtime
from service.tables import FeedbackKind, Paper, PaperSource
from tests.factories import NOW, Person

SOON = NOW + timedelta(minutes=1)
Groups = dict[str, list[Paper]]
"""The papers of a listing by topic."""

GROUPS = {
    "tides": (
        "We forecast tides in shallow estuaries with neural operators. The operator learns surge "
        "and tidal range from gauges, and beats harmonic analysis at ungauged estuaries.",
        "Storm surge in an estuary depends on tidal range and wind. We present a neural operator "
        "that assimilates tide gauges and forecasts surge six hours ahead.",
        "Harmonic analysis of tides fails in estuaries with a bore. We learn tidal constituents "
        "from gauges with a recurrent model and forecast surge without a hydrodynamic grid.",
    ),
    "parsing": (
        "Constituency parsing of treebanks in low-resource languages suffers from annotation "
        "noise. We train a chart parser with span scores that marginalises over noisy brackets.",
        "We study how treebank annotation noise harms a dependency parser, and propose span "
        "scores for chart parsing that are robust in low-resource languages.",
        "Chart parsers with span scores need treebanks. We distil brackets from a language model "
        "into a parser for low-resource languages and match supervised constituency parsing.",
    ),
    "batteries": (
        "Lithium plating shortens the life of batteries. We predict the remaining cycles of a "
        "cell from impedance spectra taken during the first charging cycles.",
        "From impedance spectra of lithium cells we estimate degradation by a Gaussian process, "
        "and schedule charging so that plating is avoided and cycles are gained.",
        "Fast charging degrades lithium cells. Our controller reads impedance and limits plating, "
        "which extends the cycle life of batteries by a third.",
    ),
}
OUTLIERS = (
    "Origami patterns fold flat only when angles around each vertex satisfy two theorems. We "
    "enumerate crease patterns with integer programming.",
    "The dialects of songbirds drift between valleys. We cluster recordings of sparrows and date "
    "the drift with a coalescent.",
    "Bread rises when yeast makes gas faster than it escapes. A rheological experiment measures "
    "gluten networks under shear.",
    "Auctions for wind farm leases end too low when bidders collude. We give a mechanism that is "
    "truthful in expectation.",
)


def add_listing(runtime: Runtime, *, now: datetime = NOW, year: int = 2026) -> Groups:
    """The papers by group; a group's first is what a reader starts from."""
    with runtime.writing() as session:
        groups = {
            name: [_add(session, text, year, now) for text in texts]
            for name, texts in {**GROUPS, "outliers": OUTLIERS}.items()
        }
        session.commit()
    return groups


def add_text(
    runtime: Runtime, text: str, *, year: int | None = 2026, now: datetime = SOON
) -> Paper:
    with runtime.writing() as session:
        paper = _add(session, text, year, now)
        session.commit()
    return paper


def _add(session, text: str, year: int | None, now: datetime) -> Paper:
    new = NewPaper(
        source=PaperSource.LISTING,
        abstract=text,
        venue="ICML",
        year=year,
        list_name="ICML 2026 Papers",
    )
    return add_paper(session, new, now=now)[0]


def train(runtime: Runtime, *, now: datetime = SOON) -> Rebuilt:
    return rebuild(runtime.sessions, runtime.live_model.registry, now=now, clock=time.monotonic)


class Reader:
    """One person, who does things with papers and asks what to read next."""

    def __init__(self, runtime: Runtime, person: Person) -> None:
        self.runtime, self.id = runtime, person.id

    def save(self, *papers: Paper, tags: tuple[str, ...] = (), now: datetime = SOON) -> None:
        with scope(self.runtime.writing(), self.id) as session:
            for paper in papers:
                new = NewBookmark(paper_id=paper.public_id, tags=tags)
                save_bookmark(session, self.id, new, now=now)
            session.commit()

    def rate(self, paper: Paper, stars: int) -> None:
        with scope(self.runtime.writing(), self.id) as session:
            new = NewRating(paper_id=paper.public_id, stars=stars)
            save_rating(session, self.id, new, now=SOON)
            session.commit()

    def dismiss(self, paper: Paper, kind: FeedbackKind, snooze: timedelta | None = None) -> None:
        with scope(self.runtime.writing(), self.id) as session:
            new = NewFeedback(paper_id=paper.public_id, kind=kind, snooze=snooze)
            give_feedback(session, self.id, new, now=SOON)
            session.commit()

    def undo(self) -> None:
        """Take back all feedback."""
        with scope(self.runtime.writing(), self.id) as session:
            for said in feedback_page(session, self.id, after=None, limit=100):
                undo_feedback(
                    session, self.id, said.public_id, expected_version=said.version, now=SOON
                )
            session.commit()

    def open(self, paper: Paper, *, now: datetime = SOON) -> None:
        with scope(self.runtime.writing(), self.id) as session:
            note_opening(session, self.id, paper.public_id, slate_id=None, now=now)
            session.commit()

    def ask(self, *, now: datetime = SOON, **wish: object) -> Recommendations:
        with scope(self.runtime.reading(), self.id) as session:
            return recommend(
                session,
                self.runtime.live_model,
                self.id,
                Wish(**wish),
                now=now,
                rng=np.random.default_rng(0),
            )

    def order(self, *, now: datetime = SOON, **wish: object) -> list[int]:
        """The keys of the papers that are recommended, best first."""
        return ids([item.paper for item in self.ask(now=now, **wish).items])


def ids(papers: Sequence[Paper]) -> list[int]:
    return [paper.id for paper in papers]
