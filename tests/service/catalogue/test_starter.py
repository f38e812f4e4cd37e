"""The starter catalogue: the file that is shipped, and the rules that make it."""

import gzip
import json
import lzma
import re
from collections import Counter
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from service.catalogue import starter
from service.catalogue.identifiers import Identifier, find_identifier, normalise
from service.catalogue.starter import StarterPaper, n_starter, parse_line, read_starter
from service.catalogue.starter.compile import compile_starter

PAPERS = Path(__file__).parents[4] / "shared" / "papers"
SHIPPED = files(starter).joinpath(starter.DATA)
HASH = "3f5ee243547dee91fbd053c1c4a845aa"


@pytest.fixture(scope="module")
def papers() -> list[StarterPaper]:
    return list(read_starter())


def test_the_file_is_smaller_than_a_megabyte():
    assert len(SHIPPED.read_bytes()) < 1_000_000


def test_the_count_is_known_without_reading_the_papers(papers):
    assert n_starter() == len(papers) == 9398


def test_a_well_known_paper_is_in_it_with_its_facts(papers):
    (found,) = [p for p in papers if p.title == "Attention is All you Need"]
    proceedings = "https://proceedings.neurips.cc/paper_files/paper/2017"
    assert found == StarterPaper(
        title="Attention is All you Need",
        authors=(
            "Ashish Vaswani",
            "Noam Shazeer",
            "Niki Parmar",
            "Jakob Uszkoreit",
            "Llion Jones",
            "Aidan N Gomez",
            "Łukasz Kaiser",
            "Illia Polosukhin",
        ),
        venue="NeurIPS",
        year=2017,
        url=f"{proceedings}/hash/{HASH}-Abstract.html",
        pdf_url=f"{proceedings}/file/{HASH}-Paper.pdf",
        identifiers=(Identifier("neurips", f"2017/{HASH}"),),
    )


def test_a_paper_of_the_anthology_goes_by_its_doi_too(papers):
    (found,) = [p for p in papers if p.title == "A Closer Look at How Fine-tuning Changes BERT"]
    assert found.identifiers == (
        Identifier("acl", "2022.acl-long.75"),
        Identifier("doi", "10.18653/v1/2022.acl-long.75"),
    )


def test_every_field_is_a_plain_fact(papers):
    for paper in papers:
        assert 0 < len(paper.title) <= 400
        assert paper.authors
        assert all(0 < len(author) <= 60 for author in paper.authors)
        for text in (paper.title, *paper.authors):
            assert text.isprintable()
            assert text == " ".join(text.split())
        assert 2013 <= paper.year <= 2025


def test_every_link_is_a_web_address(papers):
    for paper in papers:
        for link in (paper.url, paper.pdf_url):
            assert link is not None
            assert urlsplit(link).scheme in {"http", "https"}


def test_every_identifier_is_in_its_one_spelling_and_belongs_to_one_paper(papers):
    names = [name for paper in papers for name in paper.identifiers]
    assert max(Counter(names).values()) == 1
    assert all(normalise(name.scheme, name.value) == name for name in names)
    assert all(find_identifier(paper.url or "") == paper.identifiers[0] for paper in papers)


def test_the_note_on_sources_counts_what_is_in_the_file(papers):
    note = files(starter).joinpath("SOURCES.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([A-Za-z ]+) \| (\d{4}) \| (\d+) \|$", note, re.MULTILINE)
    counted = Counter((paper.venue, paper.year) for paper in papers)
    assert {(venue, int(year)): int(n) for venue, year, n in rows} == counted
    assert f"{len(papers):,} published papers" in note


@pytest.mark.shared
@pytest.mark.skipif(not PAPERS.is_dir(), reason="the real paper lists are not beside the checkout")
def test_the_shipped_file_is_made_from_the_real_lists_byte_for_byte():
    assert compile_starter(PAPERS) == SHIPPED.read_bytes()


def paper(**fields: str) -> dict[str, str]:
    """An accepted paper of ICML 2017; a field given as "" is missing."""
    known = {
        "id": "1",
        "title": "Model-Agnostic Meta-Learning",
        "author": "Chelsea Finn; Pieter Abbeel; Sergey Levine",
        "status": "Poster",
        "abstract": "We propose an algorithm.",
        "site": "https://icml.cc/virtual/2017/poster/1",
        "oa": "https://proceedings.mlr.press/v70/finn17a.html",
        "pdf": "http://proceedings.mlr.press/v70/finn17a/finn17a.pdf",
    } | fields
    return {name: value for name, value in known.items() if value}


