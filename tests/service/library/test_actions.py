"""What a person keeps: each change once, in order, in the log, and nobody else's business."""

from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar
from uuid import UUID, uuid4

import numpy as np
import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from service.accounts.queries import get_user
from service.db import scope
from service.errors import InvalidInput, NotFound, PreconditionFailed
from service.library.actions import (
    change_bookmark,
    change_rating,
    note_opening,
    remove_bookmark,
    remove_rating,
    save_bookmark,
    save_rating,
)
from service.library.feedback import change_feedback, give_feedback, undo_feedback
from service.library.queries import (
    bookmarks_page,
    feedback_page,
    get_bookmark,
    get_feedback,
    get_rating,
    ratings_page,
)
from service.library.records import (
    BookmarkChange,
    BookmarkFilter,
    FeedbackChange,
    NewBookmark,
    NewFeedback,
    NewRating,
)
from service.library.tags import MOST_TAGS
from service.recommend.records import Recommendations, Wish
from service.recommend.serve import log_slate, recommend
from service.runtime import Runtime
from service.tables import (
    Bookmark,
    Feedback,
    FeedbackKind,
    Interaction,
    LibraryDeletion,
    Paper,
    Rating,
    ReadingStatus,
    Tag,
)
from tests.factories import NOW, Person, make_paper, make_papers
from tests.service.threads import all_at_once

Result = TypeVar("Result")
LATER = NOW + timedelta(hours=1)


class Shelf:
    """One person's actions, each in a transaction of its own."""

    def __init__(self, runtime: Runtime, person: Person) -> None:
        self.runtime, self.id = runtime, person.id

    def write(self, act: Callable[[Session], Result]) -> Result:
        with scope(self.runtime.writing(), self.id) as session:
            result = act(session)
            session.commit()
            return result

    def read(self, ask: Callable[[Session], Result]) -> Result:
        with scope(self.runtime.reading(), self.id) as session:
            return ask(session)

    def save(self, paper: Paper, **values: object) -> tuple[Bookmark, bool]:
        new = NewBookmark(paper_id=paper.public_id, **values)
        return self.write(lambda session: save_bookmark(session, self.id, new, now=NOW))

    def rate(self, paper: Paper, stars: int, **values: object) -> tuple[Rating, bool]:
        new = NewRating(paper_id=paper.public_id, stars=stars, **values)
        return self.write(lambda session: save_rating(session, self.id, new, now=NOW))

    def dismiss(
        self, paper: Paper, kind: FeedbackKind = FeedbackKind.SEEN, **values: object
    ) -> tuple[Feedback, bool]:
        new = NewFeedback(paper_id=paper.public_id, kind=kind, **values)
        return self.write(lambda session: give_feedback(session, self.id, new, now=NOW))

    def change(
        self, bookmark_id: UUID, *, expected: int | None = None, **values: object
    ) -> Bookmark:
        change = BookmarkChange(**values)
        return self.write(
            lambda session: change_bookmark(
                session, self.id, bookmark_id, change, expected_version=expected, now=LATER
            )
        )

    @property
    def version(self) -> int:
        return self.read(lambda session: get_user(session, self.id).library_version)

    @property
    def log(self) -> list[Interaction]:
        query = sa.select(Interaction).order_by(Interaction.id)
        return self.read(lambda session: list(session.scalars(query)))

    @property
    def said(self) -> list[tuple[str, str | None]]:
        return [(line.kind.value, line.value) for line in self.log]

    @property
    def deletions(self) -> list[LibraryDeletion]:
        query = sa.select(LibraryDeletion).order_by(LibraryDeletion.id)
        return self.read(lambda session: list(session.scalars(query)))

    def rows(self, table: type) -> int:
        return self.read(lambda session: len(session.scalars(sa.select(table.id)).all()))


@pytest.fixture
def hers(runtime: Runtime, alice: Person) -> Shelf:
    return Shelf(runtime, alice)


@pytest.fixture
def his(runtime: Runtime, bob: Person) -> Shelf:
    return Shelf(runtime, bob)


@pytest.fixture
def paper(runtime: Runtime) -> Paper:
    return make_paper(runtime)


