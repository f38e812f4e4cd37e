"""BibTeX: the real files of other programs, and small ones for each kind of trouble in them."""

from datetime import UTC, datetime

import pytest

from service.catalogue.identifiers import Identifier
from service.catalogue.text import to_plain
from service.importers.bibtex import BIBTEX, is_bibtex
from service.importers.records import Entry, Parsed
from tests.service.importers.reading import sample_of
from tests.service.importers.reading import shared as shared_file


def read(content: str | bytes) -> Parsed:
    return BIBTEX.parse(sample_of(content))


def real(name: str) -> Parsed:
    return read(shared_file(f"samples/bibtex/{name}.bib"))


def only(parsed: Parsed) -> Entry:
    assert parsed.skipped == ()
    (entry,) = parsed.papers
    return entry


def keys(parsed: Parsed) -> list[str | None]:
    return [entry.kept.citation_key for entry in parsed.papers]


def by_key(parsed: Parsed, key: str) -> Entry:
    (entry,) = (entry for entry in parsed.papers if entry.kept.citation_key == key)
    return entry


def title(entry: Entry) -> str:
    return to_plain(entry.paper.title or "")


def names(entry: Entry) -> list[str]:
    return [author.name for author in entry.paper.authors]


def identifiers(entry: Entry) -> dict[str, str]:
    return {name.scheme: name.value for name in entry.paper.identifiers}


def written(fields: str) -> Entry:
    return only(read(f"@article{{k,\n title = {{Folding Shelves}},\n {fields}\n}}\n"))


# ---- Real files --------------------------------------------------------------------------------


def test_an_entry_without_a_key_in_utf16_with_old_line_ends():
    entry = only(real("utf16be-bom-cr"))
    assert (title(entry), entry.kept.citation_key) == ("Ü ist ein Umlaut", None)


@pytest.mark.parametrize("name", ["utf16le-bom", "utf16be-nobom"])
def test_utf16_with_and_without_its_mark(name: str):
    entry = only(real(name))
    paper = entry.paper
    assert entry.kept.citation_key == "Verwilghen+vanGalen+Wilke2011"
    assert title(entry) == (
        "Investigation of the best suture pattern to close a stuffed Christmas turkey"
    )
    assert len(paper.authors) == 4
    assert (paper.authors[2].name, paper.authors[2].family) == ("G. van Galen", "Galen")
    assert (paper.published, paper.venue) == ("2011-12", "Veterinary Record")
    assert identifiers(entry)["doi"] == "10.1136/vr.d6221"


def test_the_encoding_that_emacs_is_told():
    entry = only(real("latin2-emacs-hint"))
    assert (entry.kept.citation_key, title(entry)) == ("test1", "Żome title")


def test_a_library_of_jabref_with_a_mark_and_types_of_its_own():
    parsed = real("utf8-bom-jabref")
    assert keys(parsed) == ["Aal2005", "Hsu1993"]
    assert parsed.skipped == ()
    assert title(parsed.papers[0]) == (
        "Pi Calculus Versus Petri Nets: Let Us Eat Humble Pie Rather Than Further Inflate the Pi "
        "Hype"
    )
    assert title(parsed.papers[1]) == "Special issue on workflow and extented transaction systems"


def test_brackets_after_the_last_entry_are_no_entry():
    entry = only(real("mixed-junk-tail"))
    assert (entry.kept.citation_key, names(entry)) == ("Fen2010", ["Stefan Fenz"])
    assert title(entry) == "From the Resource to the Business Process Risk Level"
    assert entry.paper.year == 2010


def test_a_month_with_a_comma_in_it():
    first, second = real("bad-month").papers
    assert (title(first), first.paper.published) == ("Supporting...", "2006-08")
    assert (title(second), names(second), second.paper.year) == ("Entwurf...", [], 1997)


