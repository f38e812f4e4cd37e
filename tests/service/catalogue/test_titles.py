import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.catalogue.coined_words import expansion_of, is_coined
from service.catalogue.names import MAX_TEXT
from service.catalogue.titles import MAX_TITLE, cut, derive_title, split_sentences
from tests.service.importers.reading import read

LISTINGS = Path(__file__).parents[4] / "shared" / "listings"

NAMED = {
    "apposition": (
        "Routing in sparse models wastes memory. We propose LeafRoute, a router that keeps half of "
        "the experts asleep. LeafRoute saves energy on three tasks.",
        "LeafRoute: Router that keeps half of the experts asleep",
    ),
    "said once": (
        "Old caches forget. In this paper, we introduce TIDE, an eviction rule for long prompts. "
        "It halves the memory.",
        "TIDE: Eviction rule for long prompts",
    ),
    "expansion before": (
        "Clocks drift in sensor nets. We present Gradual Offset Repair (GOR), which needs no "
        "server. GOR repairs a clock within a minute.",
        "GOR: Gradual Offset Repair",
    ),
    "expansion after": (
        "We propose LUMEN (Layered Uncertainty Maps for Event Networks), a detector for faint "
        "signals. LUMEN finds more of them than experts do.",
        "LUMEN: Layered Uncertainty Maps for Event Networks",
    ),
    "hyphened abbreviation": (
        "Clients disagree. We therefore propose Federated Quiet Voting (FedQV-Lite), where only "
        "few clients speak. FedQV-Lite needs a tenth of the traffic.",
        None,
    ),
    "name after a comma": (
        "Pretraining is slow. Based on this, we propose the Folded Curriculum Framework, FOCUR, "
        "that sorts data by novelty. FOCUR converges in half of the steps.",
        "FOCUR: Folded Curriculum Framework",
    ),
    "dubbed": (
        "Attacks hide in attention. We design a run-time guard, dubbed Lantern. Lantern watches "
        "the heads that attend to nothing. Lantern stops nine of ten attacks.",
        "Lantern: Run-time guard",
    ),
    "which we call": (
        "Plants differ. We train a small network on leaf photographs, which we call LeafNet-S. "
        "LeafNet-S runs on a phone.",
        None,
    ),
    "bold": (
        "Graphs vary in size. We design **Sextant**, a pretrained encoder for maps. We find it "
        "useful in seven cities.",
        "Sextant: Pretrained encoder for maps",
    ),
    "small capitals": (
        r"These facts lead to \textsc{Mason} (\textbf{Ma}trix-\textbf{So}rted \textbf{N}etworks), "
        "a method for tiny chips. Mason fits in 2 kB.",
        "Mason: Matrix-Sorted Networks",
    ),
    "bold within dollars": (
        r"We study cheap tables. Together, these changes yield $\textbf{TabLite-3M}$, a model "
        "with three million weights.",
        "TabLite-3M: Model with three million weights",
    ),
    "bold and slanted": (
        "Depth is hard. To this end, we present ***Depth4All***, a light depth estimator. "
        "Depth4All is fast.",
        "Depth4All: Light depth estimator",
    ),
    "superscript": (
        "Experts collide. We propose **R**ank-**R**educed **M**ixtures **o**f **E**xperts "
        "(R$^2$-MoE). R$^2$-MoE shares parameters.",
        None,
    ),
    "two proper words": (
        "Sampling is slow. To fix this, we introduce the Harbor Sampler---a new scheme for dense "
        "posteriors. The Harbor Sampler mixes fast. Harbor Samplers need no tuning.",
        "Harbor Sampler: Scheme for dense posteriors",
    ),
    "missing blank": (
        "We propose TokTrim,which drops idle tokens early. TokTrim improves speed.",
        None,
    ),
    "explained two sentences later": (
        "Adapters are static. We introduce wLoRA. To our knowledge, it is the first weather-aware "
        "adapter. As a result, wLoRA follows seasons.",
        "wLoRA: Weather-aware adapter",
    ),
    "with": (
        "We close the gap with Cross-View Low-Rank Mixing (CoVLM), a tuning scheme. CoVLM works "
        "for two views, and CoVLM scales.",
        "CoVLM: Cross-View Low-Rank Mixing",
    ),
    "presented by the paper": (
        "This paper presents Causal Story Trees (CST), which explain control moves. CST persuades "
        "operators.",
        "CST: Causal Story Trees",
    ),
    "strategy named": (
        "We posit that tuning is needed and propose a targeted strategy named Point-Wise Late "
        "Tuning (PLT), enabling local fits.",
        "PLT: Point-Wise Late Tuning",
    ),
    "dataset": (
        "Birds are under-sampled. We release WingSpan10k, a dataset of ten thousand flights.",
        "WingSpan10k: Dataset of ten thousand flights",
    ),
    "our method": (
        "Robots slip on ice. Our method, GripSense, estimates friction from sound. GripSense cuts "
        "falls by half.",
        None,
    ),
    "type before name": (
        "Logs are long. We build the browsing tool ScrollBack to sum them up. ScrollBack reads a "
        "day in a second.",
        None,
    ),
    "quoted": (
        "Ads annoy. We propose a new filter called “QuietAd” for old phones. QuietAd runs offline.",
        None,
    ),
    "digits within": (
        "Sound is data. We present sound2graph, an encoder of rooms. sound2graph hears walls.",
        "sound2graph: Encoder of rooms",
    ),
    "compared with known work": (
        "LoRA and BERT are popular. We propose NimbusLoRA, a variant of LoRA for clouds. "
        "NimbusLoRA beats LoRA.",
        "NimbusLoRA: Variant of LoRA for clouds",
    ),
    "passive": (
        "Tuning is costly. A Self-Pruning Search Tree (SPST) is proposed for small budgets. SPST "
        "stops early.",
        "SPST: Self-Pruning Search Tree",
    ),
    "Chinese": (
        "稀疏路由浪费算力。我们提出了SparPath，一种面向长文本的路由方法。实验表明SparPath更快。",
        "SparPath：面向长文本的路由方法",
    ),
    "Chinese, named": (
        "长上下文推理很慢。本文设计了一种名为“FlowKV”的缓存方法，在三个数据集上有效。",
        None,
    ),
}
NAMES = {
    "hyphened abbreviation": "FedQV-Lite",
    "which we call": "LeafNet-S",
    "superscript": "R²-MoE",
    "missing blank": "TokTrim",
    "our method": "GripSense",
    "type before name": "ScrollBack",
    "quoted": "QuietAd",
    "Chinese, named": "FlowKV",
}