@pytest.fixture
def compiled(tmp_path):
    """Compiles lists written on the spot; gives the papers of the file that comes out."""

    def compile_lists(**lists: list[dict[str, str]]) -> list[StarterPaper]:
        for name, records in lists.items():
            text = "".join(f"{json.dumps(record)}\n" for record in records)
            (tmp_path / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode()))
        header, *lines = lzma.decompress(compile_starter(tmp_path)).decode().splitlines()
        assert header == f"papershelf-starter-1\t{len(lines)}"
        return [parse_line(line) for line in lines]

    return compile_lists


def test_only_facts_of_a_paper_are_taken(compiled):
    assert compiled(icml2017=[paper(keywords="meta", tldr="Short.")]) == [
        StarterPaper(
            title="Model-Agnostic Meta-Learning",
            authors=("Chelsea Finn", "Pieter Abbeel", "Sergey Levine"),
            venue="ICML",
            year=2017,
            url="https://proceedings.mlr.press/v70/finn17a.html",
            pdf_url="https://proceedings.mlr.press/v70/finn17a/finn17a.pdf",
            identifiers=(Identifier("pmlr", "v70/finn17a"),),
        )
    ]


@pytest.mark.parametrize("status", ["Reject", "Desk Reject", "Withdraw", "Active"])
def test_what_was_not_accepted_is_left_out(compiled, status):
    assert compiled(iclr2018=[paper(status=status)]) == []


def test_a_status_nobody_has_thought_about_stops_the_run(compiled):
    with pytest.raises(ValueError, match="decide whether 'Borderline'"):
        compiled(iclr2018=[paper(status="Borderline")])


def test_a_list_of_an_unknown_venue_stops_the_run(compiled):
    with pytest.raises(ValueError, match="add it to VENUES"):
        compiled(kdd2018=[paper()])


@pytest.mark.parametrize(
    ("name", "status", "venue"),
    [
        ("nips2015", "Spotlight", "NeurIPS"),
        ("iclr2017", "Workshop", "ICLR Workshop"),
        ("iclr2013", "Oral Workshop", "ICLR Workshop"),
        ("acl2022", "Findings", "Findings of ACL"),
        ("acl2022", "Short", "ACL"),
        ("automl2024", "Oral", "AutoML"),
    ],
)
def test_venues_are_called_what_people_call_them(compiled, name, status, venue):
    (found,) = compiled(**{name: [paper(status=status)]})
    assert (found.venue, found.year) == (venue, int(name[-4:]))


def test_without_a_status_being_published_decides(compiled):
    published = paper(status="", oa="", site="https://proceedings.mlr.press/v70/finn17a.html")
    talk = paper(title="Test of Time Award", oa="", pdf="")
    assert [found.title for found in compiled(icml2017=[published, talk])] == [published["title"]]


def test_what_is_no_paper_is_left_out(compiled):
    records = [
        paper(title="International Conference on Machine Learning 2017: Preface"),
        paper(title=""),
        paper(author=""),
        paper(author="Anonymous"),
    ]
    assert compiled(icml2017=records) == []


def test_a_poster_and_its_talk_are_one_paper(compiled):
    talk = paper(
        title="Model-agnostic meta-learning.",
        status="Oral",
        oa="https://openreview.net/forum?id=rkgMk1",
    )
    (found,) = compiled(icml2017=[paper(), talk])
    assert set(found.identifiers) == {
        Identifier("pmlr", "v70/finn17a"),
        Identifier("openreview", "rkgMk1"),
    }


def test_two_entries_with_one_address_are_one_paper(compiled):
    assert len(compiled(icml2017=[paper(), paper(title="MAML")])) == 1


def test_one_title_at_two_venues_is_two_papers(compiled):
    elsewhere = paper(status="Workshop", oa="https://openreview.net/forum?id=rkgMk1")
    assert len(compiled(icml2017=[paper()], iclr2017=[elsewhere])) == 2


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("  Two\n  lines ", "Two lines"),
        ("Latent Bandits.", "Latent Bandits"),
        ("What happens next...", "What happens next..."),
        ("Plan B.", "Plan B."),
        ("A stray mark`", "A stray mark"),
        ("Learning with A*", "Learning with A*"),
        ("Exchangeable \ufffcRandom Partitions", "Exchangeable Random Partitions"),
        ("Kreı̆n Spaces", "Kreĭn Spaces"),
        (r"Algorithms for $\ell_p$ Norms", r"Algorithms for $\ell_p$ Norms"),
        ("Tab\there", "Tab here"),
    ],
)
def test_titles_are_one_clean_line_with_their_latex(compiled, written, title):
    (found,) = compiled(icml2017=[paper(title=written)])
    assert found.title == title


