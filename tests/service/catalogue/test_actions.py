"""Papers come into the catalogue once, in the order of their versions."""

from collections.abc import Callable
from datetime import datetime

import pytest
import sqlalchemy as sa

from service.catalogue.actions import add_paper, add_papers, paper_fingerprint
from service.catalogue.identifiers import Identifier
from service.catalogue.queries import catalogue_version, get_paper, n_papers, papers_page
from service.catalogue.records import Author, NewPaper, PaperFilter
from service.catalogue.starter_loading import BATCH, is_starter_loaded, load_starter
from service.errors import InvalidInput
from service.runtime import Runtime
from service.tables import Paper, PaperIdentifier, PaperSource, Work
from tests.factories import NOW, make_papers
from tests.service.threads import all_at_once

ABSTRACT = (
    "We propose **GridSort**, a method that sorts shelves by what stands on them. It is 3\\% "
    "better than ``alphabetical'' order, and its code is at https://github.com/acme/gridsort."
)
ARXIV = Identifier("arxiv", "2401.00001")
DOI = Identifier("doi", "10.1000/shelf.1")


def add(runtime: Runtime, *, now: datetime = NOW, **values: object) -> tuple[Paper, bool]:
    values = {"source": PaperSource.PERSON, **values}
    with runtime.writing() as session:
        added = add_paper(session, NewPaper(**values), now=now)
        session.commit()
        return added


def version(runtime: Runtime) -> int:
    with runtime.reading() as session:
        return catalogue_version(session)


# ---- What is new -------------------------------------------------------------------------------


def test_a_paper_comes_in_with_all_that_is_known_of_it(runtime: Runtime):
    made, is_new = add(
        runtime,
        title="On {GridSort}: $n \\log n$ shelves",
        abstract=ABSTRACT,
        authors=(Author("Ada Lovelace"), Author("Bo Sample")),
        venue="ICML",
        year=2026,
        code_url="https://github.com/acme/gridsort",
        identifiers=(ARXIV, DOI, ARXIV),
    )
    assert is_new
    with runtime.reading() as session:
        paper = get_paper(session, made.public_id)
    assert [author.name for author in paper.authors] == ["Ada Lovelace", "Bo Sample"]
    named = [(i.scheme, i.value) for i in paper.identifiers]
    assert named == [("arxiv", "2401.00001"), ("doi", "10.1000/shelf.1")]
    assert (paper.venue, paper.year, paper.source) == ("ICML", 2026, "person")
    assert paper.abstract == ABSTRACT, "as it was written"
    assert paper.abstract_text is not None
    assert "GridSort" in paper.abstract_text
    assert "**" not in paper.abstract_text
    assert (paper.catalogue_version, version(runtime)) == (1, 1)


def test_a_real_title_is_shown_as_it_is(runtime: Runtime):
    paper, _ = add(runtime, title="Sorting \\emph{shelves}", abstract=ABSTRACT)
    assert (paper.title, paper.display_title) == ("Sorting \\emph{shelves}", "Sorting shelves")
    assert (paper.title_confidence, paper.derived_name) == (1.0, None)


def test_a_derived_title_is_marked_as_derived(runtime: Runtime):
    paper, _ = add(runtime, abstract=ABSTRACT)
    assert paper.title is None
    assert paper.derived_name == "GridSort"
    assert paper.display_title.startswith("GridSort")
    assert 0 < paper.title_confidence < 1


def test_without_title_and_abstract_there_is_no_paper(runtime: Runtime):
    for nothing in (None, ""):
        with pytest.raises(InvalidInput):
            add(runtime, title=nothing, abstract=nothing, authors=(Author("Ada"),))
    assert version(runtime) == 0


# ---- What is known -----------------------------------------------------------------------------


def test_one_identifier_is_enough_to_know_a_paper(runtime: Runtime):
    first, _ = add(runtime, title="Shelves sorted", identifiers=(ARXIV, DOI))
    for identifiers in ((ARXIV,), (Identifier("doi", "10.1000/unheard.of"), DOI)):
        again, is_new = add(runtime, title="Sorted Shelves", identifiers=identifiers)
        assert (again.id, is_new) == (first.id, False)
    with runtime.reading() as session:
        named = [i.value for i in get_paper(session, first.public_id).identifiers]
    assert named == ["2401.00001", "10.1000/shelf.1", "10.1000/unheard.of"]


def test_chapters_under_the_doi_of_their_book_are_papers_of_their_own(runtime: Runtime):
    first, _ = add(runtime, title="Introduction", identifiers=(DOI,))
    other, is_new = add(runtime, title="Spike trains", identifiers=(DOI,))
    assert is_new
    assert (other.id, other.identifiers) != (first.id, first.identifiers)
    assert add(runtime, title="尖峰序列", identifiers=(DOI,))[0].id == first.id, "a translation"
    again, is_new = add(runtime, title="Spike trains", identifiers=(DOI,))
    assert (again.id, is_new) == (other.id, False)
    assert add(runtime, title="Shelves", identifiers=(ARXIV,))[1]
    assert not add(runtime, title="Indexes", identifiers=(ARXIV,))[1], "one number is one paper"


