"""A process that does nothing but background jobs: ``papershelf worker``."""

import logging
import signal
import threading

import click

from service.config import Settings, prepare_data_folder
from service.jobs.queue import JobRunner
from service.runtime import build_runtime


def main() -> None:
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    settings = Settings.from_environment()
    prepare_data_folder(settings.data_folder)  # the queue's file lies in it
    logging.basicConfig(level=settings.log_level)
    runner = JobRunner(settings)
    runtime = build_runtime(settings, tell=runner.tell)
    runner.start(runtime)
    click.echo("Working. Stop with Ctrl-C.")
    stop.wait()
    runner.stop()
    runtime.close()


if __name__ == "__main__":
    main()