@pytest.mark.parametrize(
    ("written", "authors"),
    [
        ("Ada Lovelace;Alan Turing", ("Ada Lovelace", "Alan Turing")),
        ("Lovelace, Ada; Turing, Alan", ("Ada Lovelace", "Alan Turing")),
        (
            "*Ada Lovelace; Alan Turing *; Kurt Gödel†",
            ("Ada Lovelace", "Alan Turing", "Kurt Gödel"),
        ),
        ("Roger Grosse.", ("Roger Grosse",)),
        ("Prashanth L. A.", ("Prashanth L. A.",)),
        ("Guy L. Steele; Jr", ("Guy L. Steele Jr",)),
        ("Steele, Jr.; Hal Daumé Iii", ("Steele, Jr.", "Hal Daumé III")),
        (r"Jo\~{a}o  P. Costeira; Jos\'{e} Moura", ("João P. Costeira", "José Moura")),
        ("Darı\u0301o Ramos", ("Darío Ramos",)),
        ("Y\x7faniv Tenzer", ("Yaniv Tenzer",)),
        ("James O’ Neill; Huazhe(Harry) Xu", ("James O’Neill", "Huazhe (Harry) Xu")),
        ("Dr.Saman Amarasinghe", ("Saman Amarasinghe",)),
        ("YI WU; qiang liu", ("Yi Wu", "Qiang Liu")),
        ("OpenAI Pieter Abbeel; University Edinburgh", ("Pieter Abbeel",)),
        ("Xi Chen; Xi Chen; Bo Tang", ("Xi Chen", "Bo Tang")),
        ("Jie Zhou; Le Tian; Jie Zhou", ("Jie Zhou", "Le Tian", "Jie Zhou")),
        ("Sam Smith and Quoc Le;Sam Smith and Quoc Le", ("Sam Smith", "Quoc Le")),
        ("Mausam", ("Mausam",)),
    ],
)
def test_authors_are_given_and_family_names_in_order(compiled, written, authors):
    (found,) = compiled(icml2017=[paper(author=written)])
    assert found.authors == authors


def test_the_conferences_page_fills_in_what_the_proceedings_lack(compiled):
    whole, part = compiled(
        icml2017=[
            paper(author="", author_site="Ada Lovelace, Alan Turing"),
            paper(
                author="Grave; Armand Joulin",
                author_site="Édouard Grave, Armand Joulin",
                title="Softmax",
                oa="https://proceedings.mlr.press/v70/grave17a.html",
            ),
        ]
    )
    assert whole.authors == ("Ada Lovelace", "Alan Turing")
    assert part.authors == ("Édouard Grave", "Armand Joulin")


def test_a_pdf_with_an_address_of_its_own_keeps_it(compiled):
    (found,) = compiled(icml2017=[paper(pdf="http://proceedings.mlr.press/v70/f2017/f2017.pdf")])
    assert found.pdf_url == "https://proceedings.mlr.press/v70/f2017/f2017.pdf"


def test_the_doi_in_the_proceedings_is_taken(compiled):
    (found,) = compiled(
        acl2022=[
            paper(
                status="Long",
                oa="",
                pdf="https://aclanthology.org/2022.acl-long.75.pdf",
                site="https://aclanthology.org/2022.acl-long.75/",
                bibtex='@inproceedings{x,\n    doi = "10.18653/v1/2022.acl-long.75",\n}',
            )
        ]
    )
    assert found.identifiers[1] == Identifier("doi", "10.18653/v1/2022.acl-long.75")
    assert found.pdf_url == "https://aclanthology.org/2022.acl-long.75.pdf"


def test_the_order_of_the_lists_does_not_matter(compiled):
    records = [
        paper(),
        paper(title="Zebras", oa="https://proceedings.mlr.press/v70/z17a.html"),
        paper(title="Ants", oa="https://proceedings.mlr.press/v70/a17a.html"),
    ]
    assert compiled(icml2017=records) == compiled(icml2017=records[::-1])
