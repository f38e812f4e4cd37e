"""Holds answers against the OpenAPI description: status, media type, headers and body."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jsonschema import Draft202012Validator

METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True, slots=True)
class Operation:
    method: str
    path: str
    described: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.method.upper()} {self.path}"

    @property
    def scopes(self) -> list[str]:
        return list(self.described["security"][0]["bearer"])


class Description:
    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self._validators: dict[str, Draft202012Validator] = {}

    def operations(self) -> Iterator[Operation]:
        for path, described in self.document["paths"].items():
            for method in METHODS:
                if method in described:
                    yield Operation(method, path, described[method])

    @cached_property
    def _routes(self) -> list[tuple[re.Pattern[str], str]]:
        paths = sorted(self.document["paths"], key=lambda path: path.count("{"))
        return [(re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), path) for path in paths]

    def resolve(self, described: Mapping[str, Any]) -> Mapping[str, Any]:
        while "$ref" in described:
            steps = described["$ref"].removeprefix("#/").split("/")
            described = self.document
            for step in steps:
                described = described[step]
        return described

    def check(self, method: str, path: str, answer: Any) -> None:
        """Fails for an answer that the description does not know."""
        template = next((t for regex, t in self._routes if regex.fullmatch(path)), None)
        operation = self.document["paths"].get(template or "", {}).get(method.lower())
        if operation is None:
            return
        status = str(answer.status_code)
        assert status in operation["responses"], f"{method} {template}: {status} is not described"
        response = self.resolve(operation["responses"][status])
        content = response.get("content")
        if not content:
            assert not answer.data, f"{method} {template}: {status} has a body"
            return
        assert answer.mimetype in content, f"{method} {template}: {status} as {answer.mimetype}"
        schema = content[answer.mimetype]["schema"]
        said = answer.json if answer.is_json else answer.text
        errors = [error.message for error in self._validator(schema).iter_errors(said)]
        assert not errors, f"{method} {template}: {status}: {errors[:3]}"

    def _validator(self, schema: Mapping[str, Any]) -> Draft202012Validator:
        name = str(schema)
        if name not in self._validators:
            whole = {**schema, "components": self.document["components"]}
            self._validators[name] = Draft202012Validator(whole)
        return self._validators[name]