@pytest.mark.parametrize("shape", NAMED)
def test_a_coined_name_and_what_it_is_make_the_title(shape):
    source, title = NAMED[shape]
    derived = derive_title(source)
    assert derived.method == "name"
    assert derived.confidence >= 0.6
    if title is not None:
        assert derived.text == title
    assert derived.name == (NAMES.get(shape) or title.split("：")[0].split(":")[0])
    assert derived.text.startswith(derived.name)


DESCRIBED = {
    "initials across and": (
        "Buffers overflow. We propose **N**oise-Damped and **N**oise-Sorted **Te**nsor **B**uffers "
        "(N$^2$-TeB). N$^2$-TeB never overflows.",
        "N²-TeB: Noise-Damped and Noise-Sorted Tensor Buffers",
    ),
    "initials across of and for": (
        "We introduce Pruning of Roots for Quiet Soils (PRQS), which needs no spade. PRQS is kind.",
        "PRQS: Pruning of Roots for Quiet Soils",
    ),
    "first half of a hyphened word": (
        "We propose Frost-Guided Seed Storage (GSS). GSS keeps seeds for a decade.",
        "GSS: Frost-Guided Seed Storage",
    ),
    "adjective before the expansion": (
        "Old tides vary. We propose a novel selective usage of Moon Phases (U-MP), which reads "
        "almanacs. U-MP works at night.",
        "U-MP: Selective usage of Moon Phases",
    ),
    "efficient is kept": (
        "We propose KiteHash, a novel, simple and efficient hashing scheme. KiteHash is small.",
        "KiteHash: Efficient hashing scheme",
    ),
    "by doing": (
        "Maps lie. We propose MapMend, a framework that jointly repairs both sides by redrawing "
        "coastal contour lines and river names within one pass. MapMend is neat.",
        "MapMend: Redrawing coastal contour lines and river names",
    ),
    "by using": (
        "Maps lie. We propose MapMend, a technique designed to resolve this dilemma by using "
        "satellite radar echoes. MapMend is neat.",
        "MapMend: Satellite radar echoes",
    ),
    "designed for": (
        "We propose OrchardQ, a method designed for ripeness grading of pears. OrchardQ is quick.",
        "OrchardQ: Method for ripeness grading of pears",
    ),
    "designed to do": (
        "We propose OrchardQ, a system designed to automatically sort bruised winter pears. "
        "OrchardQ is quick.",
        "OrchardQ: Sorting bruised winter pears",
    ),
    "utilizing": (
        "We introduce PollenKit, a framework utilizing Tabu Flower Search (TFS) to shift from "
        "guesses to counts. PollenKit counts bees.",
        "PollenKit: Tabu Flower Search",
    ),
    "that can do": (
        "We introduce the Glacier Machine---a novel architecture that can learn arbitrary "
        "ice-to-water mappings. The Glacier Machine melts.",
        "Glacier Machine: Learning arbitrary ice-to-water mappings",
    ),
    "that does": (
        "We propose SkiffNet, the first framework that rethinks harbour traffic via radio echoes. "
        "SkiffNet sails.",
        "SkiffNet: Rethinking harbour traffic via radio echoes",
    ),
    "telling before a relative clause": (
        "We introduce DuneGPT, a Desert Weather Model engineered to master both sand storms and "
        "quiet nights in one go. DuneGPT is dry.",
        "DuneGPT: Desert Weather Model",
    ),
    "refers back, then does": (
        "We propose ReedNorm, a technique designed to resolve this dilemma. ReedNorm keeps the "
        "slow water path of marsh models while it drains. It is wet.",
        "ReedNorm: Keeping the slow water path of marsh models",
    ),
    "refers back, then the gist": (
        "We study the drainage of salted marsh soils. To bridge the gap, we propose ReedFix, a "
        "framework that closes the gap. ReedFix achieves much.",
        "ReedFix: Drainage of salted marsh soils",
    ),
    "praise only": (
        "We present a joint sluice-and-dam scheme for marsh canals. These changes yield Sluice-2M, "
        "a 2M-parameter model that outperforms larger models. Sluice-2M is quick.",
        "Sluice-2M: Joint sluice-and-dam scheme for marsh canals",
    ),
    "own way of writing": (
        "We propose QuillMap, a t-SNE variant for old letters. QuillMap draws well.",
        "QuillMap: t-SNE variant for old letters",
    ),
}


