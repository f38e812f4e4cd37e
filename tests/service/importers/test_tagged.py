"""RIS, Refer, Web of Science and MEDLINE: real files, and small ones for each kind of trouble."""

from typing import Any

import pytest

from service.importers.records import Entry, Parsed
from service.importers.tagged import pages, serials
from tests.service.importers.reading import format_of, read
from tests.service.importers.reading import shared as shared_file


def real(path: str) -> Parsed:
    return read(shared_file(f"samples/{path}"))


def only(parsed: Parsed) -> Entry:
    assert parsed.skipped == ()
    (entry,) = parsed.papers
    return entry


def names(entry: Entry) -> list[str]:
    return [author.name for author in entry.paper.authors]


def identifiers(entry: Entry) -> dict[str, str]:
    return {name.scheme.value: name.value for name in entry.paper.identifiers}


# ---- Real files --------------------------------------------------------------------------------

FACTS: list[tuple[str, str, dict[str, Any]]] = [
    ("ris/bom.ris", "ris", {"title": None, "doi": "10.1186/s40981-020-0316-0"}),
    (
        "ris/cyrillic-wrong-ty.ris",
        "ris",
        {"n": 5, "published": "2009", "kind": "article-journal", "volume": "8", "page": "52-57"},
    ),
    (
        "ris/empty-tag.ris",
        "ris",
        {"doi": "10.1177/2325967120950040", "published": "2020", "names": ["Fanning E."]},
    ),
    (
        "ris/no-ty.ris",
        "ris",
        {
            "title": "Editorial: Open Source and Empirical Software Engineering",
            "names": ["Warren Harrison"],
            "published": "2001-09-01",
            "doi": "10.1023/a:1017379030770",
        },
    ),
    ("ris/scifinder.ris", "ris", {"n": 6, "doi": "10.1016/j.powtec.2012.01.008"}),
    (
        "ris/scopus.ris",
        "ris",
        {"n": 3, "published": "2004", "doi": "10.1016/j.jmps.2004.03.010", "abstract": None},
    ),
    (
        "ris/leading-blank-lines.ris",
        "ris",
        {
            "title": "Length scales and interfacial potentials in ion hydration",
            "names": ["Yu Shi", "Thomas L. Beck"],
            "line": 6,
        },
    ),
    (
        "ris/month-name.ris",
        "ris",
        {
            "title": "Testing Book Title",
            "n": 3,
            "published": "2015-10",
            "kind": "book",
            "editor": ["Steve Martin", "Joe Clark"],
        },
    ),
    (
        "ris/wrong-dash-spacing.ris",
        "ris",
        {
            "names": ["Vishnuvardhan Balakrishnan"],
            "doi": "10.17918/ernk-6431",
            "published": "2018",
            "kind": "book",
        },
    ),
    (
        "ris/mixed-a1-au.ris",
        "ris",
        {"names": ["Danko Georgiev", "Leon Bello", "Avishy Carmi", "Eliahu Cohen"]},
    ),
    (
        "endnote/wanfang-cjk.enw",
        "refer",
        {
            "title": "参考文献管理工具研究",
            "names": ["余敏", "朱江", "丁照蕾"],
            "published": "2009",
            "doi": "10.3969/j.issn.1008-0821.2009.02.027",
            "venue": "现代情报",
        },
    ),
]


@pytest.mark.parametrize(("path", "name", "facts"), FACTS, ids=[path for path, _, _ in FACTS])
def test_real_files(path: str, name: str, facts: dict[str, Any]):
    data = shared_file(f"samples/{path}")
    assert format_of(data) == name
    entry = only(read(data))
    paper = entry.paper
    told = {
        "title": paper.title,
        "abstract": paper.abstract,
        "n": len(paper.authors),
        "names": names(entry),
        "published": paper.published,
        "kind": paper.kind,
        "venue": paper.venue,
        "line": entry.line,
        **identifiers(entry),
        **paper.details,
    }
    assert {key: told.get(key) for key in facts} == facts


def test_a_title_that_is_only_the_short_one_and_an_abstract_of_two_lines():
    paper = only(real("ris/cyrillic-wrong-ty.ris")).paper
    assert paper.title is not None
    assert paper.title.startswith("Состояние рецепторного аппарата эндометрия")
    assert paper.abstract is not None
    assert paper.abstract.endswith("in the late reproductive period")
    assert paper.details.get("issue") == "3"


