"""What a request does not name in the description, it cannot set."""

import re

from service.tables import Base
from tests.description import Operation
from tests.factories import Api

COLUMNS = sorted(
    {column.name for table in Base.metadata.tables.values() for column in table.columns}
)


def test_no_column_can_be_set_that_is_no_field(api: Api, paper_id: str):
    for operation in api.description.operations():
        content = operation.described.get("requestBody", {}).get("content", {})
        if "application/json" not in content:
            continue
        fields = api.description.resolve(content["application/json"]["schema"])["properties"]
        others = [column for column in COLUMNS if column not in fields]
        assert len(others) > 50
        for start in range(0, len(others), 40):
            some = others[start : start + 40]
            answer = sent(api, operation, dict.fromkeys(some, 1))
            assert answer.status_code == 422, str(operation)
            named = {error["pointer"] for error in answer.json["errors"]}
            assert {f"/{name}" for name in some} <= named, str(operation)


def test_no_parameter_is_taken_that_is_not_described(api: Api):
    for operation in api.description.operations():
        parameters = operation.described.get("parameters", [])
        if not any(one.get("in") == "query" for one in parameters):
            continue
        path = re.sub(r"\{\w+\}", "00000000-0000-4000-8000-000000000000", operation.path)
        answer = api.open(operation.method.upper(), f"{path}?user_id=1")
        assert answer.status_code == 422, str(operation)
        assert answer.json["errors"][0]["pointer"] == "query:user_id"


def sent(api: Api, operation: Operation, body: dict[str, object]) -> object:
    path = re.sub(r"\{\w+\}", "00000000-0000-4000-8000-000000000000", operation.path)
    headers = {"If-Match": "*"}
    return api.open(operation.method.upper(), path, json=body, headers=headers)
