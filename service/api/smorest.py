"""flask-smorest as we need it: problems instead of its errors, and views that begin with a token.

``needs`` is where a request becomes a transaction: it asks who is there, opens their session (one
that cannot write for GET), and commits what the view did once its answer is made.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from http import HTTPStatus
from typing import Any, TypeVar

import flask_smorest
from flask import Response, g, make_response, request
from flask_smorest.utils import prepare_response
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge

from service.accounts.records import Scope
from service.api import idempotency
from service.api.auth import authenticate, require
from service.api.bodies import LARGEST_JSON
from service.api.failures import on_http_exception
from service.api.parameters import StrictParser, require_known
from service.api.problems import MEDIA_TYPE, ProblemSchema
from service.api.state import close_session, open_session, principal, session

View = TypeVar("View", bound=Callable[..., Any])
HINTS = "x-papershelf"
"""What ``specification`` needs to know of an operation; not in the published description."""


class Api(flask_smorest.Api):
    """Errors are RFC 9457 problems, in the answers and in the description."""

    ERROR_SCHEMA = ProblemSchema
    DEFAULT_ERROR_RESPONSE_NAME = None

    def handle_http_exception(self, error: HTTPException) -> Response | HTTPException:
        return on_http_exception(error)

    def _register_responses(self) -> None:
        for status in HTTPStatus:
            response: dict[str, Any] = {"description": status.phrase}
            if status >= HTTPStatus.BAD_REQUEST:
                response["schema"] = self.ERROR_SCHEMA
            prepare_response(response, self.spec, MEDIA_TYPE)
            self.spec.components.response(status.name, response, lazy=True)

    def _register_pagination_header(self) -> None:
        """Pages are ours, see ``pages``."""


class Blueprint(flask_smorest.Blueprint):
    """A resource of the API."""

    ARGUMENTS_PARSER = StrictParser()

    def needs(
        self,
        *scopes: Scope,
        takes_password: bool = False,
        largest_body: int = LARGEST_JSON,
        **hints: Any,
    ) -> Callable[[View], View]:
        """The view needs a token with these scopes, and runs in one transaction.

        ``hints`` tell the description what else there is: ``if_match``; ``etag`` for an answer that
        may be 304 and ``answers_etag`` for one that only has it; ``location``, ``page``,
        ``prefer_wait``; and further statuses in ``errors``.
        """

        def decorate(view: View) -> View:
            arguments = getattr(view, "_apidoc", {}).get("arguments", {}).get("parameters", ())
            reads_query = any(one["in"] == "query" for one in arguments)

            @wraps(view)
            def guarded(*args: Any, **kwargs: Any) -> Any:
                now = datetime.now(UTC)
                g.principal = authenticate(takes_password=takes_password, now=now)
                require(principal(), scopes)
                if request.method in {"GET", "HEAD"}:
                    if not reads_query:
                        require_known()
                    open_session(principal(), to_write=False)
                    return view(*args, **kwargs)
                _limit_body(largest_body)
                return _written(lambda: make_response(view(*args, **kwargs)), now)

            security = [{"bearer": [str(scope) for scope in scopes]}]
            if takes_password:
                security.append({"password": []})
            return self.doc(security=security, **{HINTS: hints})(guarded)  # type: ignore[no-any-return]

        return decorate


def _limit_body(largest: int) -> None:
    request.max_content_length = largest
    if (request.content_length or 0) > largest:
        raise RequestEntityTooLarge


def _written(carry_out: Callable[[], Response], now: datetime) -> Response:
    key = idempotency.key_of_request() if request.method == "POST" else None
    opened = open_session(principal(), to_write=True)
    if key is None:
        answer = carry_out()
    else:
        answer = idempotency.answer_once(opened, principal().user_id, key, carry_out, now=now)
    session().commit()
    close_session()
    then = g.pop("after_commit", None)
    return then(answer) if then is not None else answer