def test_every_form_of_name_that_biber_is_tested_with():
    text = shared_file("samples/bibtex/names-biber.bib").decode("utf-8")
    # None of the books has a title: each gets one, to be a paper.
    parsed = read(text.replace("  AUTHOR", "  TITLE = {T},\n  AUTHOR"))
    assert len(parsed.papers) == 38
    assert not {"L27", "L28"} & set(keys(parsed)), "these stand in comments"
    told = {
        entry.kept.citation_key: [(one.name, one.family) for one in entry.paper.authors]
        for entry in parsed.papers
    }
    assert told["L1id"] == [("Alfred Adler", "Adler")]
    assert told["L6"] == [("Francis van der valt Frome", "Frome")]
    assert told["L10"] == [("James Jolly III", "Jolly")]
    assert told["L12"][0][0] == "Charles Louis Xavier Joseph de la Vallée Poussin"
    assert told["L13"] == [("R. J. Van de Graaff", "Graaff")]
    assert told["L21"] == [("Šomeone Smith", "Smith")]
    assert told["L25"] == [
        ("American Psychological Association, Task Force on the Sexualization of Girls", None)
    ]


def test_books_without_a_title_are_reported_each_with_its_line():
    parsed = real("names-biber")
    assert parsed.papers == ()
    assert len(parsed.skipped) == 38
    assert [skipped.line for skipped in parsed.skipped[:3]] == [1, 6, 10]


def test_cyrillic():
    parsed = real("cyrillic")
    assert len(parsed.papers) == 5
    assert title(by_key(parsed, "viktorov-metodoj")) == (
        "Методы вычисления физико-химических величин и прикладные расчёты"
    )
    assert names(by_key(parsed, "test-inbook")) == ["Péter Jackson"]
    edited = by_key(parsed, "inbook-editor")
    assert (names(edited), edited.paper.details["editor"]) == ([], ["Vladimir Ilyich Lenin"])


def test_the_classic_of_every_type():
    parsed = real("classic-xampl")
    # 36 entries; three have neither title nor address: two that only point at another one with
    # a note, and a whole journal.
    assert (len(parsed.papers), len(parsed.skipped)) == (33, 3)
    least = by_key(parsed, "article-minimal")
    assert title(least) == "The Gnats and Gnus Document Preparation System"
    assert names(least) == ["L[eslie] A. Aamport"]
    pointing = by_key(parsed, "article-crossref")
    assert (pointing.paper.venue, pointing.paper.published) == ("G-Animal's Journal", "1986-07")


def test_a_whole_library_of_jabref():
    parsed = real("jabref-complex")
    assert (len(parsed.papers), parsed.skipped) == (20, ())
    kinds = [entry.paper.kind for entry in parsed.papers]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "paper-conference": 13,
        "article-journal": 5,
        "thesis": 1,
        "book": 1,
    }


def test_accents_that_the_preamble_defines():
    entry = only(real("preamble-def"))
    assert title(entry) == "Homogenization of scalar wave equation with hysteresis operator"
    assert names(entry) == ["Jan Franců", "Pavel Krejčí"]


def test_an_abstract_of_two_paragraphs():
    entry = only(real("long-abstract-paragraphs"))
    _, second = (entry.paper.abstract or "").split("\n\n")
    assert second.startswith("Keywords: metrics")
    assert "??" in title(entry)


def test_the_blank_at_the_end_of_an_abbreviation_stays():
    assert only(real("string-concat-space")).paper.venue == "a space between this and this"


def test_angle_brackets_of_a_formula():
    assert title(only(real("math-langle"))).endswith(
        "Zinc-Blende Structured \N{MATHEMATICAL LEFT ANGLE BRACKET}001\N{COMBINING MACRON}"
        "\N{MATHEMATICAL RIGHT ANGLE BRACKET} InAs Nanowires"
    )


def test_round_brackets_and_joined_names():
    entry = only(real("round-parens"))
    assert title(entry) == "The CONNIVER Reference Manual"
    assert names(entry) == ["Drew V. McDermott", "Gerald J. Sussman"]
    assert entry.paper.year == 1972