def test_a_paper_of_which_only_the_name_is_known_gets_the_rest_when_it_comes(runtime: Runtime):
    bare, is_new = add(runtime, identifiers=(DOI,))
    assert (is_new, bare.title, bare.display_title) == (True, None, f"doi:{DOI.value}")
    assert bare.title_confidence == 0
    by_abstract, _ = add(runtime, abstract=ABSTRACT, identifiers=(DOI,))
    assert by_abstract.id == bare.id
    assert by_abstract.display_title.startswith("GridSort")
    named, is_new = add(runtime, title="GridSort at last", identifiers=(DOI,))
    assert (named.id, is_new, named.display_title) == (bare.id, False, "GridSort at last")
    page, _ = add(runtime, identifiers=(Identifier("url", "https://example.org/a/"),))
    assert page.display_title == "example.org/a"


@pytest.mark.parametrize(
    "other",
    [
        ABSTRACT.replace(" ", "\n "),
        ABSTRACT.replace("**", ""),
        ABSTRACT.replace("**GridSort**", "\\textbf{GridSort}"),
        ABSTRACT.replace("``alphabetical''", "“alphabetical”"),
        ABSTRACT.replace("``alphabetical''", '"alphabetical"'),
        ABSTRACT.replace("\\%", "%"),
        ABSTRACT.upper(),
        f"  {ABSTRACT}\r\n",
        ABSTRACT.rstrip("."),
    ],
    ids="lines plain latex curly straight percent capitals edges stop".split(),  # noqa: SIM905
)
def test_an_abstract_is_known_in_other_clothes(runtime: Runtime, other: str):
    first, _ = add(runtime, abstract=ABSTRACT)
    again, is_new = add(runtime, abstract=other)
    assert (again.id, is_new) == (first.id, False)


@pytest.mark.parametrize("other", [ABSTRACT.replace("3", "4"), ABSTRACT + " And more."])
def test_another_abstract_is_another_paper(runtime: Runtime, other: str):
    add(runtime, abstract=ABSTRACT)
    assert add(runtime, abstract=other)[1]


def test_without_an_abstract_title_authors_and_year_tell_papers_apart(runtime: Runtime):
    first, _ = add(runtime, title="Editorial", authors=(Author("Ada"),), year=2020)
    again, is_new = add(runtime, title="EDITORIAL.", authors=(Author("ada"),), year=2020)
    assert (again.id, is_new) == (first.id, False)
    assert add(runtime, title="Editorial", authors=(Author("Ada"),), year=2021)[1]
    assert add(runtime, title="Editorial", authors=(Author("Bo"),), year=2020)[1]
    assert add(runtime, title="Editorial", year=2020)[1]


def test_a_title_is_never_taken_for_an_abstract():
    by_title = NewPaper(source=PaperSource.PERSON, title="Shelves")
    by_abstract = NewPaper(source=PaperSource.PERSON, abstract="Shelves")
    assert paper_fingerprint(by_title) != paper_fingerprint(by_abstract)


def test_eight_people_who_add_one_paper_add_it_once(runtime: Runtime):
    new = {"abstract": ABSTRACT, "identifiers": (ARXIV,)}
    added: list[tuple[int, bool]] = []

    def one_more() -> None:
        paper, is_new = add(runtime, **new)
        added.append((paper.id, is_new))

    assert all_at_once([one_more] * 8) == []
    assert len({paper_id for paper_id, _ in added}) == 1
    assert sorted(is_new for _, is_new in added) == [False] * 7 + [True]
    with runtime.reading() as session:
        for table in (Paper, Work, PaperIdentifier):
            assert session.scalar(sa.select(sa.func.count()).select_from(table)) == 1


def test_versions_follow_the_commits(runtime: Runtime):
    seen: list[list[int]] = []

    def look() -> None:
        for _ in range(20):
            with runtime.reading() as session:
                seen.append(sorted(session.scalars(sa.select(Paper.catalogue_version))))

    tasks = [lambda n=n: add(runtime, title=f"Paper {n}") for n in range(8)]
    assert all_at_once([*tasks, look]) == []
    look()
    assert all(versions == list(range(1, len(versions) + 1)) for versions in seen)
    assert seen[-1] == list(range(1, 9))


# ---- Pages -------------------------------------------------------------------------------------


def test_pages_are_the_whole_catalogue_once(runtime: Runtime):
    papers = make_papers(runtime, 7)
    seen, after = [], None
    while True:
        with runtime.reading() as session:
            page = papers_page(session, PaperFilter(), after=after, limit=3)
        if not page:
            break
        seen += [paper.id for paper in page]
        after = (page[-1].added_at, page[-1].public_id)
    assert sorted(seen) == [paper.id for paper in papers]


