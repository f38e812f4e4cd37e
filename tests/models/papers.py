"""Two dozen abstracts of papers that do not exist, some of which belong together.

Abstracts as lists of accepted papers have them: no titles, the same opening phrases everywhere, and
coined names. ``PAPERS`` maps a short name to its text; ids are places in the dict, from 100.
"""

import numpy as np

from models import IntArray
from models.config import Config
from models.feedback import History
from models.ranking.model import Model
from models.recommending import Request, Slate, recommend
from models.training import TrainingSet, train

PAPERS = {
    "moat": """Service providers let customers fine-tune aligned language models, and a handful of
        poisoned examples is enough to break safety alignment. We propose Moat, a defence against
        harmful fine-tuning that projects each user gradient away from a subspace of refusal
        behaviour measured before release. On four attack mixtures Moat keeps the harmfulness
        score low while customers lose almost no accuracy on their benign data.""",
    "ebb": """Safety alignment of large language models erodes under harmful fine-tuning attacks.
        We show that poisoned user data and benign user data move different layers, and introduce
        Ebb, a post-hoc defence that rewinds only the layers responsible for refusal. Ebb restores
        the harmfulness score of attacked models to that of the aligned ones, without retraining
        and without access to the attack data.""",
    "quilt": """Federated fine-tuning of foundation models sends low-rank adapters instead of
        weights, but averaging the two LoRA matrices separately is not averaging their product.
        Quilt aggregates only the shared matrix on the server and leaves the other one on each
        client. On non-IID client data it converges faster than federated averaging of both
        matrices.""",
    "delta": """We study personalised federated learning with LoRA, where heterogeneous clients
        disagree about directions. Delta freezes one adapter matrix, lets the server aggregate the
        other, and splits its rank into a global and a local part. Communication per round halves,
        and client accuracy under heterogeneity rises over federated baselines.""",
    "braid": """Adapting pretrained unimodal encoders to multimodal tasks by parameter-efficient
        fine-tuning usually leaves the vision and the language stream isolated. Braid adds a
        cross-modal adapter between the two encoders, so that low-rank updates in one modality are
        conditioned on the other. It wins on visual grounding and on audio-visual
        segmentation.""",
    "chord": """Parameter-efficient multimodal adaptation is mostly done one modality at a time.
        We present Chord, which edits hidden representations of several unimodal encoders jointly
        in a shared subspace and so captures cross-modal interactions with few parameters.
        Experiments cover image-text retrieval, visual grounding and audio-visual
        classification.""",
    "ledger": """Continual learning with pretrained models forgets earlier tasks when adapters
        overlap. Ledger gives each task a low-rank update in the orthogonal complement of all
        former ones, and bounds forgetting by the energy that leaks between the subspaces. It
        needs no replay and no task identity at test time.""",
    "strata": """We consider catastrophic forgetting in continual fine-tuning. Strata restricts
        updates to structured low-rank blocks that former tasks leave redundant, chosen from the
        weights alone, without old data. On sequences of ten tasks it trades plasticity against
        forgetting better than orthogonal and replay methods.""",
    "mycel": """Graph foundation models are pretrained on graphs from many domains, and not all
        domains help. Mycel selects boundary nodes, mixes subgraphs across domains, and
        discriminates the domain of each mixed subgraph during multi-domain graph pretraining.
        Few-shot node classification improves at a third of the pretraining cost.""",
    "atlas": """What transfers between graphs? We give a geometric answer: common substructures
        are transferable where the intrinsic Riemannian curvature of their representations agrees.
        Atlas pretrains a graph foundation model with local coordinates glued along a vector
        bundle and transfers to unseen graphs in zero-shot link prediction.""",
    "rhizome": """Existing graph foundation models sample subgraphs of a fixed number of hops,
        which mismatches the structural scale of downstream graphs. Rhizome builds a graph of
        subgraphs at many scales and embeds it in a Riemannian manifold. Domain generalisation
        error falls with the number of scales, in theory and on eight graph benchmarks.""",
    "abacus": """Tabular foundation models predict in one forward pass from a table given as
        context, yet attention over rows is quadratic. Abacus compresses the rows of the training
        table into few latent tokens. On a large tabular benchmark it runs fifty times faster than
        tabular transformers and gradient-boosted trees do not catch up.""",
    "cipher": """Wide tables with few rows defeat tabular foundation models, whose token budget is
        spent on features. Cipher orders features along a graph of their correlations and pools
        neighbours into meta-features before a TabPFN-style model sees the table. Accuracy on
        small tabular data with thousands of columns rises without retraining.""",
    "grist": """Scalar tokenisation holds back tabular foundation models: a numeric cell enters
        through one direction only. Grist expands every cell of the table with localised bases and
        routes samples before features. With two million parameters it outperforms larger tabular
        models and tree ensembles on tabular benchmarks.""",
    "lantern": """Lantern is a hypernetwork that reads a document and writes LoRA weights for a
        frozen language model in a single forward pass, so that questions can be answered later
        without the document in context. Generated adapters save memory and time compared to in-
        context reading and to supervised fine-tuning.""",
    "keel": """Training of deep transformers diverges when normalisation sits in the wrong place.
        Keel spreads one normalisation over the whole block, keeps signal variance bounded at any
        depth and allows larger learning rates. A mean-field analysis explains why.""",
    "sieve": """We search for subgroups of a population on which a distribution is exceptional, by
        differentiable rules over continuous attributes. Sieve learns the soft borders by gradient
        ascent on a divergence and returns short readable conditions.""",
    "ferry": """Model predictive control of contact-rich robots is slow because complementarity
        makes derivatives jump. Ferry smooths the implicit function of the contact solver and
        warm-starts the quadratic program. A quadruped trots over rubble at two hundred hertz.""",
    "tidal": """Reliable causal discovery from time series needs tests of conditional independence
        that stay calibrated under autocorrelation. Tidal corrects the effective sample size of
        each lag and recovers the contemporaneous graph of river networks.""",
    "murmur": """Sleep staging from single-channel recordings lacks large labelled sets. Murmur
        pretrains on heart rate and breathing of hospital patients, and reaches the agreement of
        two human scorers on five sleep cohorts.""",
    "helix": """Architectures for genomes and proteins are borrowed from language. Helix searches
        hybrid blocks for biological sequences automatically and finds small networks that beat
        large genomic transformers on regulatory element prediction.""",
    "prism": """Point estimates of dense geometry from image pairs are confidently wrong on glass
        and sky. Prism predicts evidential uncertainty for each point of a three-dimensional
        reconstruction and refuses what it cannot match.""",
    "vigil": """Which examples should supervised fine-tuning of language models keep? Vigil
        predicts the gain of an instruction before training from a probe on token likelihoods, and
        matches the full set of instructions with a tenth of them.""",
    "compass": """Steering activations and adding task vectors to weights look unrelated. We prove
        that a first-order edit of activations equals a rank-one edit of weights, and use the
        equivalence to combine steering vectors of language models without interference.""",
}
IDS = {name: 100 + place for place, name in enumerate(PAPERS)}
NAMES = {paper_id: name for name, paper_id in IDS.items()}
SUBJECTS = """quantum river glacier enzyme violin orbit harvest mosaic turbine beetle sonnet census
    parasite bridge pigment auction harbour fossil lattice monsoon"""
