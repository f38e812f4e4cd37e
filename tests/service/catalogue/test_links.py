import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.catalogue.links import code_link, find_links


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("Code: https://a.org/x.", ["https://a.org/x"]),
        ("(see https://a.org/x), then", ["https://a.org/x"]),
        ("https://en.example.org/wiki/A_(b) is", ["https://en.example.org/wiki/A_(b)"]),
        ("(https://en.example.org/wiki/A_(b))", ["https://en.example.org/wiki/A_(b)"]),
        ("[t](http://a.org/f)[g](http://b.org)", ["http://a.org/f", "http://b.org"]),
        ("链接：https://a.org/x，代码：https://b.org/y。", ["https://a.org/x", "https://b.org/y"]),
        ("《https://a.org/x》（https://b.org）", ["https://a.org/x", "https://b.org"]),
        ("代码https://a.org/x在此", ["https://a.org/x"]),
        (r"\url{https://a.org/my\_code}", ["https://a.org/my_code"]),
        ("**https://a.org/x** and <https://b.org/y>", ["https://a.org/x", "https://b.org/y"]),
        ("“https://a.org/x”, 'https://b.org/y'", ["https://a.org/x", "https://b.org/y"]),
        ("https://a.org/?q=1&r=2#top!", ["https://a.org/?q=1&r=2#top"]),
        ("https://a.org/x https://a.org/x", ["https://a.org/x"]),
        ("HTTPS://A.org/X; xhttp://no.org", ["HTTPS://A.org/X"]),
        ("http:// https://. ftp://a.org javascript://a.org", []),
        ("https://[bad", []),
    ],
)
def test_addresses_end_where_the_sentence_goes_on(text, links):
    assert find_links(text) == links


@pytest.mark.parametrize(
    ("links", "code"),
    [
        (["https://arxiv.org/abs/1", "https://github.com/o/n"], "https://github.com/o/n"),
        (["https://o.github.io/n", "https://gitlab.com/o/n"], "https://gitlab.com/o/n"),
        (["https://tree-z.github.io"], "https://tree-z.github.io"),
        (["https://anonymous.4open.science/r/x-12AB"], "https://anonymous.4open.science/r/x-12AB"),
        (["https://huggingface.co/o/n"], "https://huggingface.co/o/n"),
        (["https://www.github.com/o/n"], "https://www.github.com/o/n"),
        (["https://github.com", "https://example.org/github.com/x"], None),
        (["https://github.com.evil.example/o/n", "javascript:github.com/o"], None),
        ([], None),
    ],
)
def test_the_code_link_is_a_repository_before_a_page(links, code):
    assert code_link(links) == code


@given(st.text() | st.text(st.sampled_from("htps:/.()[]a ,。")))
def test_found_links_are_web_addresses_without_blanks(text):
    for link in find_links(text):
        assert link.lower().startswith(("http://", "https://"))
        assert not any(character.isspace() for character in link)
    code_link(find_links(text))


@pytest.mark.timeout(60)  # a hang guard: a quadratic reader needs many minutes
@pytest.mark.parametrize("piece", ["https://", "https://a.b/(", "https://a)", "https://a.b/)))"])
def test_many_addresses_take_linear_time(piece):
    find_links(piece * 200_000)
