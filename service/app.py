"""Makes the WSGI application."""

from flask import Flask

from service.api.register import register_api
from service.config import Settings, prepare_data_folder
from service.jobs.queue import JobRunner
from service.runtime import Runtime, build_runtime


def create_app(runtime: Runtime | None = None) -> Flask:
    """The application; without a runtime, one by the settings of the environment.

    Migrates nothing. Raises CannotStart.
    """
    if runtime is None:
        settings = Settings.from_environment()
        prepare_data_folder(settings.data_folder)  # the queue's file lies in it
        runtime = build_runtime(settings, tell=JobRunner(settings).tell)
    app = Flask("papershelf", static_folder=None, template_folder=None)
    register_api(app, runtime)
    return app