# ---- Bookmarks ---------------------------------------------------------------------------------


def test_a_paper_is_saved_as_it_was_said(hers: Shelf, paper: Paper):
    made, is_new = hers.save(
        paper, status=ReadingStatus.READING, note="for Monday", tags=("Graphs",)
    )
    assert is_new
    kept = hers.read(lambda session: get_bookmark(session, hers.id, made.public_id))
    assert (kept.paper.id, kept.status, kept.note) == (paper.id, "reading", "for Monday")
    assert ([tag.name for tag in kept.tags], kept.version) == (["Graphs"], 1)
    assert (kept.saved_at, kept.changed_at) == (NOW, NOW)


def test_saving_a_paper_twice_keeps_one_bookmark_as_it_was(hers: Shelf, paper: Paper):
    first, _ = hers.save(paper, note="first", tags=("a",))
    again, is_new = hers.save(paper, note="second", tags=("b",), status=ReadingStatus.READ)
    assert not is_new
    assert (again.public_id, again.note, again.version) == (first.public_id, "first", 1)
    assert [tag.name for tag in again.tags] == ["a"]
    assert hers.rows(Bookmark) == 1
    assert hers.said == [("save", None)]


def test_eight_clicks_keep_one_bookmark(hers: Shelf, paper: Paper):
    made: list[bool] = []
    assert all_at_once([lambda: made.append(hers.save(paper)[1])] * 8) == []
    assert sorted(made) == [False] * 7 + [True]
    assert (hers.rows(Bookmark), hers.said) == (1, [("save", None)])


def test_what_is_not_in_the_catalogue_cannot_be_kept(hers: Shelf, paper: Paper):
    before = hers.version
    unknown = Paper(public_id=uuid4())
    for keep in (hers.save, lambda it: hers.rate(it, 5), hers.dismiss):
        with pytest.raises(NotFound):
            keep(unknown)
    assert (hers.version, hers.log) == (before, [])


def test_a_change_takes_what_was_said_and_leaves_the_rest(hers: Shelf, paper: Paper):
    made, _ = hers.save(paper, note="old", tags=("a", "b"))
    changed = hers.change(made.public_id, note="new", expected=1)
    assert (changed.note, changed.status, changed.version) == ("new", "to_read", 2)
    assert [tag.name for tag in changed.tags] == ["a", "b"]
    assert (changed.saved_at, changed.changed_at) == (NOW, LATER)
    assert hers.said == [("save", None)], "a note says nothing of taste"
    assert hers.change(made.public_id, note="", tags=()).tags == []


def test_a_new_status_is_a_line_in_the_log_and_the_same_one_is_not(hers: Shelf, paper: Paper):
    made, _ = hers.save(paper)
    hers.change(made.public_id, status=ReadingStatus.READ)
    hers.change(made.public_id, status=ReadingStatus.READ)
    assert hers.said == [("save", None), ("status", "read")]


def test_a_change_of_what_has_changed_meanwhile_is_refused(hers: Shelf, paper: Paper):
    made, _ = hers.save(paper)
    hers.change(made.public_id, note="from the phone", expected=1)
    with pytest.raises(PreconditionFailed):
        hers.change(made.public_id, note="from the desk", expected=1)
    with pytest.raises(PreconditionFailed):
        hers.write(
            lambda session: remove_bookmark(
                session, hers.id, made.public_id, expected_version=1, now=NOW
            )
        )
    kept = hers.read(lambda session: get_bookmark(session, hers.id, made.public_id))
    assert (kept.note, kept.version) == ("from the phone", 2)


def test_of_eight_changes_of_one_version_one_is_taken(hers: Shelf, paper: Paper):
    made, _ = hers.save(paper)

    def change(note: str) -> Callable[[], object]:
        return lambda: hers.change(made.public_id, note=note, expected=1)

    errors = all_at_once([change(str(n)) for n in range(8)])
    assert [type(error) for error in errors] == [PreconditionFailed] * 7