def test_what_scopus_notes_is_no_note():
    assert only(real("ris/scopus.ris")).kept.note == ""


def test_keywords_are_tags_without_stars():
    assert only(real("ris/empty-tag.ris")).kept.tags == (
        "athlete",
        "biomechanics",
        "bone remodeling",
    )


def test_chinese_keywords_without_commas():
    tags = only(real("endnote/wanfang-cjk.enw")).kept.tags
    assert tags == ("参考文献管理", "文献管理软件", "学术书签网站", "Zotero")


@pytest.mark.parametrize(
    ("path", "titles", "counts"),
    [
        (
            "ris/isi.isi",
            [
                "Optical and photoelectric spectroscopy of photorefractive Sn2P2S6 crystals",
                "Optical waveguides in Sn2P2S6 by low fluence MeV He+ ion implantation",
            ],
            [5, 6],
        ),
        (
            "ris/wos-plain.txt",
            [
                "Interactions stabilizing the structure of the core light-harvesting complex (LHl) "
                "of photosynthetic bacteria and its subunit (B820)",
                "Proximal and distal influences on ligand binding kinetics in microperoxidase and "
                "heme model compounds",
            ],
            [4, 9],
        ),
    ],
)
def test_web_of_science(path: str, titles: list[str], counts: list[int]):
    data = shared_file(f"samples/{path}")
    assert format_of(data) == "wos"
    parsed = read(data)
    assert [entry.paper.title for entry in parsed.papers] == titles
    assert [len(entry.paper.authors) for entry in parsed.papers] == counts
    assert parsed.skipped == ()


# ---- Small ones --------------------------------------------------------------------------------


def test_three_entries_of_which_none_ends_as_it_should():
    parsed = read(
        "TY  - JOUR\nTI  - One\nTY  - JOUR\nTI  - Two\nER  -\n\nTI  - Three\nPY  - 2020\n"
    )
    assert [entry.paper.title for entry in parsed.papers] == ["One", "Two", "Three"]
    assert [(entry.line, entry.end_line) for entry in parsed.papers] == [(1, 2), (3, 5), (7, 8)]


def test_what_says_nothing_is_reported_and_costs_nothing_else():
    parsed = read("TY  - JOUR\nPY  - 2020\nER  -\nTY  - JOUR\nTI  - Two\nER  -\n")
    (skipped,) = parsed.skipped
    assert (skipped.line, skipped.end_line, skipped.kind) == (1, 3, "empty")
    assert [entry.paper.title for entry in parsed.papers] == ["Two"]


def test_a_dash_in_an_abstract_is_no_tag():
    entry = only(
        read("TY  - JOUR\nTI  - T\nAB  - We show\nthat LH - a light - and XY -3 hold.\nER  -\n")
    )
    assert entry.paper.abstract == "We show that LH - a light - and XY -3 hold."


@pytest.mark.parametrize(
    ("line", "key"),
    [("ID  - smith2020", "smith2020"), ("ID  - 2006713348", None), ("LB  - Doe 99", None)],
)
def test_numbers_of_databases_are_no_citation_keys(line: str, key: str | None):
    assert only(read(f"TY  - JOUR\nTI  - T\n{line}\nER  -\n")).kept.citation_key == key


def test_chapters_books_and_their_numbers():
    chapter = only(
        read(
            "TY  - CHAP\nTI  - Spike trains\nT2  - Neurons\nSN  - 978-0-262-03561-3\nSP  - 10\n"
            "EP  - 20\nA2  - Ed, It\nER  -\n"
        )
    )
    assert (chapter.paper.kind, chapter.paper.venue) == ("chapter", "Neurons")
    assert identifiers(chapter) == {"isbn": "9780262035613"}
    assert chapter.paper.details == {"page": "10-20", "editor": ["It Ed"]}


def test_a_note_of_zotero_and_markup_in_a_title():
    entry = only(
        read(
            "TY  - JOUR\nTI  - H<sub>2</sub>O &amp; <i>E. coli</i>\n"
            'N1  - <p>Mine, see <a href="https://example.org/x">this</a>.</p>\nER  -\n'
        )
    )
    assert entry.paper.title == "H$_{2}$O & E. coli"
    assert entry.kept.note == "Mine, see this (https://example.org/x)."