def test_groups_among_the_authors():
    authors = only(real("corporate-authors")).paper.authors
    assert len(authors) == 20
    groups = [author.name for author in authors if author.family is None]
    assert len(groups) == 5
    assert "Council on Cardiopulmonary, Critical Care, Perioperative and Resuscitation" in groups


def test_a_percent_sign_begins_no_comment_in_a_value():
    entry = only(real("mojibake-percent"))
    abstract = entry.paper.abstract or ""
    assert entry.kept.citation_key == "Akhavan_2009"
    assert "about 50% in a narrow wavelength range" in abstract
    assert "21" in abstract
    assert abstract.rstrip(" .").endswith("respectively")


def test_markup_in_titles_and_names():
    entry = only(real("markup-sub-small-caps"))
    assert (
        "Mitochondrial DNA₂ sequences suggest unexpected phylogenetic position of "
        "Corso-Sardinian grass snakes (Natrix cetti) and do not support their species status"
    ) in title(entry)
    assert names(entry)[2] == "M. Päckert"


def test_comments_within_a_block_and_abbreviations_in_any_case():
    entry = only(real("odd-whitespace-strings"))
    assert (entry.kept.citation_key, entry.paper.published) == ("sweig42", "1942-03")
    assert title(entry) == "The impossible TEL—book"
    assert len(entry.paper.authors) == 2


def test_an_apostrophe_that_is_a_command():
    entry = only(real("nips-textquotesingle"))
    assert title(entry) == "White Functionals for Anomaly Detection in Dynamical Systems"
    assert names(entry)[2] == "Alexandre D'aspremont"
    assert "doi" not in identifiers(entry)
    assert (entry.paper.pdf_url or "").endswith("0188e8b8b014829e2fa0f430f0a95961-Paper.pdf")


def test_formulas_of_inspire():
    entry = only(real("inspire-sigma"))
    assert title(entry) == (
        "Production of Σ⁰ Hyperon and Search of Σ⁰ Hypernuclei at LHC with ALICE"
    )
    assert identifiers(entry) == {"doi": "10.1134/s1063778823010131"}


def test_a_preamble_of_plain_words():
    entry = only(real("unquoted-preamble"))
    assert (entry.kept.citation_key, entry.paper.year) == ("batsis:rural", 2020)
    assert len(entry.paper.authors) == 13
    assert "KC Wright" in names(entry)


def test_commas_before_and():
    parsed = real("bibdesk-bad-commas")
    assert keys(parsed) == ["rails", "dragon", "pickaxe"]
    assert names(parsed.papers[0]) == ["Sam Ruby", "Dave Thomas", "David Hansson Heinemeier"]


def test_proceedings_of_pmlr():
    parsed = real("pmlr-icml2019-40")
    # The abstracts of three entries break off, and so do the entries: what is there comes in.
    assert (len(parsed.papers), parsed.skipped) == (40, ())
    assert keys(parsed)[:3] == [
        "pmlr-v97-mao19a",
        "pmlr-v97-lattanzi19a",
        "pmlr-v97-raziperchikolaei19a",
    ]
    for entry in parsed.papers:
        assert title(entry)
        assert "//proceedings.mlr.press" in (entry.paper.url or "")
    broken_off = by_key(parsed, "pmlr-v97-saunshi19a")
    assert (broken_off.paper.abstract or "").endswith("The current paper uses the term")


def test_proceedings_of_the_acl():
    parsed = real("acl2022-25")
    assert (len(parsed.papers), parsed.skipped) == (25, ())
    assert keys(parsed)[:3] == [
        "goldman-etal-2022-un",
        "zhou-srikumar-2022-closer",
        "chan-etal-2022-comparative",
    ]
    assert {entry.paper.published for entry in parsed.papers} == {"2022-05"}
    assert all({"doi", "acl"} <= set(identifiers(entry)) for entry in parsed.papers)


def test_what_openreview_gives():
    parsed = real("openreview-iclr2018-25")
    assert (len(parsed.papers), parsed.skipped) == (25, ())
    assert keys(parsed)[:3] == [
        "zhang2018learning",
        "anonymous2018think",
        "seah2018thinking",
    ]
    assert all("openreview" in identifiers(entry) for entry in parsed.papers)