FORMS = """dynamics of spectra for history of bounds on sampling of theory of control of maps of
    estimation of games with"""


def titles(n: int) -> list[str]:
    """Invented bare titles, to fill a catalogue with papers that are known by title alone."""
    subjects, forms = SUBJECTS.split(), FORMS.split()
    rng = np.random.default_rng(7)
    return [
        f"{rng.choice(forms)} {rng.choice(subjects)} models and {rng.choice(subjects)} networks"
        for _ in range(n)
    ]


def training_set(
    documents: list[str],
    *,
    ids: IntArray | None = None,
    user_ids: IntArray | None = None,
    history: History | None = None,
) -> TrainingSet:
    """A catalogue with ids from 100 unless told otherwise, and nobody's history unless given."""
    m = len(documents)
    history = history or History.empty()
    return TrainingSet(
        user_ids=np.ones(len(history), np.int64) if user_ids is None else user_ids,
        history=history,
        item_ids=np.arange(100, 100 + m) if ids is None else ids,
        documents=documents,
        published_year=np.full(m, np.nan, np.float32),
        added_days=np.zeros(m, np.float32),
    )


def small_model(*, seed: int = 0, config: Config | None = None) -> Model:
    """The invented papers and nobody's history."""
    return train(training_set(list(PAPERS.values())), config, seed=seed)


def history_of(*item_ids: int, **columns: object) -> History:
    """Saved papers by id, other columns given as one value or a list."""
    n = len(item_ids)
    kinds = {
        "saved": (True, np.bool_),
        "finished": (False, np.bool_),
        "dismissed": (False, np.bool_),
        "low_quality": (False, np.bool_),
        "more_like_this": (False, np.bool_),
        "opens": (0, np.int64),
        "ratings": (0, np.int64),
        "age_days": (0.0, np.float32),
    }
    filled = {
        name: np.array(np.broadcast_to(np.asarray(columns.get(name, usual), kind), (n,)))
        for name, (usual, kind) in kinds.items()
    }
    return History(item_ids=np.array(item_ids, np.int64), **filled)


def saved(*names: str) -> History:
    """Bookmarks of invented papers."""
    return history_of(*(IDS[name] for name in names))


def ask(model: Model, history: History, limit: int = 10, **wanted: object) -> Slate:
    """A slate with a fixed generator."""
    request = Request(limit=limit, **wanted)
    return recommend(model, history, request, rng=np.random.default_rng(0))


def ids_of(slate: Slate) -> list[int]:
    """The recommended ids in order."""
    return [item.item_id for item in slate.items]


def names_of(slate: Slate) -> list[str]:
    """The recommended invented papers in order."""
    return [NAMES[item.item_id] for item in slate.items]
