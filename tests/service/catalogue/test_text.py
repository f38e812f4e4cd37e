import re
import unicodedata
from xml.etree import ElementTree as ET

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.catalogue.mathml import ELEMENTS, NAMESPACE, to_mathml
from service.catalogue.text import MAX_MATHML, to_html, to_plain

PLAIN = {
    "escapes": (r"Up to 12\% of R\&D in a\_b for \$5 \#1", "Up to 12% of R&D in a_b for $5 #1"),
    "tie": ("Table~2 shows ~30 runs", "Table 2 shows ~30 runs"),
    "range with a tilde": ("3~5 hours", "3~5 hours"),
    "double quotes": ("a ``soft\" prior and ''hard'' one", "a “soft” prior and “hard” one"),
    "straight quotes": ('so-called "lazy" nodes', "so-called “lazy” nodes"),
    "inches are no quotes": ('a 5" screen', 'a 5" screen'),
    "single quotes": ("a `toy' problem, Bob's", "a ‘toy’ problem, Bob's"),
    "em dash": ("fast---and small", "fast—and small"),
    "en dash": ("bias--variance, pages 3--7, a -- b", "bias–variance, pages 3–7, a – b"),
    "rules are no dashes": ("----", "----"),
    "options": ("run with --fast-mode now", "run with --fast-mode now"),
    "arrows": ("a --> b <!-- c", "a --> b <!-- c"),
    "dashes in code": (r"`x--y` and \texttt{p--q}", "x--y and p--q"),
    "dashes in a URL": ("see https://x.org/a--b.", "see https://x.org/a--b."),
    "commands": (r"\textbf{big} \emph{and \textit{small}} \textsc{Caps}", "big and small Caps"),
    "declarations": (r"{\bf bold} and {\em soft}", "bold and soft"),
    "unknown command": (r"\mystyle{kept} and \ours wins", "kept and ours wins"),
    "colour": (r"\textcolor{red}{hot}", "hot"),
    "environment": (r"\begin{itemize}\item one\end{itemize}", "- one"),
    "stars": ("**X** *Y* ***Z*** __W__", "X Y Z W"),
    "stars within words": ("**G**raph **Tr**ee-**N**et", "Graph Tree-Net"),
    "products": ("a * b * c, 2*3*4, x**2 + y**2", "a * b * c, 2*3*4, x**2 + y**2"),
    "footnote star": ("A* search beats B* search", "A* search beats B* search"),
    "snake case": ("call my_own_function_name twice", "call my_own_function_name twice"),
    "accents": (
        r"na\"ive G\'{e}rard {\o}re Gar\c{c}on {\'\i} \v{S}",
        "naïve Gérard øre Garçon í Š",
    ),
    "superscript": ("R$^2$D$^{10}$", "R²D¹⁰"),
    "superscript without a character": ("$x^{q+Q}$", "x^(q+Q)"),
    "subscript": (r"$x_{t+1}$, $W_q$, $L_{\max}$", "xₜ₊₁, W_q, L_max"),
    "transpose": (r"$\mathbf{H}^{\top} \mathbf{H}$, $U V^\top$", "Hᵀ H, U Vᵀ"),
    "operators": (r"$a \leq b \rightarrow c \times d \pm e$", "a ≤ b → c × d ± e"),
    "tight operators": (r"$\sim 5$, $n\times d$, $\pm 3$", "~5, n×d, ±3"),
    "greek": (r"$\nabla \alpha$, $\Delta W$, $\epsilon$-greedy", "∇α, ΔW, ε-greedy"),
    "functions": (r"$O(n\log n)$ and $\max_i x_i$", "O(n log n) and maxᵢ xᵢ"),
    "fraction": (r"$\frac{1}{T}$, $\frac{a+b}{c}$", "1/T, (a+b)/c"),
    "left and right": (r"$f\left(\mathbf{V} \right)$, $\mathcal{O}(1)$", "f(V), O(1)"),
    "root": (r"$\sqrt{n}$, $\sqrt{n+1}$", "√n, √(n+1)"),
    "hat": (r"$\hat{y}$", "ŷ"),
    "text in a formula": (r"$1.5\%\text{--}2\%$", "1.5%–2%"),
    "formula in the text of a formula": (
        r"$\textbf{P$\rightarrow$Q$\rightarrow$R}$ ok",
        "P→Q→R ok",
    ),
    "display": (r"$$a=b$$ and \[c\] and \(d\)", "a=b and c and d"),
    "money": ("from $5 and $10 to $20, or US$3 and US$4", None),
    "money within a sentence": ("pay $5 at once, or 10$ later on", None),
    "money and a formula": (
        "pay $5 for x^2, or $10 for $n ≈ k^2 $.",
        "pay $5 for x^2, or $10 for n ≈ k².",
    ),
    "lone marks": ("an $ and { and } and * and ` stay", None),
    "unclosed command": (r"\textbf{left open", "textbf{left open"),
    "set": ("labels in {0, 1}", None),
    "less and more": ("<1% of >20,000 <b>items</b> &amp;", None),
    "href": (r"\href{https://a.org/x\_y}{here}", "here (https://a.org/x_y)"),
    "url": (r"\url{https://a.org/x_y}", "https://a.org/x_y"),
    "blank lines": ("one\ntwo \n \n\n three", "one two\n\nthree"),
    "controls": ("a\x00b\u200bc\u202ed\ud800", "abcd\ufffd"),
    "decomposed": ("nai\u0308ve", "naïve"),
    "chinese": ("我们提出**方法**，提升 5\\%。", "我们提出方法，提升 5%。"),
    "empty": ("", ""),
}