def test_a_removed_bookmark_leaves_a_mark_for_those_who_sync(hers: Shelf, paper: Paper):
    made, _ = hers.save(paper, tags=("a",))
    hers.write(
        lambda session: remove_bookmark(
            session, hers.id, made.public_id, expected_version=1, now=LATER
        )
    )
    assert hers.rows(Bookmark) == 0
    (mark,) = hers.deletions
    assert (mark.object_kind, mark.object_id) == ("bookmark", str(made.public_id))
    assert (mark.deleted_at, mark.library_version) == (LATER, hers.version)
    assert hers.said == [("save", None), ("unsave", None)]
    with pytest.raises(NotFound):
        hers.change(made.public_id, note="too late")
    again, is_new = hers.save(paper)
    assert is_new
    assert again.public_id != made.public_id


# ---- Tags --------------------------------------------------------------------------------------


def test_a_tag_is_one_whatever_its_case_and_the_blanks_around_it(hers: Shelf, runtime: Runtime):
    first, second = make_papers(runtime, 2)
    one, _ = hers.save(first, tags=(" Graph  learning ", "GRAPH  LEARNING", "  ", ""))
    other, _ = hers.save(
        second, tags=("graph  learning", "Straße", "STRASSE", "Cafe\u0301", "café")
    )
    assert [tag.name for tag in one.tags] == ["Graph  learning"], "as it was written first"
    assert [tag.name for tag in other.tags] == ["Café", "Graph  learning", "Straße"]
    assert hers.rows(Tag) == 3


def test_tags_find_their_bookmarks(hers: Shelf, runtime: Runtime):
    first, second = make_papers(runtime, 2)
    hers.save(first, tags=("Graphs",))
    hers.save(second, tags=("other",))

    def tagged(name: str) -> list[int]:
        which = BookmarkFilter(tag=name)
        page = hers.read(
            lambda session: bookmarks_page(session, hers.id, which, after=None, limit=9)
        )
        return [bookmark.paper_id for bookmark in page]

    assert tagged("graphs") == tagged("GRAPHS") == tagged(" Graphs ") == [first.id]
    assert tagged("nothing") == []


def test_one_persons_tag_is_not_anothers(hers: Shelf, his: Shelf, paper: Paper):
    hers.save(paper, tags=("x",))
    his.save(paper, tags=("X",))
    assert (hers.rows(Tag), his.rows(Tag)) == (1, 1)


def test_there_is_an_end_to_tags(hers: Shelf, paper: Paper):
    enough = tuple(str(n) for n in range(MOST_TAGS))
    with pytest.raises(InvalidInput) as refused:
        hers.save(paper, tags=(*enough, "one more"))
    assert refused.value.field == "tags"
    assert hers.rows(Bookmark) == hers.rows(Tag) == 0
    made, _ = hers.save(paper, tags=enough)
    assert len(made.tags) == MOST_TAGS


# ---- Ratings -----------------------------------------------------------------------------------


def test_the_last_stars_count(hers: Shelf, paper: Paper):
    first, is_first = hers.rate(paper, 2)
    again, is_second = hers.rate(paper, 5)
    assert (is_first, is_second) == (True, False)
    assert (again.public_id, again.stars, again.version) == (first.public_id, 5, 2)
    same, _ = hers.rate(paper, 5)
    assert same.version == 2
    assert hers.said == [("rate", "2"), ("rate", "5")]


def test_eight_ratings_of_one_paper_are_one(hers: Shelf, paper: Paper):
    assert all_at_once([lambda: hers.rate(paper, 4)] * 8) == []
    assert (hers.rows(Rating), hers.said) == (1, [("rate", "4")])


def test_a_rating_is_changed_and_removed_at_its_version(hers: Shelf, paper: Paper):
    made, _ = hers.rate(paper, 2)

    def change(stars: int, expected: int) -> Rating:
        return hers.write(
            lambda session: change_rating(
                session, hers.id, made.public_id, stars, expected_version=expected, now=LATER
            )
        )

    def remove(expected: int) -> None:
        hers.write(
            lambda session: remove_rating(
                session, hers.id, made.public_id, expected_version=expected, now=LATER
            )
        )

    assert (change(3, 1).stars, change(4, 2).version) == (3, 3)
    with pytest.raises(PreconditionFailed):
        change(1, 1)
    with pytest.raises(PreconditionFailed):
        remove(1)
    remove(3)
    assert hers.rows(Rating) == 0
    assert [mark.object_kind for mark in hers.deletions] == ["rating"]
    assert hers.said == [("rate", "2"), ("rate", "3"), ("rate", "4"), ("unrate", None)]