@pytest.mark.parametrize(
    ("which", "n"),
    [
        (PaperFilter(words=("gridsort",)), 1),
        (PaperFilter(words=("GRIDSORT", "shelves")), 1),
        (PaperFilter(words=("gridsort", "editorial")), 0),
        (PaperFilter(words=("100%",)), 0),
        (PaperFilter(words=("3%",)), 1),
        (PaperFilter(words=("_",)), 0),
        (PaperFilter(venue="icml"), 1),
        (PaperFilter(year=2020), 1),
        (PaperFilter(list_name="ICML 2026 Papers"), 1),
        (PaperFilter(list_name="ICML"), 0),
        (PaperFilter(), 2),
    ],
    ids=str,
)
def test_a_filter_leaves_what_fits_all_of_it(runtime: Runtime, which: PaperFilter, n: int):
    add(runtime, abstract=ABSTRACT, venue="ICML", year=2026, list_name="ICML 2026 Papers")
    add(runtime, title="Editorial", year=2020)
    with runtime.reading() as session:
        assert len(papers_page(session, which, after=None, limit=9)) == n


# ---- The starter catalogue ---------------------------------------------------------------------


class CutOff(Exception):
    """The power went."""


def test_a_batch_passes_over_what_is_there(runtime: Runtime):
    add(runtime, title="Known by its name", identifiers=(ARXIV,))
    add(runtime, title="Known by its title")
    batch = [
        NewPaper(source=PaperSource.STARTER, title="Any", identifiers=(ARXIV,)),
        NewPaper(source=PaperSource.STARTER, title="Known by its title."),
        NewPaper(source=PaperSource.STARTER, title="New", identifiers=(DOI,)),
    ]
    with runtime.writing() as session:
        assert add_papers(session, batch, now=NOW) == 1
        assert add_papers(session, batch, now=NOW) == 0
        session.commit()
        assert n_papers(session) == 3


def test_a_loading_that_was_cut_off_goes_on(runtime: Runtime):
    """The whole of it is loaded by the test of the first start."""
    loaded: list[int] = []

    def stop_after(n_batches: int) -> Callable[[int], None]:
        loaded.clear()

        def advance(n: int) -> None:
            loaded.append(n)
            if len(loaded) == n_batches:
                raise CutOff

        return advance

    for n_batches, n_there in ((2, 2), (3, 3), (1, 3)):
        with pytest.raises(CutOff):
            load_starter(runtime.writing, now=NOW, advance=stop_after(n_batches))
        with runtime.reading() as session:
            assert n_papers(session) == n_there * BATCH
            assert not is_starter_loaded(session)
            there = session.scalars(sa.select(Paper.source).distinct()).all()
        assert there == ["starter"]


# ---- What is known is completed, never overwritten --------------------------------------------


def test_a_real_title_takes_the_place_of_a_derived_one_in_the_same_row(runtime: Runtime):
    listed, _ = add(runtime, abstract=ABSTRACT, source=PaperSource.LISTING)
    before = version(runtime)
    found, is_new = add(
        runtime,
        title="GridSort: Sorting Shelves",
        abstract=ABSTRACT.replace("**", ""),
        authors=(Author("Ada Lovelace"),),
        url="https://example.org/gridsort",
    )
    assert (found.id, is_new) == (listed.id, False)
    with runtime.reading() as session:
        paper = get_paper(session, listed.public_id)
    assert (paper.title, paper.display_title) == ("GridSort: Sorting Shelves",) * 2
    assert (paper.title_confidence, paper.derived_name) == (1.0, None)
    assert [author.name for author in paper.authors] == ["Ada Lovelace"]
    assert paper.url == "https://example.org/gridsort"
    assert paper.version == listed.version + 1
    assert paper.catalogue_version > before


def test_what_is_known_of_a_paper_is_not_overwritten(runtime: Runtime):
    known, _ = add(runtime, title="The first title", venue="ICML", identifiers=(DOI,))
    before = version(runtime)
    add(runtime, title="Another title", venue="NeurIPS", identifiers=(DOI,))
    with runtime.reading() as session:
        paper = get_paper(session, known.public_id)
    assert (paper.title, paper.venue) == ("The first title", "ICML")
    assert version(runtime) == before


def test_a_paper_that_gets_its_abstract_is_found_by_it(runtime: Runtime):
    known, _ = add(runtime, title="GridSort", identifiers=(DOI,))
    add(runtime, title="GridSort", abstract=ABSTRACT, identifiers=(DOI,))
    listed, is_new = add(runtime, abstract=ABSTRACT, source=PaperSource.LISTING)
    assert (listed.id, is_new) == (known.id, False)
    assert listed.abstract == ABSTRACT


def test_a_paper_that_came_out_twice_keeps_both_identifiers(runtime: Runtime):
    same = {"title": "GridSort", "authors": (Author("Ada Lovelace"),), "year": 2026}
    batch = [
        NewPaper(source=PaperSource.STARTER, venue="ICML", identifiers=(ARXIV,), **same),
        NewPaper(source=PaperSource.STARTER, venue="ICML Workshop", identifiers=(DOI,), **same),
    ]
    with runtime.writing() as session:
        assert add_papers(session, batch, now=NOW) == 1
        session.commit()
    by_either = [add(runtime, title="GridSort", identifiers=(name,)) for name in (ARXIV, DOI)]
    assert [is_new for _, is_new in by_either] == [False, False]
    assert by_either[0][0].id == by_either[1][0].id
    assert by_either[0][0].venue == "ICML"
