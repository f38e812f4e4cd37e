"""Two generations that disagree about what a reader of tides should read next."""

from dataclasses import replace

from models.training import train as train_model
from service.db import scope
from service.library.actions import note_opening, save_bookmark
from service.library.records import NewBookmark
from service.recommend.dataset import training_set
from service.recommend.experiments import NewExperiment, put_arms, start_experiment
from service.recommend.records import Recommendations
from service.recommend.serve import log_slate
from service.runtime import Runtime
from service.tables import Experiment, Paper
from tests.service.recommend.shelf import SOON, Reader, train

Groups = dict[str, list[Paper]]


def publish_rival(runtime: Runtime, groups: Groups) -> str:
    """A generation that takes the other papers on batteries for those on tides, and so proposes
    them to who saved the first one on tides."""
    pairs = zip(groups["tides"][1:], groups["batteries"][1:], strict=True)
    return publish_mistaken(runtime, *pairs)


def publish_mistaken(runtime: Runtime, *pairs: tuple[Paper, Paper]) -> str:
    """A generation that takes each paper of a pair for the other one."""
    with runtime.reading() as session:
        data, mark = training_set(session, now=SOON)
    row_of = {work: row for row, work in enumerate(data.item_ids.tolist())}
    texts = list(data.documents)
    for first, second in pairs:
        one, other = row_of[first.work_id], row_of[second.work_id]
        texts[one], texts[other] = texts[other], texts[one]
    model = train_model(replace(data, documents=texts))
    facts = {"trained_at": SOON.isoformat(), "catalogue_version": mark.catalogue_version}
    return runtime.live_model.registry.publish(model, facts=facts, aside=True)


def start(runtime: Runtime, control: str, challenger: str, **values: object) -> Experiment:
    new = NewExperiment(
        **{
            "name": "tides or batteries",
            "control": control,
            "challenger": challenger,
            "is_pinned": True,
            **values,
        }
    )
    registry = runtime.live_model.registry
    with runtime.writing() as session:
        row = start_experiment(session, registry, new, now=SOON)
        session.commit()
    put_arms(registry, row)
    return row


def start_rivals(runtime: Runtime, groups: Groups, **values: object) -> Experiment:
    """An experiment in which the live model has its contrary for a challenger."""
    return start(runtime, train(runtime).generation, publish_rival(runtime, groups), **values)


class Visitor(Reader):
    """A reader whose slates are logged, and who does things with what is in them."""

    def visit(self, *, now=SOON, **wish: object) -> Recommendations:
        made = self.ask(now=now, **wish)
        with scope(self.runtime.writing(), self.id) as session:
            log_slate(session, self.id, made, now=now)
            session.commit()
        return made

    def take(self, slate: Recommendations, *papers: Paper, now=SOON) -> None:
        """Save what is in the slate."""
        with scope(self.runtime.writing(), self.id) as session:
            for paper in papers:
                new = NewBookmark(paper_id=paper.public_id, slate_id=slate.slate_id)
                save_bookmark(session, self.id, new, now=now)
            session.commit()

    def look(self, slate: Recommendations, *papers: Paper, now=SOON) -> None:
        """Open what is in the slate."""
        with scope(self.runtime.writing(), self.id) as session:
            for paper in papers:
                note_opening(session, self.id, paper.public_id, slate_id=slate.slate_id, now=now)
            session.commit()