# ---- Feedback ----------------------------------------------------------------------------------


def test_the_last_word_about_a_paper_counts(hers: Shelf, paper: Paper):
    first, is_first = hers.dismiss(paper, FeedbackKind.LATER, snooze=timedelta(days=7))
    assert (is_first, first.until) == (True, NOW + timedelta(days=7))
    again, is_second = hers.dismiss(paper, FeedbackKind.NOT_MY_TOPIC)
    assert (is_second, again.public_id, again.until) == (False, first.public_id, None)
    assert (again.kind, hers.rows(Feedback)) == ("not_my_topic", 1)
    assert hers.said == [("dismiss", "later"), ("dismiss", "not_my_topic")]


@pytest.mark.parametrize("kind", list(FeedbackKind))
def test_later_and_nothing_else_says_until_when(hers: Shelf, paper: Paper, kind: FeedbackKind):
    snooze = None if kind is FeedbackKind.LATER else timedelta(days=1)
    with pytest.raises(InvalidInput) as refused:
        hers.dismiss(paper, kind, snooze=snooze)
    assert refused.value.field == "snooze_days"
    assert ("is missing" in str(refused.value)) == (kind is FeedbackKind.LATER)
    assert hers.log == []


def test_a_dismissal_is_taken_back(hers: Shelf, paper: Paper):
    made, _ = hers.dismiss(paper)

    def undo(version: int) -> None:
        hers.write(
            lambda session: undo_feedback(
                session, hers.id, made.public_id, expected_version=version, now=LATER
            )
        )

    with pytest.raises(PreconditionFailed):
        undo(2)
    undo(1)
    assert hers.rows(Feedback) == 0
    assert [mark.object_kind for mark in hers.deletions] == ["feedback"]
    assert hers.said == [("dismiss", "seen"), ("undismiss", "seen")]
    with pytest.raises(NotFound):
        undo(1)


def test_a_changed_mind_is_one_row_of_a_new_version(hers: Shelf, paper: Paper):
    made, _ = hers.dismiss(paper, FeedbackKind.LATER, snooze=timedelta(days=7))

    def change(version: int) -> Feedback:
        return hers.write(
            lambda session: change_feedback(
                session,
                hers.id,
                made.public_id,
                FeedbackChange(kind=FeedbackKind.MORE_LIKE_THIS),
                expected_version=version,
                now=LATER,
            )
        )

    with pytest.raises(PreconditionFailed):
        change(2)
    changed = change(1)
    assert (changed.kind, changed.until, changed.version) == ("more_like_this", None, 2)
    assert hers.rows(Feedback) == 1
    assert hers.said == [("dismiss", "later"), ("more_like_this", "more_like_this")]


# ---- The order of changes ----------------------------------------------------------------------


def test_every_change_has_a_version_above_all_before_it(hers: Shelf, runtime: Runtime):
    one, other = make_papers(runtime, 2)
    seen = [hers.version]
    made, _ = hers.save(one)
    seen.append(made.library_version)
    seen.append(hers.change(made.public_id, note="x").library_version)
    seen.append(hers.rate(one, 4)[0].library_version)
    seen.append(hers.dismiss(other)[0].library_version)
    hers.write(
        lambda session: remove_bookmark(
            session, hers.id, made.public_id, expected_version=None, now=NOW
        )
    )
    seen.append(hers.deletions[-1].library_version)
    assert seen == sorted(set(seen))
    assert hers.version == seen[-1]


def test_versions_of_changes_at_the_same_moment_are_all_different(
    hers: Shelf, his: Shelf, runtime: Runtime
):
    papers = make_papers(runtime, 8)
    errors = all_at_once([lambda paper=paper: hers.save(paper) for paper in papers])
    assert errors == []
    query = sa.select(Bookmark.library_version)
    versions = hers.read(lambda session: sorted(session.scalars(query)))
    assert versions == sorted(set(versions))
    assert versions[-1] == hers.version
    assert his.version == 0, "everybody counts for themselves"


