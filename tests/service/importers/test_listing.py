import re
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.catalogue.fingerprints import abstract_fingerprint
from service.catalogue.links import code_link, find_links
from service.catalogue.text import to_plain
from service.catalogue.titles import derive_title
from service.errors import InvalidInput
from service.importers.draft import MAX_ABSTRACT
from service.importers.headings import is_footer, read_heading
from service.importers.records import Parsed
from tests.service.importers.reading import read

HERE = Path(__file__).parent / "listings"
SHARED = Path(__file__).parents[4] / "shared" / "listings"
LISTING = (HERE / "heading_and_abstracts.txt").read_text(encoding="utf-8")
HEADING, *ABSTRACTS = LISTING.split("\n\n")

ONE = "Kites are stable in wind, and drones are not. We give a drone a tail and measure the gain."
TWO = (
    "Snow hides road marks from cameras. We paint them in a colour that only lidar can see at all."
)


def parse(data: bytes | str) -> Parsed:
    return read(data, as_="listing")


def sources(listing):
    return [paper.source for paper in listing.papers]


def test_each_paragraph_under_the_heading_is_a_paper():
    listing = parse(LISTING)
    assert listing.name == "ICML 2026 Papers"
    assert sources(listing) == ABSTRACTS
    assert not listing.skipped
    assert {(p.paper.venue, p.paper.year, p.paper.list_name) for p in listing.papers} == {
        ("ICML", 2026, "ICML 2026 Papers")
    }
    assert [(p.line, p.end_line) for p in listing.papers] == [(n, n) for n in range(3, 28, 2)]


def test_the_abstracts_of_a_listing_get_names_plain_text_and_code_links():
    titles = [derive_title(source) for source in ABSTRACTS]
    names = "LoamNet TOM Pebble - Robin CoTone - ChemTok-40k SCHF - TORCH² Cloud3Grid MapScript"
    assert " ".join(title.name or "-" for title in titles) == names
    assert len({title.text for title in titles}) == len(titles)
    plain = [to_plain(source) for source in ABSTRACTS]
    assert "below 0.2%–0.5% of a turn, at <1% of" in plain[1]
    assert "Pebble (Parallel Eviction with Bounded Buffers for Long Exchanges)" in plain[2]
    assert "shrinks as O(1/K), and that ∇f(V) stays" in plain[3]
    assert "a naïve mixture" in plain[4]
    assert "recordings – no labels – and" in plain[4]
    assert "motivate Mol→Tok rules" in plain[7]
    assert "pays $5 to $10 can" in plain[9]
    assert "“private” modes" in plain[9]
    assert "Task-Ordered Rank Control Heads (TORCH²)" in plain[10]
    assert "ΔW = P Qᵀ of" in plain[10]
    assert [link for a in ABSTRACTS if (link := code_link(find_links(a)))] == [
        "https://github.com/example-lab/LoamNet",
        "https://example-pebble.github.io",
        "https://huggingface.co/example-lab/chemtok-40k",
        "https://gitlab.com/example-lab/cloud3grid",
    ]


def wrapped(newline="\n", blank=""):
    paragraphs = [newline.join(textwrap.wrap(p, 80, break_on_hyphens=False)) for p in ABSTRACTS]
    return f"{newline}{blank}{newline}".join([HEADING, *paragraphs])


SHAPES = {
    "as written": LISTING,
    "one a line": "\n".join([HEADING, *ABSTRACTS]),
    "no heading, one a line": "\n".join(ABSTRACTS),
    "carriage returns and line feeds": LISTING.replace("\n", "\r\n"),
    "carriage returns": LISTING.replace("\n", "\r"),
    "byte order mark": "\ufeff" + LISTING,
    "many blank lines": LISTING.replace("\n\n", "\n\n\n\n\n"),
    "blank lines of spaces": LISTING.replace("\n\n", "\n   \t\n"),
    "blank lines of full-width spaces": LISTING.replace("\n\n", "\n\u3000\u3000\n"),
    "indented": LISTING.replace("\n\n", "\n\n\u3000\u3000"),
    "line feed at the end": LISTING + "\n\n\n",
    "form feeds": LISTING.replace("\n\n", "\f\n"),
    "wrapped": wrapped(),
    "wrapped, carriage returns": wrapped("\r\n", " "),
    "footer": LISTING + "\n\nTotal: 13 papers\n",
    "footer without a blank line": LISTING + "\n--- end of list ---",
    "stray zeros": LISTING.replace("maps", "ma\x00ps", 1),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_same_papers_are_found_however_the_file_is_laid_out(shape):
    listing = parse(SHAPES[shape])
    assert sources(listing) == ABSTRACTS
    assert listing.name == (None if shape.startswith("no heading") else HEADING)
    assert {entry.kind for entry in listing.skipped} <= {"footer"}


ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "gb18030"]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_the_encoding_is_guessed(encoding, mark):
    text = (HERE / "chinese_list.txt").read_text(encoding="utf-8")
    if encoding in {"utf-16-le", "utf-16-be"} and not mark:
        text = LISTING  # without a mark only mostly Latin text can be told
    listing = parse(
        (mark + text).encode(encoding) if encoding != "gb18030" else text.encode(encoding)
    )
    assert sources(listing) == sources(parse(text))