@pytest.mark.parametrize(("source", "plain"), PLAIN.values(), ids=PLAIN.keys())
def test_markup_becomes_the_characters_it_means(source, plain):
    assert to_plain(source) == (source if plain is None else plain)


@pytest.mark.parametrize(
    "source", [s for s, _ in PLAIN.values() if "`" not in s and "textt" not in s]
)
def test_plain_text_is_left_alone(source):
    once = to_plain(source)
    assert to_plain(once) == once


def alphanumerics(text):
    """Letters and digits only, with raised and accented ones as plain ones."""
    return [c for c in unicodedata.normalize("NFKD", text) if c.isalnum()]


LOOSE = st.text(st.sampled_from("ab1 .,$${}*_^~`'\"-()[]<>&\n|")) | st.text()


@given(LOOSE.filter(lambda s: "\\" not in s and "://" not in s))
@example("$a_{$")
@example("{" * 90 + "x" + "}" * 90)
def test_no_letter_is_ever_lost(source):
    assert alphanumerics(to_plain(source)) == alphanumerics(
        re.sub("[\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]", "", source)
    )


@given(st.text(st.characters(exclude_characters="\\${}*_`'\"-~", exclude_categories=["C"])))
def test_text_without_markup_only_has_its_blanks_tidied(source):
    plain = to_plain(source)
    assert plain.split() == unicodedata.normalize("NFC", source).split()
    assert to_plain(plain) == plain


MARKS = r"""
\textbf{ \emph \frac \sqrt \text{ \left \right \hat \begin{x} \url{ \href{ \' \c \( \) \[ \]
\def\a{\a\a} \style{ $ $$ { } ^ _ ** * __ ` '' `` -- --- ~ & \\ % < > a B 1 é 中 https://a.b/( )
"""
TEX = st.lists(st.sampled_from([*MARKS.split(), " ", "\n\n"])).map("".join)


@given(TEX | LOOSE)
def test_any_text_becomes_plain_text_and_well_formed_html(source):
    assert "\x00" not in to_plain(source)
    check_html(to_html(source))


def check_html(html):
    tree = ET.fromstring(f"<body>{html}</body>")
    ours = {"body", "em", "strong", "code", "br", "a"}
    maths = {f"{{{NAMESPACE}}}{name}" for name in ELEMENTS}
    for element in tree.iter():
        assert element.tag in ours | maths
        if element.tag == "a":
            assert set(element.attrib) == {"href", "rel"}
            assert element.attrib["href"].lower().startswith(("http://", "https://"))
        elif element.tag in ours:
            assert not element.attrib
        assert not [name for name in element.attrib if name.startswith("on") or name == "style"]
    return tree


