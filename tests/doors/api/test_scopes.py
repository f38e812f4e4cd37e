"""Each operation needs a token, and the scopes that its description names."""

import re
from uuid import uuid4

from flask.testing import FlaskClient

from service.accounts.records import Scope
from service.runtime import Runtime
from tests.description import Operation
from tests.factories import Api, Person, make_token

EXPECTED = {
    "GET /api/v1/papers": "library:read",
    "POST /api/v1/papers": "library:write",
    "GET /api/v1/papers/{paper_id}": "library:read",
    "GET /api/v1/papers/{paper_id}/explanation": "recs:read",
    "GET /api/v1/papers/{paper_id}/related": "recs:read",
    "POST /api/v1/papers/{paper_id}/opens": "feedback:write",
    "GET /api/v1/bookmarks": "library:read",
    "POST /api/v1/bookmarks": "library:write",
    "GET /api/v1/bookmarks/{bookmark_id}": "library:read",
    "PATCH /api/v1/bookmarks/{bookmark_id}": "library:write",
    "DELETE /api/v1/bookmarks/{bookmark_id}": "library:write",
    "GET /api/v1/ratings": "library:read",
    "POST /api/v1/ratings": "feedback:write",
    "GET /api/v1/ratings/{rating_id}": "library:read",
    "PATCH /api/v1/ratings/{rating_id}": "feedback:write",
    "DELETE /api/v1/ratings/{rating_id}": "feedback:write",
    "GET /api/v1/feedback": "library:read",
    "POST /api/v1/feedback": "feedback:write",
    "GET /api/v1/feedback/{feedback_id}": "library:read",
    "PATCH /api/v1/feedback/{feedback_id}": "feedback:write",
    "DELETE /api/v1/feedback/{feedback_id}": "feedback:write",
    "GET /api/v1/interests": "library:read",
    "GET /api/v1/interests/{interest_id}": "library:read",
    "PATCH /api/v1/interests/{interest_id}": "library:write",
    "GET /api/v1/interests/{interest_id}/papers": "library:read",
    "POST /api/v1/interests/{interest_id}/merge": "library:write",
    "DELETE /api/v1/interests/{interest_id}/merge": "library:write",
    "GET /api/v1/recommendations": "recs:read",
    "GET /api/v1/imports": "library:read",
    "POST /api/v1/imports": "library:write",
    "GET /api/v1/imports/{import_id}": "library:read",
    "GET /api/v1/imports/{import_id}/rows": "library:read",
    "GET /api/v1/imports/{import_id}/rejected": "library:read",
    "GET /api/v1/tokens": "",
    "POST /api/v1/tokens": "",
    "DELETE /api/v1/tokens/{token_id}": "",
    "GET /api/v1/me": "",
}


def test_the_scopes_of_every_operation_are_what_we_decided(api: Api):
    described = {str(one): " ".join(one.scopes) for one in api.description.operations()}
    assert described == EXPECTED


def test_nothing_is_answered_without_a_token(api: Api, client: FlaskClient):
    nobody = Api(client, {})
    for operation in api.description.operations():
        answer = asked(nobody, operation)
        assert answer.status_code == 401, str(operation)
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="Papershelf"'


def test_a_token_without_the_scope_is_told_which_it_lacks(
    api: Api, client: FlaskClient, runtime: Runtime, alice: Person
):
    for needed in Scope:
        token = make_token(runtime, alice, sorted(set(Scope) - {needed, Scope.ADMIN}))
        theirs = Api(client, {"Authorization": f"Bearer {token}"})
        for operation in api.description.operations():
            if operation.scopes == [needed]:
                answer = asked(theirs, operation)
                assert answer.status_code == 403, str(operation)
                assert needed in answer.json["detail"]


def test_a_token_with_just_the_scope_is_enough(
    api: Api, client: FlaskClient, runtime: Runtime, alice: Person
):
    tokens = {str(one): make_token(runtime, alice, [one]) for one in Scope if one != Scope.ADMIN}
    for operation in api.description.operations():
        if operation.scopes:
            token = tokens[operation.scopes[0]]
            answer = asked(Api(client, {"Authorization": f"Bearer {token}"}), operation)
            assert answer.status_code not in {401, 403}, str(operation)


def asked(api: Api, operation: Operation) -> object:
    path = re.sub(r"\{\w+\}", str(uuid4()), operation.path)
    options = {"json": {}} if "requestBody" in operation.described else {}
    return api.open(operation.method.upper(), path, **options)
