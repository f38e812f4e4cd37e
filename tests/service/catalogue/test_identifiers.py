"""One paper, many addresses: every spelling leads to the same identifier."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.catalogue import identifiers
from service.catalogue.identifiers import (
    Identifier,
    Scheme,
    find_identifier,
    landing_url,
    normalise,
    normalise_url,
    pdf_url,
)
from service.errors import InvalidInput

TITLE = "Understanding Deep Learning Requires Rethinking Generalization"
HASH = "3f5ee243547dee91fbd053c1c4a845aa"
SHA = "204e3073870fae3d05bcbc2f6a8e263d9b72e776"


@pytest.mark.parametrize(
    "text",
    [
        "2406.14514",
        "arXiv:2406.14514",
        "arxiv: 2406.14514",
        "arXiv 2406.14514",
        "urn:arXiv:2406.14514",
        "https://arxiv.org/abs/2406.14514",
        "http://arxiv.org/abs/2406.14514",
        "HTTPS://ARXIV.ORG/abs/2406.14514",
        "arxiv.org/abs/2406.14514",
        "arxiv.org/pdf/2406.14514",
        "https://arxiv.org/pdf/2406.14514.pdf",
        "https://www.arxiv.org/abs/2406.14514",
        "https://export.arxiv.org/abs/2406.14514",
        "https://browse.arxiv.org/html/2406.14514",
        "https://arxiv.org/abs/2406.14514?context=cs",
        "https://arxiv.org/abs/2406.14514/",
        "https://arxiv.org/abs/arXiv:2406.14514",
        "https://arxiv.org/format/2406.14514",
        "https://arxiv.org/e-print/2406.14514",
        "https://arxiv.org/ftp/arxiv/papers/2406/2406.14514.pdf",
        "https://doi.org/10.48550/arXiv.2406.14514",
        "10.48550/arxiv.2406.14514",
        "doi:10.48550/ARXIV.2406.14514",
        "https://www.alphaxiv.org/abs/2406.14514",
        "https://alphaxiv.org/overview/2406.14514",
        "https://huggingface.co/papers/2406.14514",
        "https://hf.co/papers/2406.14514",
        "https://ar5iv.labs.arxiv.org/html/2406.14514",
        "https://ar5iv.org/abs/2406.14514",
        "https://scirate.com/arxiv/2406.14514",
        "https://www.semanticscholar.org/arxiv/2406.14514",
        "https://api.semanticscholar.org/arXiv:2406.14514",
        "(https://arxiv.org/abs/2406.14514)",
        "https://arxiv.org/abs/2406.14514)",
        "https://arxiv.org/abs/2406.14514.",
        "https://arxiv.org/abs/2406.14514,",
        "<https://arxiv.org/abs/2406.14514>",
        "[paper](https://arxiv.org/abs/2406.14514)",
        "  “https://arxiv.org/abs/2406.14514” ",
        "https://arxiv.org/abs/2406%2E14514",
        "https://arxiv.org/%61bs/2406.14514",
        "https%3A%2F%2Farxiv.org%2Fabs%2F2406.14514",
        "２４０６．１４５１４",
        "ａｒＸｉｖ：２４０６．１４５１４",
        "https://arxiv.org/abs/２４０６.１４５１４",
        "2406.\u200b14514",
        "See arxiv.org/abs/2406.14514, section 2.",
        "A. Author, arXiv preprint arXiv:2406.14514 (2024).",
    ],
)
def test_every_spelling_of_an_arxiv_paper_is_one_identifier(text):
    assert find_identifier(text) == Identifier(Scheme.ARXIV, "2406.14514")


@pytest.mark.parametrize(
    ("text", "value", "version"),
    [
        ("https://arxiv.org/abs/2406.14514v2", "2406.14514", 2),
        ("https://arxiv.org/html/2406.14514v1#S2", "2406.14514", 1),
        ("https://arxiv.org/pdf/1402.1516v1.pdf", "1402.1516", 1),
        ("1402.1516v1.pdf", "1402.1516", 1),
        ("https://arxiv.org/ftp/arxiv/papers/1402/1402.1516.pdf", "1402.1516", None),
        ("arXiv:2406.14514v2 [cs.CL]", "2406.14514", 2),
        ("arXiv:2406.14514v12 [cs.CL] 20 Jun 2024", "2406.14514", 12),
        ("10.48550/ARXIV.2406.14514V1", "2406.14514", 1),
        ("hep-th/9901001v3", "hep-th/9901001", 3),
        ("math.GT/0309136", "math/0309136", None),
        ("MATH/0309136", "math/0309136", None),
        ("https://arxiv.org/abs/hep-th/9901001", "hep-th/9901001", None),
        ("https://arxiv.org/abs/hep-th%2F9901001v2", "hep-th/9901001", 2),
        ("https://arxiv.org/pdf/hep-th/9901001v2.pdf", "hep-th/9901001", 2),
        ("https://arxiv.org/ftp/hep-th/papers/9901/9901001.pdf", "hep-th/9901001", None),
        ("https://doi.org/10.48550/arXiv.math.GT/0309136", "math/0309136", None),
    ],
)
def test_the_version_is_kept_beside_the_arxiv_number(text, value, version):
    assert find_identifier(text) == Identifier(Scheme.ARXIV, value, version)


@pytest.mark.parametrize(
    "text",
    [
        "2413.14514",  # no thirteenth month
        "2400.14514",
        "0703.1234",  # before the new numbers began
        "2406.1451",  # four digits until 2014, five since
        "1402.15160",
        "2406.145140",
        "2406.14514v0",
        "2406.14514v2v2",
        "12406.14514",
        "foo-th/9901001",
        "hep-th/9913001",
        "hep-th/5001001",
        "٢٤٠٦.١٤٥١٤",
        "version 2406.14514 of the firmware",
    ],
)
def test_what_only_looks_like_an_arxiv_number_is_none(text):
    assert find_identifier(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10.1000/XYZ123", "10.1000/xyz123"),
        ("doi:10.1000/xyz123", "10.1000/xyz123"),
        ("DOI: 10.1000/xyz123.", "10.1000/xyz123"),
        ("doi 10.1000/xyz123", "10.1000/xyz123"),
        ("info:doi/10.1000/xyz123", "10.1000/xyz123"),
        ("https://doi.org/10.1000/xyz123", "10.1000/xyz123"),
        ("http://dx.doi.org/10.1000/XYZ123", "10.1000/xyz123"),
        ("https://www.doi.org/10.1000/xyz123/", "10.1000/xyz123"),
        ("doi:https://doi.org/10.1000/xyz123", "10.1000/xyz123"),
        ("https://doi.org/10.1000%2Fxyz123", "10.1000/xyz123"),
        ("10.1000%2Fxyz123", "10.1000/xyz123"),
        ("１０．１０００／xyz123", "10.1000/xyz123"),
        ("(10.1000/xyz123)", "10.1000/xyz123"),
        ("10.1000/xyz123),", "10.1000/xyz123"),
        ("See Author (2020), doi:10.1000/xyz123, for more.", "10.1000/xyz123"),
        ("10.1016/S0140-6736(05)67889-0.", "10.1016/s0140-6736(05)67889-0"),
        (
            "https://doi.org/10.1002/(SICI)1097-0258(19980815/30)17:15/16%3C1661::AID%3E3.0.CO;2-2",
            "10.1002/(sici)1097-0258(19980815/30)17:15/16<1661::aid>3.0.co;2-2",
        ),
        ("https://dl.acm.org/doi/pdf/10.1145/3292500.3330701", "10.1145/3292500.3330701"),
        ("https://epubs.siam.org/doi/10.1137/S0097539795293172", "10.1137/s0097539795293172"),
        ("https://link.springer.com/content/pdf/10.1007/s10994-021.pdf", "10.1007/s10994-021"),
        ("https://www.tandfonline.com/doi/full/10.1080/0162.2020", "10.1080/0162.2020"),
        ("https://onlinelibrary.wiley.com/doi/10.1002/abc.1/full", "10.1002/abc.1"),
    ],
)
def test_every_spelling_of_a_doi_is_one_identifier(text, value):
    assert find_identifier(text) == Identifier(Scheme.DOI, value)


@pytest.mark.parametrize(
    "text",
    [
        "10.1234/2406.14514",
        "10.1234/arXiv.2406.14514",
        "10.5555/arXiv:2406.14514v2",
        "https://doi.org/10.1234/2406.14514",
        "doi:10.1234/hep-th/9901001",
        "Author, 2020. doi:10.1234/arxiv.2406.14514",
    ],
)
def test_a_number_inside_a_doi_is_no_arxiv_number(text):
    found = find_identifier(text)
    assert found is not None
    assert found.scheme == Scheme.DOI


@pytest.mark.parametrize(
    "text",
    [
        "https://github.com/someone/arXiv:2406.14514",
        "https://example.com/abs/2406.14514",
        "https://example.com/10.1000/xyz",
        "https://orcid.org/0000-0002-1825-0097",
        "https://arxiv.org/list/cs.CL/recent",
        "https://notarxiv.org/abs/2406.14514",
        "https://openreview.net/group?id=ICLR.cc/2018/Conference",
        "https://openreview.net/references/pdf?id=B1-Hhnslg",
        "https://proceedings.mlr.press/v28",
        "https://proceedings.mlr.press/v28/index.html",
        "https://www.jmlr.org/papers/v15/srivastava14a.html",
        "https://aclanthology.org/volumes/2022.acl-long",
        "https://huggingface.co/someone/2406.14514",
    ],
)
def test_any_other_page_is_its_own_address(text):
    assert find_identifier(text) == Identifier(Scheme.URL, normalise_url(text))


@pytest.mark.parametrize(
    ("text", "scheme", "value"),
    [
        ("https://openreview.net/forum?id=B1-Hhnslg", "openreview", "B1-Hhnslg"),
        ("https://openreview.net/forum?id=B1-Hhnslg&noteId=SyG", "openreview", "B1-Hhnslg"),
        ("https://openreview.net/forum?noteId=SyG&id=HJoYD6gC-", "openreview", "HJoYD6gC-"),
        (
            "https://openreview.net/forum?id=B1-Hhnslg&referrer=%5Bthe%20profile%5D(/profile)",
            "openreview",
            "B1-Hhnslg",
        ),
        ("https://openreview.net/pdf?id=B1-Hhnslg", "openreview", "B1-Hhnslg"),
        ("https://openreview.net/attachment?id=B1-Hhnslg&name=pdf", "openreview", "B1-Hhnslg"),
        ("openreview:B1-Hhnslg", "openreview", "B1-Hhnslg"),
        ("https://aclanthology.org/2022.acl-long.75/", "acl", "2022.acl-long.75"),
        ("https://aclanthology.org/2022.acl-long.75.pdf", "acl", "2022.acl-long.75"),
        ("https://aclanthology.org/2022.acl-long.75.bib", "acl", "2022.acl-long.75"),
        ("2022.findings-acl.304", "acl", "2022.findings-acl.304"),
        ("2020.lrec-1.5", "acl", "2020.lrec-1.5"),
        ("https://www.aclweb.org/anthology/P18-1001.pdf", "acl", "P18-1001"),
        ("https://aclanthology.info/papers/P18-1001/p18-1001", "acl", "P18-1001"),
        ("p18-1001", "acl", "P18-1001"),
        ("https://proceedings.mlr.press/v70/finn17a.html", "pmlr", "v70/finn17a"),
        ("http://proceedings.mlr.press/v70/finn17a", "pmlr", "v70/finn17a"),
        ("http://proceedings.mlr.press/v70/finn17a/finn17a.pdf", "pmlr", "v70/finn17a"),
        ("http://proceedings.mlr.press/v70/finn17a/finn17a-supp.pdf", "pmlr", "v70/finn17a"),
        ("http://proceedings.mlr.press/v28/gopal13.pdf", "pmlr", "v28/gopal13"),
        ("http://jmlr.org/proceedings/papers/v28/gopal13-supp.pdf", "pmlr", "v28/gopal13"),
        ("https://proceedings.mlr.press/v256/ly-manson24a.html", "pmlr", "v256/ly-manson24a"),
        (
            "https://raw.githubusercontent.com/mlresearch/v256/main/assets/tang24a/tang24a.pdf",
            "pmlr",
            "v256/tang24a",
        ),
        (
            f"https://papers.nips.cc/paper_files/paper/2017/hash/{HASH}-Abstract.html",
            "neurips",
            f"2017/{HASH}",
        ),
        (
            f"https://proceedings.neurips.cc/paper/2017/file/{HASH}-Paper.pdf",
            "neurips",
            f"2017/{HASH}",
        ),
        (
            f"https://papers.neurips.cc/paper_files/paper/2022/hash/{HASH}-Abstract-Conference.html",
            "neurips",
            f"2022/{HASH}-Conference",
        ),
        (
            f"https://proceedings.neurips.cc/paper_files/paper/2023/file/{HASH}"
            "-Supplemental-Datasets_and_Benchmarks.pdf",
            "neurips",
            f"2023/{HASH}-Datasets_and_Benchmarks",
        ),
        (
            "https://datasets-benchmarks-proceedings.neurips.cc/paper/2021/hash/"
            f"{HASH}-Abstract-round1.html",
            "neurips",
            f"2021/{HASH}-round1",
        ),
        ("https://pubmed.ncbi.nlm.nih.gov/31452104/", "pubmed", "31452104"),
        ("https://www.ncbi.nlm.nih.gov/pubmed/31452104", "pubmed", "31452104"),
        ("PMID: 31452104", "pubmed", "31452104"),
        (f"https://www.semanticscholar.org/paper/Attention-is-All/{SHA}", "s2", SHA),
        (f"https://www.semanticscholar.org/paper/{SHA}", "s2", SHA),
        ("https://api.semanticscholar.org/CorpusID:13756489", "s2", "CorpusID:13756489"),
        ("CorpusID:13756489", "s2", "CorpusID:13756489"),
        ("ISBN 0-262-03384-4", "isbn", "9780262033848"),
        ("ISBN-10: 043942089X", "isbn", "9780439420891"),
        ("978-0-262-03561-3", "isbn", "9780262035613"),
        ("978‐0‐262‐03561‐3", "isbn", "9780262035613"),
        ("9780262035613", "isbn", "9780262035613"),
        ("0-262-03384-4", "isbn", "9780262033848"),
    ],
)
def test_papers_are_found_under_the_names_of_other_houses(text, scheme, value):
    assert find_identifier(text) == Identifier(scheme, value)


def test_a_revised_text_of_the_anthology_has_its_version_beside_it():
    assert find_identifier("https://aclanthology.org/P18-1001v2.pdf") == Identifier(
        Scheme.ACL, "P18-1001", 2
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        TITLE,
        "Attention is all you need",
        "and/or",
        "OpenReview discussion",
        "PubMed 2019",
        "978-0-262-03561-4",
        "0262033849",
        "1234567890",
        SHA,
        "10.1000/",
        "10.1000/...",
        "10.1000/a\x00b",
        "10.1000/../etc",
        "javascript:alert(1)",
        "data:text/html,hello",
        "ftp://arxiv.org/pub",
        "https://",
        "https://user:secret@example.com/",
        "https://example.com/one https://example.com/two",
        "Read https://example.com/blog today",
        "example.com/page",
        "\ud800",
    ],
)
def test_a_text_that_names_no_paper_gives_none(text):
    assert find_identifier(text) is None


def test_the_value_of_each_scheme_may_come_with_its_label_or_as_a_link():
    assert normalise("doi", "https://doi.org/10.1000/ABC") == Identifier("doi", "10.1000/abc")
    assert normalise("arxiv", "arXiv:2406.14514v2 [cs.CL]") == Identifier("arxiv", "2406.14514", 2)
    assert normalise("pubmed", "PMID 031452104") == Identifier("pubmed", "31452104")
    assert normalise("s2", "13756489") == Identifier("s2", "CorpusID:13756489")
    assert normalise("openreview", "https://openreview.net/pdf?id=B1-Hhnslg").value == "B1-Hhnslg"
    assert normalise("isbn", "0262033844") == Identifier("isbn", "9780262033848")
    assert normalise("neurips", f"2023/{HASH}").value == f"2023/{HASH}-Conference"
    assert normalise("url", "https://Example.org/#top") == Identifier("url", "https://example.org/")


@pytest.mark.parametrize("scheme", ["doi", "arxiv"])
def test_the_doi_of_a_preprint_is_its_arxiv_number(scheme):
    assert normalise(scheme, "10.48550/arXiv.2406.14514") == Identifier("arxiv", "2406.14514")


@pytest.mark.parametrize("scheme", list(Scheme))
@pytest.mark.parametrize("value", ["", "  ", "rub bish", "\x00", "\ud800", "€" * 5000])
def test_rubbish_is_refused_with_the_name_of_its_field(scheme, value):
    with pytest.raises(InvalidInput) as refused:
        normalise(scheme, value)
    assert refused.value.field == scheme.value
    assert str(refused.value).isprintable()


def test_an_identifier_of_another_scheme_is_refused():
    with pytest.raises(InvalidInput, match="like 2406"):
        normalise("arxiv", "10.1000/xyz")
    with pytest.raises(InvalidInput, match="check digit"):
        normalise("isbn", "978-0-262-03561-4")


def test_an_unknown_scheme_is_refused():
    with pytest.raises(InvalidInput, match="arxiv, doi") as refused:
        normalise("orcid", "0000-0002-1825-0097")
    assert refused.value.field == "scheme"


@pytest.mark.parametrize(
    ("identifier", "page", "pdf"),
    [
        (
            Identifier("arxiv", "2406.14514"),
            "https://arxiv.org/abs/2406.14514",
            "https://arxiv.org/pdf/2406.14514",
        ),
        (
            Identifier("arxiv", "hep-th/9901001", 3),
            "https://arxiv.org/abs/hep-th/9901001v3",
            "https://arxiv.org/pdf/hep-th/9901001v3",
        ),
        (Identifier("doi", "10.1000/a<b>"), "https://doi.org/10.1000/a%3Cb%3E", None),
        (
            Identifier("openreview", "B1-Hhnslg"),
            "https://openreview.net/forum?id=B1-Hhnslg",
            "https://openreview.net/pdf?id=B1-Hhnslg",
        ),
        (
            Identifier("acl", "P18-1001", 2),
            "https://aclanthology.org/P18-1001/",
            "https://aclanthology.org/P18-1001v2.pdf",
        ),
        (
            Identifier("pmlr", "v70/finn17a"),
            "https://proceedings.mlr.press/v70/finn17a.html",
            "https://proceedings.mlr.press/v70/finn17a/finn17a.pdf",
        ),
        (
            Identifier("pmlr", "v28/gopal13"),
            "https://proceedings.mlr.press/v28/gopal13.html",
            "https://proceedings.mlr.press/v28/gopal13.pdf",
        ),
        (
            Identifier("pmlr", "v267/santos25a"),
            "https://proceedings.mlr.press/v267/santos25a.html",
            "https://raw.githubusercontent.com/mlresearch/v267/main/assets/santos25a/santos25a.pdf",
        ),
        (
            Identifier("pmlr", "v56/Che16"),  # a volume with file names of its own
            "https://proceedings.mlr.press/v56/Che16.html",
            None,
        ),
        (Identifier("pmlr", "r5/kim05a"), "https://proceedings.mlr.press/r5/kim05a.html", None),
        (
            Identifier("neurips", f"2017/{HASH}"),
            f"https://proceedings.neurips.cc/paper_files/paper/2017/hash/{HASH}-Abstract.html",
            f"https://proceedings.neurips.cc/paper_files/paper/2017/file/{HASH}-Paper.pdf",
        ),
        (
            Identifier("neurips", f"2021/{HASH}-round2"),
            "https://datasets-benchmarks-proceedings.neurips.cc/paper_files/paper/2021/hash/"
            f"{HASH}-Abstract-round2.html",
            "https://datasets-benchmarks-proceedings.neurips.cc/paper_files/paper/2021/file/"
            f"{HASH}-Paper-round2.pdf",
        ),
        (Identifier("pubmed", "31452104"), "https://pubmed.ncbi.nlm.nih.gov/31452104/", None),
        (Identifier("s2", SHA), f"https://www.semanticscholar.org/paper/{SHA}", None),
        (
            Identifier("s2", "CorpusID:13756489"),
            "https://api.semanticscholar.org/CorpusID:13756489",
            None,
        ),
        (
            Identifier("isbn", "9780262035613"),
            "https://openlibrary.org/isbn/9780262035613",
            None,
        ),
        (Identifier("url", "https://example.org/a"), "https://example.org/a", None),
    ],
)
def test_an_identifier_knows_its_page_and_its_pdf(identifier, page, pdf):
    assert landing_url(identifier) == page
    assert pdf_url(identifier) == pdf


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("https://Example.ORG", "https://example.org/"),
        ("HTTP://example.org:80/a", "http://example.org/a"),
        ("https://example.org:443/a", "https://example.org/a"),
        ("https://example.org:8443/a", "https://example.org:8443/a"),
        ("https://example.org./a", "https://example.org/a"),
        ("https://example.org/a/", "https://example.org/a"),
        ("https://example.org//a", "https://example.org/a"),
        ("https://example.org/a/./b/../c", "https://example.org/a/c"),
        ("https://example.org/../../a", "https://example.org/a"),
        ("https://example.org/%7euser/%2fx", "https://example.org/~user/%2Fx"),
        ("https://example.org/a%2e%2e/%2e%2e/b", "https://example.org/b"),
        ("https://example.org/100%", "https://example.org/100%25"),
        ("https://example.org/%%341", "https://example.org/%2541"),
        ("https://example.org/a b", "https://example.org/a%20b"),
        ("https://example.org/é", "https://example.org/%C3%A9"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://例え.jp/", "https://xn--r8jz45g.jp/"),
        ("https://example.org/?b=2&a=1", "https://example.org/?a=1&b=2"),
        ("https://example.org/?a=2&a=1&", "https://example.org/?a=2&a=1"),
        ("https://example.org/?", "https://example.org/"),
        (
            "https://example.org/p?utm_source=x&UTM_Medium=y&id=7&fbclid=z&gclid=1&ref=nav",
            "https://example.org/p?id=7",
        ),
        ("https://example.org/p?u%74m_source=x", "https://example.org/p"),
        ("https://example.org/p?reference=3", "https://example.org/p?reference=3"),
        ("https://example.org/a#section", "https://example.org/a"),
        ("https://example.org/a#:~:text=foo", "https://example.org/a"),
        ("https://example.org/#/papers/7", "https://example.org/#/papers/7"),
        ("https://example.org/#!papers", "https://example.org/#!papers"),
        ("http://[2001:DB8::1]:8080/a", "http://[2001:db8::1]:8080/a"),
        ("http://192.0.2.1/", "http://192.0.2.1/"),
        ("http://localhost:5000/", "http://localhost:5000/"),
        (" https://example.org/ ", "https://example.org/"),
    ],
)
def test_two_ways_of_writing_an_address_are_one_link(written, normal):
    assert normalise_url(written) == normal


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JAVASCRIPT:alert(1)",
        "java\nscript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "ftp://example.org/",
        "//example.org/a",
        "example.org/a",
        "https:///a",
        "https:example.org",
        "https://",
        "https://user@example.org/",
        "https://user:secret@example.org/",
        "https://example.org\\@evil.example/",
        "https://example.org/a\\b",
        "https://example.org/\x00",
        "https://exa\tmple.org/",
        "https://example.org/\x85a",
        "https://example.org/\ud800",
        "https://exa mple.org/",
        "https://-example.org/",
        "https://exam%70le.org/",
        "https://a..b/",
        "https://" + "a" * 64 + ".org/",
        "https://" + "a." * 130 + "org/",
        "https://example.org:0/",
        "https://example.org:65536/",
        "https://example.org:x/",
        "https://[::1/",
        "https://[zz]/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://127.1/",
        "https://example.org/" + "a" * 2048,
        "https://example.org/" + "é" * 1000,
        "",
    ],
)
def test_what_is_no_plain_web_address_is_refused(url):
    with pytest.raises(InvalidInput) as refused:
        normalise_url(url)
    assert refused.value.field == "url"
    assert str(refused.value).startswith("The link ")


PIECES = re.findall(
    r"\S+",
    "https:// http:// arxiv.org /abs/ /pdf/ 2406.14514 v2 v0 10.1000/ 10.48550/arXiv. %25 % 41 "
    "%41 %2F / // . .. ? & = utm_a=1 # #! #/ doi: arXiv: ) ( ] > ． ： ％ １ pmid: isbn: acl: "
    "9780262035613 openreview: B1-Hhnslg P18-1001 s2: CorpusID:12 example.org:80 [::1] xn-- é ß "
    "İ hep-th/ 9901001 math.GT/ pmlr: v70/finn17a neurips: 2022/ \u037e \u212a \ud800",
)
"""Parts of addresses; text made of them gets further into the readers than random letters."""

pasted = st.lists(
    st.one_of(st.text(max_size=6), st.sampled_from([*PIECES, " ", "\t", "\x00", "\\", HASH])),
    max_size=9,
).map("".join)


@given(pasted)
def test_whatever_is_found_stays_what_it_is(text):
    found = find_identifier(text)
    if found is None:
        return
    again = normalise(found.scheme, found.value)
    assert (again.scheme, again.value) == (found.scheme, found.value)
    if found.scheme != Scheme.URL:
        assert find_identifier(str(found)) == found
        from_page = find_identifier(landing_url(found))
        assert from_page is not None
        assert (from_page.scheme, from_page.value) == (found.scheme, found.value)


@given(st.sampled_from(list(Scheme)), pasted)
def test_normalising_twice_changes_nothing_and_raises_only_invalid_input(scheme, text):
    try:
        once = normalise(scheme, text)
    except InvalidInput:
        return
    twice = normalise(once.scheme, once.value)
    assert (twice.scheme, twice.value) == (once.scheme, once.value)


@given(pasted)
def test_an_address_has_one_normal_form_in_ascii(text):
    try:
        once = normalise_url(f"https://example.org{text}")
    except InvalidInput:
        return
    assert once.isascii()
    assert normalise_url(once) == once


@pytest.mark.timeout(60)  # a hang guard: a quadratic reader needs many minutes
@pytest.mark.parametrize(
    "unit",
    [")", "([{<", "arxiv", " ", "a.", "a.b/", "-", "1", "%25", "10.1000/x ", "https://a ", "doi:"],
)
def test_a_long_text_is_read_in_linear_time(unit, monkeypatch):
    monkeypatch.setattr(identifiers, "LONGEST_PASTE", 10**7)
    text = unit * (500_000 // len(unit))
    for candidate in (text, f"arxiv {text}", f"10.1000/{text}", f"https://example.org/{text}"):
        find_identifier(candidate)
