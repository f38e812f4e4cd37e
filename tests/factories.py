"""Makes what a test is not about: each function one thing, with all it needs."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from argon2 import PasswordHasher
from flask.testing import FlaskClient
from sqlalchemy import select

from service.accounts import passwords
from service.accounts.actions import create_token, create_user
from service.accounts.records import EVERYTHING_PERSONAL, NewToken, NewUser, Scope
from service.catalogue.actions import add_paper
from service.catalogue.identifiers import Identifier
from service.catalogue.records import Author, NewPaper
from service.db import scope
from service.runtime import Runtime
from service.tables import Paper, PaperSource, User
from tests.description import Description

PASSWORD = "correct horse battery"
NOW = datetime(2026, 1, 2, 9, 0, tzinfo=UTC)
"""When the cast and the papers came; before whatever the clock says."""

TOPICS = (
    "diffusion models for image synthesis",
    "graph neural networks for molecules",
    "reinforcement learning with human feedback",
    "retrieval for language models",
    "causal inference from observational data",
)
_numbers = itertools.count(1)

# Real passwords cost 40 ms each, which is the point of them, but not of the tests.
passwords._hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """One of the cast: the row's key, and a token with every personal scope."""

    id: int
    email: str
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


class Api:
    """A client that signs its requests as one person, under ``/api/v1``.

    Each answer is held against the description of the API.
    """

    def __init__(self, client: FlaskClient, headers: dict[str, str]) -> None:
        self.client = client
        self.headers = headers
        self.description = Description(client.get("/openapi.json").json)

    def open(self, method: str, path: str, **options: Any) -> Any:
        headers = {**self.headers, **(options.pop("headers", None) or {})}
        if not path.startswith("/api/"):
            path = f"/api/v1{path}"
        answer = self.client.open(path, method=method, headers=headers, **options)
        self.description.check(method, path.partition("?")[0], answer)
        return answer

    def get(self, path: str, **options: Any) -> Any:
        return self.open("GET", path, **options)

    def post(self, path: str, **options: Any) -> Any:
        return self.open("POST", path, **options)

    def patch(self, path: str, **options: Any) -> Any:
        return self.open("PATCH", path, **options)

    def delete(self, path: str, **options: Any) -> Any:
        return self.open("DELETE", path, **options)


def make_person(runtime: Runtime, name: str, *, is_admin: bool = False) -> Person:
    email = f"{name.lower()}@example.org"
    with runtime.writing() as session:
        new = NewUser(email=email, password=PASSWORD, name=name, is_admin=is_admin)
        user = create_user(session, new, now=NOW)
        scopes = frozenset(Scope) if is_admin else EVERYTHING_PERSONAL
        token = _token(session, user, scopes)
        session.commit()
        return Person(id=user.id, email=email, token=token)


def make_token(runtime: Runtime, person: Person, scopes: Sequence[Scope], **options: Any) -> str:
    """A token of this person with these scopes only."""
    with scope(runtime.writing(), person.id) as session:
        token = _token(session, session.get_one(User, person.id), frozenset(scopes), **options)
        session.commit()
        return token


def make_paper(runtime: Runtime, **values: Any) -> Paper:
    return make_papers(runtime, 1, **values)[0]


def make_papers(runtime: Runtime, n: int, **values: Any) -> list[Paper]:
    """Papers about a handful of topics, each with an author and an identifier."""
    papers = []
    with runtime.writing() as session:
        for number in itertools.islice(_numbers, n):
            topic = TOPICS[number % len(TOPICS)]
            new = {
                "title": f"Paper {number} on {topic}",
                "abstract": f"We study {topic} in the setting {number}, with new results.",
                "authors": (Author("Ada Lovelace"), Author(f"Author {number}")),
                "year": 2020 + number % 6,
                "identifiers": (Identifier("arxiv", f"2401.{number:05d}"),),
                **values,
            }
            paper, _ = add_paper(session, NewPaper(source=PaperSource.PERSON, **new), now=NOW)
            papers.append(paper)
        session.commit()
    return papers


def count(runtime: Runtime, person: Person, table: Any) -> int:
    """Rows of this person in an owned table."""
    with scope(runtime.reading(), person.id) as session:
        return len(session.scalars(select(table.id)).all())


def _token(session: Any, user: User, scopes: frozenset[Scope], **options: Any) -> str:
    scope(session, user.id)
    new = NewToken(name="test", scopes=scopes, **options)
    return str(create_token(session, user, new, now=NOW)[1])
