"""People, their tokens and how they sign in."""

from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa

from service.accounts.actions import (
    MOST_TOKENS,
    create_token,
    create_user,
    find_principal,
    note_use,
    revoke_token,
)
from service.accounts.passwords import matches
from service.accounts.queries import first_admin, get_user, has_users, tokens_of
from service.accounts.records import EVERYTHING_PERSONAL, NewToken, NewUser, Principal, Scope
from service.accounts.sign_in import FREE_FAILURES, LONGEST_WAIT_S, sign_in
from service.accounts.tokens import make_token, read_token
from service.db import scope, system_scope
from service.errors import (
    Conflict,
    InvalidInput,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    TooManyAttempts,
)
from service.runtime import Runtime
from service.tables import ApiToken, AuditEntry, FailedLogin, User
from tests.factories import NOW, PASSWORD, Person
from tests.factories import make_token as token_for
from tests.service.threads import all_at_once

WRONG = "not the password"


def who(runtime: Runtime, text: str, *, now: datetime = NOW) -> Principal:
    with runtime.reading() as session:
        return find_principal(session, text, now=now)


def attempt(runtime: Runtime, email: str, password: str, *, now: datetime = NOW) -> bool:
    """Whether it was right."""
    return sign_in(runtime.writing, email, password, now=now) is not None


# ---- People ------------------------------------------------------------------------------------


def test_a_person_is_made_with_what_was_said(runtime: Runtime):
    with runtime.writing() as session:
        assert not has_users(session)
        new = NewUser(email=" Ada@Example.org ", password=PASSWORD, zone="Asia/Kathmandu")
        made = create_user(session, new, now=NOW)
        session.commit()
    assert (made.email, made.name, made.zone) == ("ada@example.org", "ada", "Asia/Kathmandu")
    assert (made.is_admin, made.created_at) == (False, NOW)
    assert made.password_hash.startswith("$argon2id$")
    assert PASSWORD not in made.password_hash
    with runtime.reading() as session:
        assert has_users(session)
        assert get_user(session, made.id).email == "ada@example.org"
        assert session.scalars(sa.select(AuditEntry.action)).all() == ["user.created"]


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"email": "ada"}, "email"),
        ({"email": "ada@"}, "email"),
        ({"email": "a b@example.org"}, "email"),
        ({"email": "a@" + "x" * 200}, "email"),
        ({"password": "short"}, "password"),
        ({"password": "x" * 257}, "password"),
        ({"zone": "Middle/Earth"}, "zone"),
        ({"zone": "../../etc/passwd"}, "zone"),
    ],
)
def test_what_makes_no_person_is_refused_by_its_field(
    runtime: Runtime, changed: dict[str, str], field: str
):
    new = {"email": "ada@example.org", "password": PASSWORD, **changed}
    with runtime.writing() as session, pytest.raises(InvalidInput) as refused:
        create_user(session, NewUser(**new), now=NOW)
    assert refused.value.field == field


def test_an_address_has_one_person_whatever_its_case(runtime: Runtime, alice: Person):
    new = NewUser(email=alice.email.upper(), password=PASSWORD)
    with runtime.writing() as session, pytest.raises(Conflict):
        create_user(session, new, now=NOW)


def test_of_eight_who_take_one_address_one_gets_it(runtime: Runtime):
    def create() -> None:
        with runtime.writing() as session:
            create_user(session, NewUser(email="ada@example.org", password=PASSWORD), now=NOW)
            session.commit()

    errors = all_at_once([create] * 8)
    assert [type(error) for error in errors] == [Conflict] * 7
    with runtime.reading() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(User)) == 1


def test_the_first_administrator_is_found(runtime: Runtime, alice: Person, root: Person):
    with runtime.reading() as session:
        admin = first_admin(session)
    assert admin is not None
    assert admin.id == root.id


# ---- Tokens ------------------------------------------------------------------------------------


def test_a_token_tells_whose_it_is(runtime: Runtime, alice: Person, bob: Person):
    assert who(runtime, alice.token).user_id == alice.id
    principal = who(runtime, bob.token)
    assert (principal.user_id, principal.scopes) == (bob.id, EVERYTHING_PERSONAL)


def test_a_token_has_the_scopes_it_was_given(runtime: Runtime, alice: Person):
    text = token_for(runtime, alice, [Scope.RECS_READ, Scope.LIBRARY_READ])
    assert who(runtime, text).scopes == {Scope.RECS_READ, Scope.LIBRARY_READ}


