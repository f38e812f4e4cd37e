"""A listing of three topics, and somebody who reads it."""

import pytest

from service.runtime import Runtime
from tests.factories import Person
from tests.service.recommend.shelf import Groups, Reader, add_listing


@pytest.fixture
def groups(runtime: Runtime) -> Groups:
    return add_listing(runtime)


@pytest.fixture
def reader(runtime: Runtime, groups: Groups, alice: Person) -> Reader:
    return Reader(runtime, alice)
