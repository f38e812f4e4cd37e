"""The way in: everybody's evidence and all texts become a :class:`Model`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from models import FloatArray, IntArray
from models.collaborative.item_similarity import fit_similarity
from models.collaborative.joint_als import fit_joint
from models.collaborative.neighbours import nearest_items
from models.config import Config
from models.content.tfidf import index_texts
from models.feedback import History
from models.ids import IdIndex
from models.interactions import people_per_item, user_item_matrix
from models.ranking.cold_start import prior_of
from models.ranking.model import Model, no_titles

Progress = Callable[[str, float], None]

STAGE_OF_PART: Mapping[str, str] = {
    "content": "reading texts",
    "neighbours": "counting interactions",
    "collaborative": "learning factors",
    "similarity": "learning which papers go together",
}
"""In which stage of ``progress`` each part of the blend is fitted: who listens with a clock knows
what a part costs. A part that is not named is fitted along with others."""


class UnfitData(ValueError):
    """Evidence with a number in it that is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSet:
    """All there is to learn from; n history rows, m papers.

    ``user_ids`` (n,) int64, whose each history row is; ``history`` the rows of all people, one
    after another; ``item_ids`` (m,) int64, every paper once; ``documents`` m plain texts: title,
    abstract, keywords; perhaps a title alone, perhaps ""; ``published_year`` (m,) float32, NaN
    where unknown; ``added_days`` (m,) float32, days since the paper came into the catalogue;
    ``title_keys`` (m, 2) int64 as in :class:`Model`, None where no title is known.

    Arrays of different lengths raise ValueError, and an age or a number of days that is not finite
    raises UnfitData: to learn from it would be to learn something wrong.
    """

    user_ids: IntArray
    history: History
    item_ids: IntArray
    documents: Sequence[str]
    published_year: FloatArray
    added_days: FloatArray
    title_keys: IntArray | None = None

    def __post_init__(self) -> None:
        m = len(self.item_ids)
        if {len(self.documents), len(self.published_year), len(self.added_days)} != {m}:
            raise ValueError("item_ids, documents, published_year and added_days have one length")
        if self.title_keys is not None and self.title_keys.shape != (m, 2):
            raise ValueError("title_keys is two columns of the length of item_ids")
        if len(self.user_ids) != len(self.history):
            raise ValueError("user_ids and history have one length")
        for name, days in (("age_days", self.history.age_days), ("added_days", self.added_days)):
            if not np.all(np.isfinite(days)):
                raise UnfitData(f"{name} has values that are not finite")


def train(
    data: TrainingSet,
    config: Config | None = None,
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> Model:
    """A model of all papers and of everybody's evidence; the same seed gives the same model.

    ``progress`` is told what goes on and how much is done, 0 to 1. Works for no people, no papers,
    and anything above.
    """
    config = config or Config()
    report = progress or _silent
    items = IdIndex(np.asarray(data.item_ids, np.int64))
    report(STAGE_OF_PART["content"], 0.0)
    content = index_texts(data.documents, slope=config.slope)
    report(STAGE_OF_PART["neighbours"], 0.2)
    user_items = user_item_matrix(data.user_ids, data.history, items)
    neighbours = nearest_items(user_items, config)
    learning = STAGE_OF_PART["collaborative"]
    report(learning, 0.3)
    factors = fit_joint(
        user_items,
        content.weights,
        config,
        seed=seed,
        on_iteration=lambda i: report(learning, 0.3 + 0.3 * (i + 1) / config.iterations),
    )
    likening = STAGE_OF_PART["similarity"]
    report(likening, 0.6)
    similarity = fit_similarity(
        user_items,
        content.weights,
        config,
        seed=seed,
        on_step=lambda done: report(likening, 0.6 + 0.35 * done),
    )
    report("ordering for newcomers", 0.95)
    recency, centrality = prior_of(content, data.published_year, data.added_days)
    report("done", 1.0)
    return Model(
        config=config,
        items=items,
        content=content,
        factors=factors,
        similarity=similarity,
        neighbours=neighbours,
        people=people_per_item(user_items),
        published_year=np.asarray(data.published_year, np.float32),
        added_days=np.asarray(data.added_days, np.float32),
        title_keys=(
            no_titles(len(items))
            if data.title_keys is None
            else np.asarray(data.title_keys, np.int64)
        ),
        n_people=user_items.shape[0],
        recency=recency,
        centrality=centrality,
    )


def _silent(_stage: str, _done: float) -> None:
    return None