# ---- What is in an entry -----------------------------------------------------------------------


def test_an_entry_tells_all_it_knows():
    entry = only(
        read(
            "@string{jfs = {Journal of Folding Shelves}}\n\n"
            "@Article{Example2024,\n"
            "  author   = {Example, Ada and de la Probe, Bo and {Shelf Group, Inc.}},\n"
            "  title    = {On {F}olding Shelves with $n^2$ Hinges},\n"
            "  subtitle = {A Study},\n"
            "  journal  = jfs,\n"
            "  year     = 2024, month = feb, day = 3,\n"
            "  volume   = {7}, number = {2}, pages = {11--19},\n"
            "  doi      = {10.1000/SHELF.7},\n"
            "  url      = {https://example.org/shelf},\n"
            '  abstract = "We fold {\\"U}ber-shelves.",\n'
            "  keywords = {home decor, hinges; joints},\n"
            "  groups   = {To fold},\n"
            "  ranking  = {rank4},\n"
            "  readstatus = {read},\n"
            "  annote   = {Ask \\textbf{Bo}.},\n"
            "  timestamp = {2024.03.05},\n"
            "}\n"
        )
    )
    paper, kept = entry.paper, entry.kept
    assert title(entry) == "On Folding Shelves with n² Hinges: A Study"
    assert [(one.name, one.family) for one in paper.authors] == [
        ("Ada Example", "Example"),
        ("Bo de la Probe", "Probe"),
        ("Shelf Group, Inc.", None),
    ]
    assert (paper.venue, paper.published, paper.year) == (
        "Journal of Folding Shelves",
        "2024-02-03",
        2024,
    )
    assert (paper.kind, paper.url) == ("article-journal", "https://example.org/shelf")
    assert paper.details == {"volume": "7", "issue": "2", "page": "11-19"}
    assert paper.abstract == 'We fold {\\"U}ber-shelves.'
    assert identifiers(entry) == {"doi": "10.1000/shelf.7"}
    assert kept.tags == ("home decor, hinges", "joints"), "a semicolon parts what has commas"
    assert (kept.stars, kept.status, kept.note) == (4, "read", "Ask Bo.")
    assert kept.collections == (("To fold",),)
    assert kept.saved_at == datetime(2024, 3, 5, tzinfo=UTC)
    assert kept.citation_key == "Example2024"
    assert (entry.line, entry.end_line) == (3, 20)
    assert entry.source.startswith("@Article{Example2024,")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("eprint = {2401.00001}, archivePrefix = {arXiv}", {"arxiv": "2401.00001"}),
        ("journal = {arXiv preprint arXiv:2401.00001}", {"arxiv": "2401.00001"}),
        ("journal = {CoRR}, volume = {abs/2401.00001}", {"arxiv": "2401.00001"}),
        ("eprint = {hep-th/9901001v2}", {"arxiv": "hep-th/9901001"}),
        ("eprint = {31452104}, eprinttype = {pubmed}", {"pubmed": "31452104"}),
        ("doi = {https://doi.org/10.1000/A\\_b}", {"doi": "10.1000/a_b"}),
        ("isbn = {978-0-262-03561-3}", {"isbn": "9780262035613"}),
        (
            "howpublished = {\\url{https://openreview.net/forum?id=rkgMkCEtPB}}",
            {"openreview": "rkgMkCEtPB"},
        ),
        ("note = {see https://example.org/a.}", {"url": "https://example.org/a"}),
        ("doi = {none}", {}),
    ],
)
def test_identifiers_wherever_people_put_them(fields: str, expected: dict[str, str]):
    assert identifiers(written(fields)) == expected


def test_the_version_of_a_preprint_is_kept():
    entry = written("eprint = {2401.00001v3}")
    assert entry.paper.identifiers == (Identifier("arxiv", "2401.00001", 3),)