def test_western_text_in_cp1252_is_read():
    text = f"ICML 2026\n\nThe naïve café “model” costs 5 € – {ONE}"
    assert sources(parse(text.encode("cp1252"))) == [text.split("\n\n")[1]]


def test_damage_in_one_abstract_spares_the_others():
    data = f"ICML 2026\n\n{ONE} 山区道路的积雪预报\n\n".encode() + b"\xff\xfe" + TWO.encode()
    listing = parse(data)
    assert len(listing.papers) == 1
    (broken,) = listing.skipped
    assert (broken.kind, broken.line) == ("undecodable", 5)
    assert "UTF-8" in broken.remedy


def test_a_rare_half_of_a_surrogate_pair_is_replaced_and_a_frequent_one_reported():
    half = "\ud800"
    listing = parse(f"{ONE} {TWO}{half}\n\n{ONE} {half * 9}")
    assert sources(listing) == [f"{ONE} {TWO}\ufffd"]
    assert [entry.kind for entry in listing.skipped] == ["undecodable"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" \n\r\n\t",
        "\ufeff",
        "\u3000\n",
        b"%PDF-1.7 ...",
        b"PK\x03\x04 rest of a zip",
        b"\x1f\x8b\x08 gzip",
        bytes(range(256)) * 20,
        b"\x00" * 100,
        "\x01\x02\x03\x04" * 50,
    ],
)
def test_what_is_no_text_is_refused_with_a_reason(data):
    with pytest.raises(InvalidInput, match=r"This (?:file )?is"):
        parse(data)


@pytest.mark.parametrize(
    ("line", "venue", "year"),
    [
        ("ICML 2026 Papers", "ICML", 2026),
        ("ICML 2026 论文列表", "ICML", 2026),
        ("NeurIPS 2025 Accepted Papers", "NeurIPS", 2025),
        ("# ICLR 2026", "ICLR", 2026),
        ("== ICML 2026 ==", "ICML", 2026),
        ("ICML'26", "ICML", 2026),
        ("ICML ’98", "ICML", 1998),
        ("ICML2026 录用论文", "ICML", 2026),
        ("**icml 2026**", "ICML", 2026),
        ("【CVPR 2024】", "CVPR", 2024),
        ("Accepted at AAAI-26", "AAAI", 2026),
        ("2026 年 ICML 论文", "ICML", 2026),
        ("FooConf 2024 Papers", "FooConf", 2024),
        ("Papers of ICML", "ICML", None),
        ("My favourite reading", None, None),
        ("What to chi", None, None),
    ],
)
def test_venue_and_year_are_read_from_the_heading(line, venue, year):
    heading = read_heading(line)
    assert heading is not None
    assert (heading.venue, heading.year) == (venue, year)
    (paper,) = parse(f"{line}\n\n{ONE}").papers
    assert (paper.paper.venue, paper.paper.year) == (venue, year)
    assert paper.paper.list_name == heading.name


@pytest.mark.parametrize(
    "line",
    [
        "We won ICML 2026.",
        "Total: 19 papers",
        "see https://icml.cc/2026",
        "ICML 2026 " * 7,
        "",
        "==",
    ],
)
def test_sentences_footers_and_long_lines_are_no_headings(line):
    assert read_heading(line) is None


FOOTERS = """
Total: 19 papers
19 papers in total
(19 papers)
共 19 篇论文
总计：19
— end of list —
Page 1 of 3
Showing 1-19 of 19
© 2026 The Conference
Count = 19
"""


