"""The recommender's model."""

import os
import threading
import time
from datetime import UTC, datetime

import click

from service.cli.terminal import console, opened_runtime, progress_bar


@click.command()
@click.option("--quiet", is_flag=True, help="Print nothing unless it fails.")
@click.option("--until-stdin-closes", is_flag=True, hidden=True, help="For a worker's child.")
def train(quiet: bool, until_stdin_closes: bool) -> None:
    """Train the recommender on all that is here, and let the service answer with it.

    A running service takes the new model with its next answer.
    """
    from service.recommend.rebuild import rebuild

    if until_stdin_closes:
        threading.Thread(target=_end_with_parent, daemon=True).start()
    with opened_runtime() as runtime, progress_bar() as bar:
        bar.disable = quiet
        task = bar.add_task("Training the recommender", total=100, visible=not quiet)
        made = rebuild(
            runtime.sessions,
            runtime.live_model.registry,
            now=datetime.now(UTC),
            clock=time.monotonic,
            progress=lambda stage, share: bar.update(
                task, completed=round(100 * share), description=f"Training: {stage}"
            ),
        )
        bar.update(task, completed=100, description="Training the recommender")
    if not quiet:
        console.print(
            f"Generation {made.generation}: {made.n_works:,} works, {made.n_interactions:,} "
            f"interactions of {made.n_people:,} people, {made.seconds:.1f} s."
        )
        if made.challenger is not None:
            console.print(f"Generation {made.challenger} challenges it in the running experiment.")


def _end_with_parent() -> None:
    """Nobody waits for a training whose worker is gone; the next worker begins it anew."""
    while os.read(0, 1):  # not sys.stdin, whose lock a daemon thread must not hold at the exit
        pass
    os._exit(1)