def test_who_sees_a_version_sees_everything_below_it(hers: Shelf, runtime: Runtime):
    """A change that began earlier is never committed with a lower version later."""
    papers = make_papers(runtime, 12)
    gaps: list[object] = []

    def look() -> None:
        for _ in range(30):
            with scope(runtime.reading(), hers.id) as session:
                versions = sorted(session.scalars(sa.select(Bookmark.library_version)))
                if versions != list(range(1, len(versions) + 1)):
                    gaps.append(versions)

    tasks: list[Callable[[], object]] = [lambda it=paper: hers.save(it) for paper in papers]
    assert all_at_once([*tasks, look, look]) == []
    assert gaps == []


# ---- The log -----------------------------------------------------------------------------------


def shown_to(runtime: Runtime, person_id: int, n: int = 5) -> Recommendations:
    with scope(runtime.writing(), person_id) as session:
        made = recommend(
            session,
            runtime.live_model,
            person_id,
            Wish(limit=n),
            now=NOW,
            rng=np.random.default_rng(0),
        )
        log_slate(session, person_id, made, now=NOW)
        session.commit()
    return made


def test_what_came_from_a_slate_says_so(hers: Shelf, runtime: Runtime):
    make_papers(runtime, 6)
    slate = shown_to(runtime, hers.id)
    chosen = slate.items[2]
    hers.save(chosen.paper, slate_id=slate.slate_id)
    hers.rate(chosen.paper, 5, slate_id=slate.slate_id)
    hers.dismiss(slate.items[4].paper, slate_id=slate.slate_id)
    hers.write(
        lambda session: note_opening(
            session, hers.id, slate.items[0].paper.public_id, slate_id=slate.slate_id, now=LATER
        )
    )
    assert [(line.kind.value, line.position) for line in hers.log] == [
        ("save", 3),
        ("rate", 3),
        ("dismiss", 5),
        ("open", 1),
    ]
    assert all(line.slate_id and line.propensity == 1.0 for line in hers.log)
    assert {line.generation for line in hers.log} == {slate.model.generation}


def test_a_paper_is_opened_once_from_a_slate(hers: Shelf, runtime: Runtime):
    make_papers(runtime, 3)
    one, other = shown_to(runtime, hers.id), shown_to(runtime, hers.id)
    paper = one.items[0].paper

    def look(slate_id: UUID | None) -> None:
        hers.write(
            lambda session: note_opening(
                session, hers.id, paper.public_id, slate_id=slate_id, now=LATER
            )
        )

    look(one.slate_id)
    before = hers.version
    look(one.slate_id)
    assert (len(hers.log), hers.version) == (1, before), "nothing has changed"
    for slate_id in (other.slate_id, None, None):
        look(slate_id)
    assert len(hers.log) == 4, "from another list, and from nowhere in particular, it counts"


def test_a_double_click_opens_a_paper_once(hers: Shelf, runtime: Runtime):
    make_papers(runtime, 3)
    slate = shown_to(runtime, hers.id)
    paper_id = slate.items[0].paper.public_id

    def look() -> None:
        hers.write(
            lambda session: note_opening(
                session, hers.id, paper_id, slate_id=slate.slate_id, now=LATER
            )
        )

    assert all_at_once([look] * 4) == []
    assert hers.said == [("open", None)]


def test_what_came_from_nowhere_says_nothing(hers: Shelf, paper: Paper):
    hers.save(paper)
    (line,) = hers.log
    assert (line.slate_id, line.position, line.generation, line.propensity) == (None,) * 4
    assert (line.paper_id, line.at) == (paper.id, NOW)