@pytest.mark.parametrize("line", FOOTERS.strip().splitlines())
def test_footers_are_reported_and_are_no_papers(line):
    assert is_footer(line)
    listing = parse(f"ICML 2026\n\n{ONE}\n\n{line}")
    assert sources(listing) == [ONE]
    assert [(entry.kind, entry.line) for entry in listing.skipped] == [("footer", 5)]


def test_without_a_heading_the_first_paragraph_is_a_paper():
    listing = parse(f"{ONE}\n\n{TWO}")
    assert sources(listing) == [ONE, TWO]
    assert listing.name is None
    assert {(p.paper.venue, p.paper.year, p.paper.list_name) for p in listing.papers} == {
        (None, None, None)
    }


def test_a_second_heading_begins_the_papers_of_another_venue():
    listing = parse((HERE / "two_venues.txt").read_bytes())
    assert listing.name == "NeurIPS 2025 Accepted Papers"
    assert [(p.paper.venue, p.paper.year, p.line, p.end_line) for p in listing.papers] == [
        ("NeurIPS", 2025, 2, 4),
        ("NeurIPS", 2025, 6, 10),
        ("ICLR", 2026, 14, 15),
    ]


def test_a_marked_heading_without_a_venue_stays_within_the_conference():
    listing = parse(f"# ICML 2026\n\n## Orals\n\n{ONE}\n\n## Posters\n\n{TWO}")
    assert [(p.paper.venue, p.paper.year, p.paper.list_name) for p in listing.papers] == [
        ("ICML", 2026, "Orals"),
        ("ICML", 2026, "Posters"),
    ]
    assert listing.name == "ICML 2026"


def test_the_same_heading_again_changes_nothing():
    listing = parse(f"ICML 2026 Papers\n\n{ONE}\n\nICML 2026 Papers\n\n{TWO}")
    assert sources(listing) == [ONE, TWO]
    assert not listing.skipped


def test_words_that_were_cut_at_a_line_end_are_whole_again():
    second = parse((HERE / "two_venues.txt").read_bytes()).papers[1].source
    assert "a self-supervised picker" in second
    assert "state-of-the-art simulations" in second
    assert "on long-period noise" in second


def test_chinese_lines_are_joined_without_blanks():
    text = "山区道路的积雪预报往往过于粗略，\n因此需要更细的模型。我们研究这个问\n题的下界。"
    assert sources(parse(text)) == [text.replace("\n", "")]


def test_the_same_abstract_twice_is_reported_with_the_line_of_the_first():
    again = "\n".join(textwrap.wrap(ABSTRACTS[2].replace(r"\textsc{Pebble}", "**PEBBLE**"), 70))
    listing = parse(f"{LISTING}\n\n{again}")
    assert sources(listing) == ABSTRACTS
    (duplicate,) = listing.skipped
    assert (duplicate.kind, duplicate.line) == ("duplicate", 29)
    assert "line 7" in duplicate.reason


def test_importing_again_finds_the_same_fingerprints():
    first = {abstract_fingerprint(source) for source in sources(parse(LISTING))}
    again = {abstract_fingerprint(source) for source in sources(parse(wrapped("\r\n")))}
    assert first == again
    assert len(first) == 13


def test_fingerprints_see_words_only():
    assert abstract_fingerprint('**Na\\"ive** models, 5\\%!') == abstract_fingerprint(
        "NAÏVE models 5"
    )
    assert abstract_fingerprint("one") != abstract_fingerprint("two")
    assert abstract_fingerprint("+") != abstract_fingerprint("!")
    assert re.fullmatch("[0-9a-f]{64}", abstract_fingerprint(""))