def test_a_preprint_server_is_no_venue():
    assert written("journal = {arXiv preprint arXiv:2401.00001}").paper.venue is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Smith, John and others", ["John Smith"]),
        ("Liu, Yang-Yu AND Nacher, Jose C.", ["Yang-Yu Liu", "Jose C. Nacher"]),
        ("{\\'E}va Probe and Bo~Sample", ["Éva Probe", "Bo Sample"]),
        ("Ada Example; Bo Sample", ["Ada Example", "Bo Sample"]),
        ("Example, A., Sample, B., Test, C.", ["A. Example", "B. Sample", "C. Test"]),
        ("family=Probe, given=Bo, prefix=van", ["Bo van Probe"]),
        ("Probe, Jr., Bo", ["Bo Probe Jr."]),
        ("{Simon and Schuster}", ["Simon and Schuster"]),
    ],
)
def test_names(value: str, expected: list[str]):
    assert names(written(f"author = {{{value}}}")) == expected


def test_that_there_are_others_is_kept():
    assert written("author = {Smith, John and others}").paper.details["et-al"] is True
    assert "et-al" not in written("author = {Smith, John}").paper.details


def test_combining_characters_stay_on_their_letter():
    parsed = read("@misc{k, title = {Jalapen\u0303o}}")
    assert title(only(parsed)) == "Jalape\u00f1o"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("date = {2023-07-01/2023-07-05}", "2023-07-01"),
        ("year = {2023}, month = {8,}", "2023-08"),
        ("year = 2023, month = {December}", "2023-12"),
        ("year = 2023, month = {09--15 Jun}", "2023-06"),
        ("year = {in press}", None),
        ("year = {c. 1999}", "1999"),
    ],
)
def test_dates(fields: str, expected: str | None):
    assert written(fields).paper.published == expected


def test_a_paper_knows_of_its_volume_what_it_does_not_say_itself():
    parsed = read(
        "@inproceedings{talk, crossref = {VOL}, title = {A Talk}, author = {A. B.}}\n"
        "@proceedings{vol, title = {Shelves 2020}, year = 2020, publisher = {Acme},\n"
        "  doi = {10.1000/vol}, editor = {E. Ditor}}\n"
    )
    talk, volume = parsed.papers
    assert (talk.paper.venue, talk.paper.year) == ("Shelves 2020", 2020)
    assert talk.paper.details["publisher"] == "Acme"
    assert identifiers(talk) == {}, "its number is not that of the volume"
    assert (title(volume), identifiers(volume)) == ("Shelves 2020", {"doi": "10.1000/vol"})


def test_entries_that_point_at_each_other_end():
    parsed = read(
        "@misc{a, crossref = {b}, title = {One}}\n@misc{b, crossref = {a}, title = {Two}}"
    )
    assert [title(entry) for entry in parsed.papers] == ["One", "Two"]


def test_shared_data_is_no_paper():
    parsed = read("@xdata{x, publisher = {Acme}}\n@misc{a, xdata = {x}, title = {One}}")
    assert only(parsed).paper.details["publisher"] == "Acme"


# ---- Trouble -----------------------------------------------------------------------------------


def test_a_title_whose_brackets_do_not_match_costs_its_entry_only():
    parsed = read("@a{k1,title={Why {\\textbackslashBayes{\\}}?},year=1986}\n@a{k2,title={Good}}\n")
    assert keys(parsed) == ["k2"]
    (skipped,) = parsed.skipped
    assert (skipped.line, skipped.kind) == (1, "unreadable")
    assert "not closed" in skipped.reason
    assert skipped.text.startswith("@a{k1,")


def test_an_abstract_whose_brackets_do_not_match_costs_nothing():
    parsed = read(
        "@article{a,\n  title = {One},\n  abstract = {from 3 to 15{{\\%}. Done},\n"
        "  year = {2020}\n}\n\n@article{b,\n  title = {Two}\n}\n"
    )
    assert [title(entry) for entry in parsed.papers] == ["One", "Two"]
    assert parsed.papers[0].paper.year == 2020
    assert to_plain(parsed.papers[0].paper.abstract or "") == "from 3 to 15%. Done"
    assert parsed.skipped == ()