@pytest.mark.parametrize("kind", DESCRIBED)
def test_a_description_tells_what_the_thing_is(kind):
    source, title = DESCRIBED[kind]
    derived = derive_title(source)
    assert derived.text == title
    assert 0.6 <= derived.confidence <= 0.95


@pytest.mark.parametrize(
    "source",
    [
        "Marshes are wet. To solve it, we propose ReedFix, a framework that closes the gap. "
        "ReedFix achieves much. ReedFix is fast.",
        "Marshes are wet. We propose ReedFix. ReedFix achieves much.",
    ],
)
def test_a_name_stands_alone_and_is_not_sure_where_nothing_is_told_of_it(source):
    derived = derive_title(source)
    assert derived.text == derived.name == "ReedFix"
    assert derived.confidence <= 0.6


def test_a_kind_alone_is_not_sure():
    derived = derive_title(
        "Marshes are wet. We propose ReedFix, a drainage framework that closes the gap. ReedFix "
        "achieves much. ReedFix is fast, and ReedFix is cheap."
    )
    assert derived.text == "ReedFix: Drainage framework"
    assert derived.confidence == 0.6


def test_a_name_that_comes_back_with_what_it_stands_for_is_sure():
    told = "We propose Gradual Offset Repair (GOR), which needs no server."
    often = derive_title(f"{told} GOR is fast. GOR is small. GOR is kind. See the code.")
    once = derive_title("We propose GORx (Gradual Offset Repair), without server. It is kind.")
    assert 0.85 < often.confidence <= 0.95
    assert once.confidence <= 0.85


def test_a_comma_between_adjectives_does_not_end_a_description():
    derived = derive_title(
        "We investigate how to keep tiny brass weather clocks useful for Long-Winter, Low-Sun "
        "Region (LWLSR) forecasts without any new springs. We propose FrostClock."
    )
    assert derived.text == (
        "FrostClock: How to keep tiny brass weather clocks useful for Long-Winter, Low-Sun Region…"
    )


@pytest.mark.parametrize(
    "end",
    ["of the", "a very deep", "robust", "Low-Rank", "relational", "for High-Dimensional,", "newly"],
)
def test_a_cut_is_shown_and_comes_after_a_noun(end):
    words = "Ten words about the storage of frozen winter pears"
    assert cut(f"{words} {end} {'x' * 80}") == f"{words}…"