def test_the_secret_is_nowhere_in_the_database(runtime: Runtime, alice: Person):
    token = read_token(alice.token)
    assert token is not None
    with scope(runtime.reading(), alice.id) as session:
        row = session.scalars(sa.select(ApiToken)).one()
    values = {str(getattr(row, column.key)) for column in ApiToken.__table__.columns}
    assert not any(token.secret in value for value in values)


def _unknown(_runtime: Runtime, _alice: Person) -> str:
    return str(make_token())


def _mistyped(_runtime: Runtime, alice: Person) -> str:
    return alice.token[:-1] + ("a" if alice.token[-1] != "a" else "b")


def _other_secret(_runtime: Runtime, alice: Person) -> str:
    hers = read_token(alice.token)
    assert hers is not None
    return str(type(hers)(hers.token_id, make_token().secret))


def _expired(runtime: Runtime, alice: Person) -> str:
    return token_for(runtime, alice, [Scope.RECS_READ], expires_at=NOW + timedelta(seconds=1))


def _revoked(runtime: Runtime, alice: Person) -> str:
    text = token_for(runtime, alice, [Scope.RECS_READ])
    with scope(runtime.writing(), alice.id) as session:
        token_id = tokens_of(session, alice.id)[-1].public_id
        revoke_token(session, alice.id, token_id, now=NOW)
        session.commit()
    return text


def _disabled(runtime: Runtime, alice: Person) -> str:
    with runtime.writing() as session:
        session.execute(sa.update(User).where(User.id == alice.id).values(is_disabled=True))
        session.commit()
    return alice.token


def test_nobody_learns_why_a_token_does_not_work(runtime: Runtime, alice: Person):
    said = set()
    for spoil in (_unknown, _mistyped, _other_secret, _expired, _revoked, _disabled):
        text = spoil(runtime, alice)
        with pytest.raises(NotAuthenticated) as refused:
            who(runtime, text, now=NOW + timedelta(seconds=1))
        said.add(str(refused.value))
    with pytest.raises(NotAuthenticated) as refused:
        who(runtime, "")
    assert said == {str(refused.value)}


def test_a_token_works_until_the_moment_it_expires(runtime: Runtime, alice: Person):
    text = token_for(runtime, alice, [Scope.RECS_READ], expires_at=NOW + timedelta(days=1))
    assert who(runtime, text, now=NOW + timedelta(days=1, seconds=-1)).user_id == alice.id
    with pytest.raises(NotAuthenticated):
        who(runtime, text, now=NOW + timedelta(days=1))


def test_a_time_of_expiry_lies_ahead(runtime: Runtime, alice: Person):
    with pytest.raises(InvalidInput):
        token_for(runtime, alice, [Scope.RECS_READ], expires_at=NOW)


def test_only_an_administrator_gets_the_scope_admin(runtime: Runtime, alice: Person, root: Person):
    with pytest.raises(NotAllowed):
        token_for(runtime, alice, [Scope.ADMIN])
    assert who(runtime, token_for(runtime, root, [Scope.ADMIN])).scopes == {Scope.ADMIN}


def test_another_persons_token_cannot_be_revoked(runtime: Runtime, alice: Person, bob: Person):
    with scope(runtime.reading(), bob.id) as session:
        his = tokens_of(session, bob.id)[0].public_id
    with scope(runtime.writing(), alice.id) as session, pytest.raises(NotFound):
        revoke_token(session, alice.id, his, now=NOW)
    assert who(runtime, bob.token).user_id == bob.id


def test_a_token_is_revoked_once(runtime: Runtime, alice: Person):
    with scope(runtime.writing(), alice.id) as session:
        token_id = tokens_of(session, alice.id)[0].public_id
        revoke_token(session, alice.id, token_id, now=NOW)
        assert tokens_of(session, alice.id) == []
        with pytest.raises(NotFound):
            revoke_token(session, alice.id, token_id, now=NOW)


def test_a_program_that_forgets_to_revoke_is_stopped(runtime: Runtime, alice: Person):
    with scope(runtime.writing(), alice.id) as session:
        user = session.get_one(User, alice.id)
        new = NewToken(name="again", scopes=EVERYTHING_PERSONAL)
        for _ in range(MOST_TOKENS - 1):
            create_token(session, user, new, now=NOW)
        with pytest.raises(Conflict):
            create_token(session, user, new, now=NOW)


