"""Runs things at the same moment, for what must hold when two people are quick."""

import threading
from collections.abc import Callable, Sequence

PATIENCE_S = 60.0


def all_at_once(tasks: Sequence[Callable[[], object]]) -> list[BaseException]:
    """Start every task in a thread of its own at one moment; what they raised."""
    together = threading.Barrier(len(tasks))
    errors: list[BaseException] = []

    def begin(task: Callable[[], object]) -> None:
        try:
            together.wait(PATIENCE_S)
            task()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=begin, args=(task,), daemon=True) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
        assert not thread.is_alive(), "a task did not end"
    return errors