NAMELESS = {
    "claim": (
        "Warm-up is common, yet poorly understood. We propose that warm-up acts as implicit "
        "clipping of early gradients. We test this on code.",
        "Warm-up acts as implicit clipping of early gradients",
    ),
    "known abbreviation": (
        "Low-Rank Adaptation (LoRA) is popular. We provide a theory of the early dynamics of LoRA "
        "under noise. LoRA converges.",
        "Theory of the early dynamics of LoRA under noise",
    ),
    "two metrics": (
        "We study the problem of anomaly ranking for slow sensors. We introduce two measures: the "
        "*mean rank gap (MRG)*, and the *tail rank gap (TRG)*. MRG and TRG agree.",
        None,
    ),
    "agentic framework": (
        "Labels are rare. We introduce an agentic framework to predict good labels for new tasks.",
        None,
    ),
    "bold words": (
        r"Steering is cheap. This yields a \textbf{simple recipe for steering} and motivates a "
        r"new approach---\textbf{joint steering}---that trains both. We explain why it works.",
        None,
    ),
    "three regimes": (
        "We introduce a phase diagram with three regimes: Data-Bound, Noise-Bound, and "
        "Model-Bound. Experiments agree.",
        None,
    ),
    "bridge": (
        "Linear models are weak. In this work, we bridge the gap between flat and curved tuning. "
        "We show gains.",
        "Bridging the gap between flat and curved tuning",
    ),
    "uses known tools": (
        "We use BERT, CLIP and a GPU cluster to study reading. We train a GAN on maps. GPUs are "
        "fast and GPUs are cheap.",
        None,
    ),
    "problem set-up": (
        "Inverse reinforcement learning (IRL) infers goals. We study IRL when goals change. IRL "
        "fails then.",
        None,
    ),
    "no verb of ours": (
        "Deep nets forget old tasks when new ones arrive. Replay helps, at a price.",
        "Deep nets forget old tasks when new ones arrive",
    ),
    "Chinese": (
        "大模型微调成本很高，性能预测因此重要。我们证明了预测误差的下界。",
        "大模型微调成本很高，性能预测因此重要",
    ),
    "one word": ("Abstract", "Abstract"),
    "empty": ("", ""),
    "blanks": (" \n\u3000", ""),
    "only a link": ("https://example.org/x", ""),
}


@pytest.mark.parametrize("shape", NAMELESS)
def test_no_name_is_invented_where_there_is_none(shape):
    source, title = NAMELESS[shape]
    derived = derive_title(source)
    assert derived.name is None
    assert derived.confidence <= 0.5
    if title is not None:
        assert derived.text == title


def test_a_repository_settles_which_of_two_names_it_is():
    source = (
        "We propose AlphaFern, a planner. We propose BetaMoss, a simulator. AlphaFern and BetaMoss "
        "work together."
    )
    assert derive_title(source, ["https://github.com/lab/betamoss"]).name == "BetaMoss"
    assert derive_title(source, ["https://github.com/lab/AlphaFern"]).name == "AlphaFern"


def test_a_page_of_that_name_supports_it():
    source = "We describe Fern3D, a scanner for leaves."
    without = derive_title(source).confidence
    assert derive_title(f"{source} See https://fern3d-x.github.io.").confidence > without


def test_a_speaking_repository_titles_what_has_no_name():
    source = (
        "Likelihood is a default loss. We study several losses beyond plain likelihood for "
        "instruction data. Code: https://github.com/who/Beyond-Plain-Likelihood."
    )
    derived = derive_title(source)
    assert derived.method == "repository"
    assert derived.text.startswith("Beyond Plain Likelihood: ")


@pytest.mark.parametrize(
    "link",
    [
        "https://anonymous.4open.science/r/metawhat-734E",
        "https://github.com/lab/code",
        "https://github.com/lab/icml2026-submission",
        "https://github.com/lab",
    ],
)
def test_a_repository_without_a_telling_name_says_nothing(link):
    assert derive_title("We study losses for noisy labels in depth.", [link]).method == "gist"


def test_two_foundation_model_abstracts_do_not_share_a_title():
    same = "Foundation models have changed the field, but "
    first = derive_title(same + "are slow. We study pruning of attention heads in old models.")
    second = derive_title(same + "are large. We study quantised caches for long conversations.")
    assert first.text != second.text