def test_a_missing_comma_is_named():
    parsed = read(
        "@misc{a, title = {One}}\n@misc{b,\n  author = {A B}\n  title = {T}}\n"
        "@misc{c, title = {Three}}"
    )
    assert keys(parsed) == ["a", "c"]
    (skipped,) = parsed.skipped
    assert (skipped.line, skipped.end_line) == (2, 4)
    assert skipped.reason == "A comma is missing after the field “author”."


def test_a_missing_comma_after_the_key_is_named():
    (skipped,) = read("@article{key title={x}}").skipped
    assert skipped.reason == "There is no comma after the key of this entry."


def test_of_two_entries_with_one_key_both_come_in():
    parsed = read("@misc{a, title = {One}}\n@misc{a, title = {Two}}")
    assert [title(entry) for entry in parsed.papers] == ["One", "Two"]


def test_of_a_field_given_twice_the_first_counts():
    assert written("year = 2001, year = 2002").paper.year == 2001


def test_entries_in_comments_and_addresses_are_no_entries():
    parsed = read(
        "Maintained by ada@example (at home)\n%@misc{a, title = {No}}\n"
        "@comment{@misc{b, title = {No}}}\n@misc{c, title = {Yes}}\n"
    )
    assert keys(parsed) == ["c"]
    assert parsed.skipped == ()


def test_what_was_refused_can_be_mended_and_sent_again_with_its_abbreviations():
    (skipped,) = read("@string{acme = {Acme Press}}\n@book{b, publisher = acme}").skipped
    again = BIBTEX.join([skipped.text.replace("publisher", "title = {Shelves}, publisher")])
    assert only(read(again)).paper.details["publisher"] == "Acme Press"


def test_a_chain_of_abbreviations_does_not_grow_without_bound():
    chain = '@string{a0 = "lots of fun "}\n' + "".join(
        f"@string{{a{n} = a{n - 1} # a{n - 1}}}\n" for n in range(1, 60)
    )
    parsed = read(chain + "@misc{x, title = {X}, note = a59}\n@misc{y, title = {Y}}")
    assert [title(entry) for entry in parsed.papers] == ["X", "Y"]
    assert len(str(parsed.papers[0].paper.details["note"])) < 200_000


@pytest.mark.parametrize(
    "hostile",
    [
        "@misc{k, title = {" + "{" * 50_000,
        '@misc{k, title = "' * 5_000,
        "@misc{k, t = " + "{a} # " * 20_000,
        "@misc{k, title = {x},\n" + "b = {\n" * 10_000,
        "@misc{k, title = {x}, author = {" + "a and " * 20_000 + "}}",
        "@misc{k, title = {x}, author = {" + "a, " * 20_000 + "}}",
        "@misc{" * 10_000,
    ],
    ids=["brackets", "quotes", "joints", "fields", "people", "commas", "entries"],
)
def test_hostile_files_are_read_to_their_end(hostile: str):
    parsed = read(f"{hostile}\n\n@misc{{good, title = {{Good}}}}\n")
    assert title(parsed.papers[-1]) == "Good"


# ---- Telling it from others --------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "@article{k,\n title = {T}}",
        "% a comment\n\n@STRING{a = {b}}",
        "@Comment{x}\n",
        "free text before\n\n  @my-own{".replace("my-own", "myown") + "k, title = {T}}",
        "@misc(k, title = {T})",
    ],
)
def test_what_is_bibtex(text: str):
    assert is_bibtex(sample_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "ICML 2026 Papers\n\nWe study shelves. Write to ada@example.org (Ada).",
        "TY  - JOUR\nTI  - @article\nER  - \n",
        '[{"bibtex": "@article{k,\\n title={T}}"}]',
        "<html>\n@media{a,b}\n</html>",
        "@article and nothing else",
        "",
    ],
)
def test_what_is_not(text: str):
    assert not is_bibtex(sample_of(text))