def test_the_last_use_is_kept_to_the_minute(runtime: Runtime, alice: Person):
    token_id = who(runtime, alice.token).token_id
    assert token_id is not None
    seen = []
    for seconds in (0, 59, 61):
        with runtime.writing() as session:
            note_use(session, token_id, now=NOW + timedelta(seconds=seconds))
            session.commit()
        seen.append(who(runtime, alice.token).last_used_at)
    assert seen == [NOW, NOW, NOW + timedelta(seconds=61)]


# ---- Signing in --------------------------------------------------------------------------------


def test_the_right_password_opens_and_the_wrong_one_does_not(runtime: Runtime, alice: Person):
    assert attempt(runtime, f" {alice.email.upper()} ", PASSWORD)
    assert not attempt(runtime, alice.email, WRONG)


def test_a_disabled_person_does_not_get_in(runtime: Runtime, alice: Person):
    _disabled(runtime, alice)
    assert not attempt(runtime, alice.email, PASSWORD)


@pytest.mark.parametrize("email", ["alice@example.org", "nobody@example.org"])
def test_wrong_passwords_make_an_address_wait_longer_and_longer(
    runtime: Runtime, alice: Person, email: str
):
    """And an address without a person behaves exactly like one with."""
    now, waits = NOW, []
    for _ in range(FREE_FAILURES):
        assert not attempt(runtime, email, WRONG, now=now)
    for _ in range(12):
        with pytest.raises(TooManyAttempts) as refused:
            attempt(runtime, email, PASSWORD, now=now)
        waits.append(refused.value.retry_after_s)
        now += timedelta(seconds=waits[-1])
        assert not attempt(runtime, email, WRONG, now=now)
    assert waits == [2, 4, 8, 16, 32, 64, 128, 256, 512, LONGEST_WAIT_S, *[LONGEST_WAIT_S] * 2]


def test_a_refused_attempt_does_not_make_the_wait_longer(runtime: Runtime, alice: Person):
    for _ in range(FREE_FAILURES):
        attempt(runtime, alice.email, WRONG)
    for _ in range(3):
        with pytest.raises(TooManyAttempts) as refused:
            attempt(runtime, alice.email, WRONG, now=NOW + timedelta(seconds=1))
        assert refused.value.retry_after_s == 1
    assert attempt(runtime, alice.email, PASSWORD, now=NOW + timedelta(seconds=2))


def test_the_right_password_wipes_the_slate_clean(runtime: Runtime, alice: Person):
    for _ in range(FREE_FAILURES - 1):
        attempt(runtime, alice.email, WRONG)
    assert attempt(runtime, alice.email, PASSWORD)
    for _ in range(FREE_FAILURES):
        assert not attempt(runtime, alice.email, WRONG), "counted from the beginning"


def test_one_address_does_not_make_another_wait(runtime: Runtime, alice: Person, bob: Person):
    for _ in range(FREE_FAILURES):
        attempt(runtime, alice.email, WRONG)
    assert attempt(runtime, bob.email, PASSWORD)


def test_failures_at_the_same_moment_are_all_counted(runtime: Runtime, alice: Person):
    errors = all_at_once([lambda: attempt(runtime, alice.email, WRONG)] * 8)
    assert [type(error) for error in errors] == [TooManyAttempts] * 3
    with runtime.reading() as session:
        assert session.scalars(sa.select(FailedLogin.failures)).all() == [FREE_FAILURES]


def test_failures_do_not_keep_the_address(runtime: Runtime):
    attempt(runtime, "nobody@example.org", WRONG)
    with runtime.reading() as session, system_scope(session, "a test"):
        kept = session.scalars(sa.select(FailedLogin.address_hash)).one()
    assert "nobody" not in kept


def test_the_slow_look_at_a_password_lets_others_write(
    runtime: Runtime, alice: Person, monkeypatch: pytest.MonkeyPatch
):
    def look_slowly(password_hash: str | None, password: str) -> bool:
        with runtime.writing() as session:  # waits, and fails, for whoever holds the lock
            session.add(AuditEntry(at=NOW, action="meanwhile"))
            session.commit()
        return matches(password_hash, password)

    monkeypatch.setattr("service.accounts.sign_in.matches", look_slowly)
    assert attempt(runtime, alice.email, PASSWORD)
    assert not attempt(runtime, alice.email, "wrong password")