def test_keywords_on_lines_of_one_tag():
    entry = only(read("TY  - JOUR\nTI  - T\nKW  - one\ntwo; three\nKW  - one\nER  -\n"))
    assert entry.kept.tags == ("one", "two", "three")


def test_links_tell_names_and_pdfs():
    entry = only(
        read(
            "TY  - JOUR\nTI  - T\nUR  - https://arxiv.org/abs/1706.03762v2\n"
            "L1  - https://example.org/a.pdf\nL1  - file:///home/me/a.pdf\nER  -\n"
        )
    )
    assert identifiers(entry) == {"arxiv": "1706.03762"}
    assert (entry.paper.url, entry.paper.pdf_url) == (
        "https://arxiv.org/abs/1706.03762v2",
        "https://example.org/a.pdf",
    )


def test_refer_under_another_name_is_known_by_what_is_in_it():
    data = "%0 Journal Article\n%T Α title\n%A Last, First\n%D 2011\n\n%0 Book\n%T Another\n%I P\n"
    assert format_of(data) == "refer"
    first, second = read(data, file_name="x.ris").papers
    assert (first.paper.title, names(first), first.paper.year) == ("Α title", ["First Last"], 2011)
    assert (second.paper.title, second.paper.kind, second.line) == ("Another", "book", 6)


NBIB = """\

PMID- 31978945
OWN - NLM
IS  - 1533-4406 (Electronic)
IS  - 0028-4793 (Linking)
VI  - 382
IP  - 8
DP  - 2020 Feb 20
TI  - A Novel Coronavirus from Patients with Pneumonia, and a title that goes
      on.
PG  - 727-733
LID - 10.1056/NEJMoa2001017 [doi]
AB  - In December 2019, a cluster of patients was linked to
      a market. More there is not.
FAU - Zhu, Na
AU  - Zhu N
FAU - Zhang, Dingyu
CN  - Investigating Team
LA  - eng
PT  - Journal Article
PT  - Retracted Publication
JT  - The New England journal of medicine
MH  - *Betacoronavirus/genetics
OT  - pneumonia

PMID- 2
TI  - Another.
"""


def test_pubmed():
    assert format_of(NBIB) == "nbib"
    first, second = read(NBIB).papers
    paper = first.paper
    assert paper.title == (
        "A Novel Coronavirus from Patients with Pneumonia, and a title that goes on"
    )
    assert names(first) == ["Na Zhu", "Dingyu Zhang", "Investigating Team"]
    assert identifiers(first) == {"pubmed": "31978945", "doi": "10.1056/nejmoa2001017"}
    assert (paper.published, paper.venue) == ("2020-02-20", "The New England journal of medicine")
    assert paper.abstract == (
        "In December 2019, a cluster of patients was linked to a market. More there is not."
    )
    assert (paper.withdrawal, paper.kind) == ("Retracted", "article-journal")
    assert paper.details["ISSN"] == "1533-4406, 0028-4793"
    assert first.kept.tags == ("pneumonia",)
    assert (second.paper.title, identifiers(second)) == ("Another", {"pubmed": "2"})


def test_web_of_science_without_its_head():
    data = (
        "PT J\nAU Doe, J\nTI A title\n   that goes on\nPD OCT\nPY 2004\nDE one; two\n   words\nER\n"
    )
    entry = only(read(data))
    assert (entry.paper.title, entry.paper.published) == ("A title that goes on", "2004-10")
    assert entry.kept.tags == ("one", "two words")


@pytest.mark.parametrize(
    "text",
    [
        "@article{k, title = {TY  - JOUR}}",
        "# ICML 2026 Papers\n\nWe show that ER - a rate - falls in every case at hand.\n",
        "PT is a pity. We write of it in a listing, which has abstracts only and nothing more.",
    ],
)
def test_other_files_are_not_of_these(text: str):
    assert format_of(text) not in {"ris", "refer", "wos", "nbib"}


def test_pages_and_serial_numbers():
    assert [pages("1", "9"), pages("5"), pages("1 -- 9"), pages("", "4")] == [
        "1-9",
        "5",
        "1-9",
        "4",
    ]
    assert serials(["2325-9671 (electronic)", "978-0-262-03561-3", "0881929115"]) == (
        ["9780262035613", "0881929115"],
        ["2325-9671"],
    )