def test_too_short_and_too_long_paragraphs_are_reported_beside_the_papers():
    long = "word " * (MAX_ABSTRACT // 5 + 1)
    listing = parse(f"ICML 2026\n\nToo short. Really.\n\n{ONE}\n\n{long}\n\nSome other things")
    assert sources(listing) == [ONE]
    assert [(e.kind, e.line) for e in listing.skipped] == [
        ("too_short", 3),
        ("too_long", 7),
        ("heading", 9),
    ]
    assert all(entry.text and entry.remedy for entry in listing.skipped)


def test_twenty_han_characters_are_an_abstract():
    listing = parse("古籍扫描件的版面复杂，通用模型经常把批注读入正文。\n\n太短了，不是摘要。")
    assert len(listing.papers) == 1
    assert [entry.kind for entry in listing.skipped] == ["too_short"]


def test_the_address_of_the_code_on_its_own_line_stays_with_its_abstract():
    long = f"{ONE} {TWO} {ONE}"
    listing = parse(f"{long}\nCode: https://github.com/a/b\n{long} Again.\n{long} And again.")
    assert len(listing.papers) == 3
    assert listing.papers[0].source.endswith("Code: https://github.com/a/b")
    assert (listing.papers[0].line, listing.papers[0].end_line) == (1, 2)


def test_a_chinese_listing_is_read_with_its_footer():
    listing = parse((HERE / "chinese_list.txt").read_bytes())
    assert [(p.paper.venue, p.paper.year) for p in listing.papers] == [("ICML", 2026)] * 3
    assert [entry.kind for entry in listing.skipped] == ["footer"]
    assert find_links(listing.papers[0].source) == ["https://github.com/example-lab/snowpath"]


@pytest.mark.timeout(60)  # a hang guard: a quadratic reader needs many minutes
def test_a_hundred_thousand_abstracts_take_linear_time():
    text = "ICML 2026\n\n" + "\n\n".join(f"{ONE} Number {n}." for n in range(100_000))
    assert len(parse(text).papers) == 100_000


@given(st.text() | st.binary())
def test_any_input_is_read_or_refused(data):
    try:
        listing = parse(data)
    except InvalidInput:
        return
    for entry in listing.entries:
        assert 1 <= entry.line <= entry.end_line


LINES = [
    HEADING,
    "ICLR'26",
    "Total: 3",
    "",
    "\u3000",
    ONE,
    TWO,
    f"{ONE} {TWO} {ONE}",
    "# x",
    "a-",
    "b",
]


@given(st.lists(st.sampled_from(LINES)))
def test_every_line_is_part_of_one_thing_at_most(lines):
    text = "\n".join(lines)
    if not text.strip():
        return
    ends = 0
    for entry in parse(text).entries:
        assert entry.line > ends
        ends = entry.end_line
    assert ends <= len(lines)


@pytest.mark.shared
def test_the_real_listings_have_nineteen_papers_each():
    if not SHARED.is_dir():
        pytest.skip("the real listings do not lie beside this checkout")
    files = sorted(SHARED.glob("0*.txt"))
    for file, name in zip(files, ("ICML 2026 Papers", "ICML 2026 论文列表"), strict=True):
        listing = parse(file.read_bytes())
        assert listing.name == name
        assert len(listing.papers) == len(listing.entries) == 19
        assert {(p.paper.venue, p.paper.year) for p in listing.papers} == {("ICML", 2026)}
        assert [p.line for p in listing.papers] == list(range(3, 40, 2))


@pytest.mark.shared
def test_the_real_abstracts_have_the_code_links_they_name():
    if not SHARED.is_dir():
        pytest.skip("the real listings do not lie beside this checkout")
    rows = (SHARED / "expected.tsv").read_text(encoding="utf-8").splitlines()[1:]
    expected = [row.split("\t")[5] for row in rows]
    files = sorted(SHARED.glob("0*.txt"))
    papers = [paper for file in files for paper in parse(file.read_bytes()).papers]
    found = [code_link(find_links(paper.source)) or "-" for paper in papers]
    assert found == expected
    assert sum(link != "-" for link in found) == 11
    for paper in papers:
        plain = to_plain(paper.source)
        assert to_plain(plain) == plain
        assert not re.search(r"[\\$*{}]|--|``|''", plain)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("% exported\n@article{key, title={A Title That Is Long Enough to Be Prose}}", "BibTeX"),
        ("TY  - JOUR\nTI  - A Title That Is Long Enough to Be Prose\nER  - ", "RIS"),
        ('[\n  {"title": "A Title That Is Long Enough to Be Prose"}]', "JSON"),
        ("<!DOCTYPE html><p>A sentence that is long enough to be an abstract.", "HTML"),
        ("\\documentclass{article}\nA sentence that is long enough to be an abstract.", "LaTeX"),
    ],
)
def test_data_of_another_kind_is_no_listing(text: str, kind: str):
    with pytest.raises(InvalidInput, match=kind):
        parse(text)


@pytest.mark.parametrize("start", ["@home robots", "[2] Robots", "<1% of robots", "{Robots}"])
def test_prose_that_begins_oddly_is_still_prose(start: str):
    text = f"{start} learn to sort shelves when their teachers are patient and the books are many."
    assert len(parse(text).papers) == 1