def test_a_slate_that_did_not_show_the_paper_is_refused_with_everything(
    hers: Shelf, his: Shelf, runtime: Runtime
):
    make_papers(runtime, 3)
    slate = shown_to(runtime, hers.id)
    other = make_paper(runtime)
    before = hers.version
    with pytest.raises(InvalidInput) as refused:
        hers.save(other, slate_id=slate.slate_id)
    assert refused.value.field == "slate_id"
    assert (hers.rows(Bookmark), hers.log, hers.version) == (0, [], before)
    with pytest.raises(InvalidInput):
        his.save(slate.items[0].paper, slate_id=slate.slate_id)
    with pytest.raises(InvalidInput):
        hers.save(other, slate_id=uuid4())


def test_what_is_rolled_back_is_not_in_the_log_either(hers: Shelf, paper: Paper):
    before = hers.version
    with scope(hers.runtime.writing(), hers.id) as session:
        save_bookmark(session, hers.id, NewBookmark(paper_id=paper.public_id), now=NOW)
        session.rollback()
    assert (hers.rows(Bookmark), hers.log, hers.version) == (0, [], before)


# ---- Other people ------------------------------------------------------------------------------


def test_another_persons_things_are_not_there(hers: Shelf, his: Shelf, paper: Paper):
    bookmark, rating = his.save(paper)[0].public_id, his.rate(paper, 5)[0].public_id
    feedback = his.dismiss(paper)[0].public_id
    none = uuid4()
    reads: list[Callable[[Session, UUID, UUID, UUID], object]] = [
        lambda s, b, _r, _f: get_bookmark(s, hers.id, b),
        lambda s, _b, r, _f: get_rating(s, hers.id, r),
        lambda s, _b, _r, f: get_feedback(s, hers.id, f),
        lambda s, b, _r, _f: change_bookmark(
            s, hers.id, b, BookmarkChange(note="!"), expected_version=None, now=NOW
        ),
        lambda s, b, _r, _f: remove_bookmark(s, hers.id, b, expected_version=None, now=NOW),
        lambda s, _b, r, _f: change_rating(s, hers.id, r, 1, expected_version=None, now=NOW),
        lambda s, _b, r, _f: remove_rating(s, hers.id, r, expected_version=None, now=NOW),
        lambda s, _b, _r, f: undo_feedback(s, hers.id, f, expected_version=None, now=NOW),
    ]
    for act in reads:
        said = []
        for ids in ((bookmark, rating, feedback), (none, none, none)):
            with pytest.raises(NotFound) as refused:
                hers.write(lambda s, act=act, ids=ids: act(s, *ids))
            said.append(str(refused.value))
        assert said[0] == said[1], "exactly like what never was"
    assert (his.rows(Bookmark), his.rows(Rating), his.rows(Feedback)) == (1, 1, 1)
    assert hers.log == []


# ---- Pages -------------------------------------------------------------------------------------


def test_pages_are_the_whole_list_once_whatever_ties_there_are(hers: Shelf, runtime: Runtime):
    papers = make_papers(runtime, 7)
    for paper in papers:
        hers.save(paper)
        hers.rate(paper, 3)
        hers.dismiss(paper)

    def walk(page: Callable[..., object], at: str) -> list[int]:
        seen: list[int] = []
        after = None
        while True:
            rows = hers.read(lambda session: page(session, after))  # noqa: B023
            if not rows:
                return seen
            seen += [row.paper_id for row in rows]
            after = (getattr(rows[-1], at), rows[-1].public_id)

    everything = BookmarkFilter()
    for page, at in (
        (
            lambda s, after: bookmarks_page(s, hers.id, everything, after=after, limit=3),
            "saved_at",
        ),
        (lambda s, after: ratings_page(s, hers.id, after=after, limit=3), "rated_at"),
        (lambda s, after: feedback_page(s, hers.id, after=after, limit=3), "given_at"),
    ):
        seen = walk(page, at)
        assert sorted(seen) == sorted(paper.id for paper in papers)


def test_a_page_has_one_status(hers: Shelf, runtime: Runtime):
    one, other = make_papers(runtime, 2)
    hers.save(one, status=ReadingStatus.READ)
    hers.save(other)
    which = BookmarkFilter(status=ReadingStatus.READ)
    page = hers.read(lambda session: bookmarks_page(session, hers.id, which, after=None, limit=9))
    assert [bookmark.paper_id for bookmark in page] == [one.id]