def test_html_keeps_emphasis_code_links_and_paragraphs():
    html = to_html("*a* **b** \\texttt{c} <d> see https://x.org/?a=1&b=2.\n\nNew")
    assert html == (
        "<em>a</em> <strong>b</strong> <code>c</code> &lt;d&gt; see "
        '<a rel="noreferrer" href="https://x.org/?a=1&amp;b=2">https://x.org/?a=1&amp;b=2</a>.'
        "<br/><br/>New"
    )


def test_html_sets_formulas_as_mathml():
    tree = check_html(to_html(r"rate $\frac{1}{T}$ of $\alpha^2$"))
    assert [e.tag.split("}")[1] for e in tree.iter() if "mfrac" in e.tag or "msup" in e.tag] == [
        "mfrac",
        "msup",
    ]
    assert "".join(tree.itertext()) == "rate 1T of α2"


@pytest.mark.parametrize(
    "formula",
    [
        r"\href{javascript:alert(1)}{x}",
        r"\style{color:red}{x}",
        r"\class{evil}{x}",
        r"\text{<script>alert(1)</script>}",
        r"\text{&lt;img src=x onerror=alert(1)&gt;}",
        r"\text{&#60;script&#62;}",
        r"<img src=x onerror=alert(1)>",
        r"\def\x{\x\x}\x",
        r"\newcommand{\a}{b}\a",
        r"\unicode{x3c}script\unicode{x3e}",
        r"\color{red\" onclick=\"alert(1)}{x}",
        r"\begin{array}{c\" onload=\"x}1\end{array}",
        r"\rule{1em}{expression(alert(1))}",
        r"\frac",
        r"\left(",
        "x" * 700,
        "{" * 30 + "x" + "}" * 30,
        r"\sqrt[",
        "^",
    ],
)
def test_hostile_formulas_stay_harmless(formula):
    html = to_html(f"before ${formula}$ after")
    tree = check_html(html)
    assert html.startswith("before ")
    assert html.endswith(" after")
    assert "<script" not in html
    assert "<img" not in html
    assert len(list(tree.iter())) < 200


def test_a_formula_the_converter_cannot_read_is_shown_as_text():
    assert to_mathml(r"\href{https://a.org}{x}") is None
    assert to_html(r"$\def\y{z} x^2$").endswith("x²")


def test_only_some_formulas_of_a_text_cost_a_conversion():
    html = to_html("$a$ " * (MAX_MATHML + 20))
    assert html.count("<math") == MAX_MATHML
    assert html.endswith("a a")


def test_a_link_inside_a_link_is_not_nested():
    html = to_html(r"\href{https://a.org}{see https://b.org now}")
    assert html == '<a rel="noreferrer" href="https://a.org">see https://b.org now</a>'


@pytest.mark.parametrize("scheme", ["javascript", "data", "vbscript", "file"])
def test_other_schemes_never_become_links(scheme):
    html = to_html(rf"\href{{{scheme}:alert(1)}}{{x}} \url{{{scheme}:y}} {scheme}://z")
    assert "<a" not in html
    assert f"{scheme}:alert(1)" in html


HOSTILE = [
    "$",
    "{",
    "}{",
    "*",
    "*a ",
    "**a** ",
    "\\",
    "\\textbf{",
    "$\\text{",
    "$a_{",
    "`",
    '"',
    "''",
]
HOSTILE += [
    "~",
    "--",
    "\\frac",
    "$\\frac",
    "https://a.b/(",
    "*a **b ***c ",
    "(`a'",
    "\n ",
    " \n",
    "{}",
]


@pytest.mark.timeout(30)  # a hang guard: a quadratic reader needs minutes
@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("tail", ["", "}", " a*"])
def test_a_long_hostile_text_takes_linear_time(piece, tail):
    n_characters = 60_000 if tail else 100_000
    source = piece * (n_characters // len(piece)) + tail * (60_000 // max(len(tail), 1))
    to_plain(source)
    to_html(source)