@pytest.mark.parametrize(
    ("word", "expected"),
    [(w, True) for w in ("LeafRoute", "TIDE", "R-GFX", "seq2tree", "Lim-3M", "E²-Foo", "U-Foo")]
    + [(w, False) for w in ("LoRA", "BERT", "LLMs", "Pre-trained", "model", "3D", "GPT-4", "2nd")]
    + [(w, False) for w in ("Transformer", "BERT-based", "A", "state-of-the-art", "100k", "学习")],
)
def test_coined_words_are_told_from_common_ones(word, expected):
    assert is_coined(word) is expected


@pytest.mark.parametrize(
    ("short", "before", "expected"),
    [
        ("GOR", "we present Gradual Offset Repair", "Gradual Offset Repair"),
        ("CoVLM", "with Cross-View Low-Rank Mixing", "Cross-View Low-Rank Mixing"),
        ("XYZ", "we present Gradual Offset Repair", None),
        ("gor", "Gradual Offset Repair", None),
        ("A", "an apple", None),
    ],
)
def test_an_expansion_has_the_letters_in_order(short, before, expected):
    assert expansion_of(short, before) == expected


def test_titles_are_cut_at_the_end_of_a_word():
    text = cut("word " * 40)
    assert len(text) <= MAX_TITLE
    assert text.endswith("word…")
    assert cut("x" * 200) == "x" * (MAX_TITLE - 1) + "…"
    assert cut("as short as this") == "as short as this"
    assert (
        not cut("one two three four five six seven of the " * 3).removesuffix("…").endswith(" of")
    )


def test_sentences_end_at_full_stops_but_not_at_abbreviations():
    text = "We use e.g. nets, cf. Foo et al. (2020). Then iFoo runs. 好的。再见"
    assert split_sentences(text) == [
        "We use e.g. nets, cf. Foo et al. (2020).",
        "Then iFoo runs.",
        "好的。",
        "再见",
    ]


PIECES = [
    "We propose ",
    "Foo",
    "XYZ",
    " (",
    ") ",
    ", a ",
    "novel ",
    ". ",
    "—",
    "**",
    "$",
    "dubbed ",
]
PIECES += [
    "提出",
    "了",
    "。",
    "called “",
    "https://github.com/a/b ",
    "which we call ",
    "\\textbf{",
    "}",
]


@given(st.text() | st.lists(st.sampled_from(PIECES)).map("".join), st.lists(st.text(), max_size=3))
def test_any_text_gets_a_title_or_none_and_never_fails(source, links):
    derived = derive_title(source, links)
    assert len(derived.text) <= MAX_TITLE
    assert "\n" not in derived.text
    assert 0 <= derived.confidence <= 1


@pytest.mark.timeout(60)  # a hang guard: to read all of such a text takes hours
@pytest.mark.parametrize(
    "piece", [*PIECES, "We propose Foo Bar ", "AB, ", "a b, ", "our proposed "]
)
def test_of_a_long_odd_text_only_the_beginning_is_read_for_a_title(piece):
    assert derive_title(piece * 500_000) == derive_title((piece * MAX_TEXT)[:MAX_TEXT])


@pytest.mark.shared
def test_real_listings_get_their_names_and_no_invented_ones():
    if not LISTINGS.is_dir():
        pytest.skip("the real listings do not lie beside this checkout")
    with (LISTINGS / "expected.tsv").open(encoding="utf-8", newline="") as file:
        expected = [row["coined name (- = none)"] for row in csv.DictReader(file, delimiter="\t")]
    files = sorted(LISTINGS.glob("0*.txt"))
    papers = [paper for file in files for paper in read(file.read_bytes()).papers]
    derived = [derive_title(paper.source) for paper in papers]
    pairs = list(zip(derived, expected, strict=True))
    found = [title for title, name in pairs if name[0] != "-" and title.name and title.name in name]
    invented = [title for title, name in pairs if name[0] == "-" and title.name]
    assert len(found) >= 26
    assert not invented
    assert len({title.text for title in derived}) == len(papers) == 38
    assert all(title.text and len(title.text) <= MAX_TITLE for title in derived)


def test_a_description_does_not_end_where_a_clause_was_cut_off():
    derived = derive_title(
        "Chat models forget their refusals. We introduce Ballast, a defence that finds the layers "
        "in which refusal is decided. Ballast penalises their drift during fine-tuning."
    )
    assert derived.name == "Ballast"
    assert derived.text == "Ballast: Defence that finds the layers"
