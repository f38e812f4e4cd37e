"""The embedded server: one gunicorn worker with its threads, and the background jobs beside them.

``papershelf run`` replaces itself by this module when everything is set up. A larger installation
serves ``wsgi:app`` with any WSGI server and runs ``papershelf worker`` beside it.
"""

import logging
import os
import signal
import sys

import click
from gunicorn.app.base import BaseApplication

from service.app import create_app
from service.config import Settings
from service.jobs.queue import JobRunner
from service.runtime import build_runtime

THREADS = 8
LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class Server(BaseApplication):  # type: ignore[misc]
    """gunicorn, set up in code: there is nothing in it for an operator to get wrong."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        super().__init__()

    def load_config(self) -> None:
        for name, value in {
            "bind": f"{self.settings.host}:{self.settings.port}",
            "worker_class": "gthread",
            "workers": 1,
            "threads": THREADS,
            "timeout": 120,
            "graceful_timeout": 10,
            "keepalive": 5,
            # A hundred ids in a query need more than the usual 4,094; this is the most there is.
            "limit_request_line": 8190,
            "loglevel": self.settings.log_level.lower(),
            "proc_name": "papershelf",
            "control_socket_disable": True,
            "when_ready": self._when_ready,
            "post_worker_init": self._start_jobs,
            "worker_exit": self._stop_jobs,
        }.items():
            self.cfg.set(name, value)

    def load(self) -> object:
        # In the worker, after the fork: threads and connections do not survive one.
        self.runner = JobRunner(self.settings)
        self.runtime = build_runtime(self.settings, tell=self.runner.tell)
        return create_app(self.runtime)

    def _when_ready(self, _server: object) -> None:
        # gunicorn would reload at a hang-up; a closed terminal should end what ran in it.
        signal.signal(signal.SIGHUP, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
        _print_block(self.settings)

    def _start_jobs(self, _worker: object) -> None:
        self.runner.start(self.runtime)

    def _stop_jobs(self, _server: object, _worker: object) -> None:
        self.runner.stop()
        self.runtime.close()


def _print_block(settings: Settings) -> None:
    lines = ["", f"  Papershelf is at  {settings.public_url}"]
    file = settings.first_login_file
    if os.environ.get("PAPERSHELF_SHOW_LOGIN") == "1":
        kept = dict(line.split("=", 1) for line in file.read_text().splitlines())
        lines += [
            f"  login             {kept['login']}",
            f"  password          {kept['password']}",
            f"  API token         {kept['token']}",
            f"                    (kept in {file})",
        ]
    elif file.exists():
        lines.append(f"  login and token   in {file}")
    lines += [f"  data              {settings.data_folder}", "  Stop with Ctrl-C.", ""]
    click.echo("\n".join(lines))


if __name__ == "__main__":
    sys.argv = sys.argv[:1]  # gunicorn would read the rest as its own options
    at_start = Settings.from_environment()
    logging.basicConfig(level=at_start.log_level, format=LOG_FORMAT)
    Server(at_start).run()
