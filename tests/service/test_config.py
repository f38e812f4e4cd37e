"""Settings: what an operator may set, and what they are told when it is wrong."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from service.config import Settings, prepare_data_folder, secret_key
from service.errors import CannotStart

KEY = "a key that is certainly long enough"


def settings(tmp_path: Path, **environ: str) -> Settings:
    return Settings.from_environment({"PAPERSHELF_DATA": str(tmp_path), **environ})


def test_an_empty_environment_is_enough():
    made = Settings.from_environment({})
    assert made.is_embedded
    assert made.data_folder == Path.cwd() / "data"
    assert made.database_url.database == str(made.data_folder / "papershelf.db")
    assert (made.host, made.port, made.public_url) == ("127.0.0.1", 8000, "http://127.0.0.1:8000")


def test_an_empty_variable_is_like_none(tmp_path: Path):
    names = ("PORT", "PAPERSHELF_HOST", "DATABASE_URL", "PUBLIC_URL", "REDIS_URL")
    names += ("PAPERSHELF_LOG_LEVEL", "PAPERSHELF_SECRET_KEY", "PAPERSHELF_EXPLORATION")
    assert settings(tmp_path, **dict.fromkeys(names, "")) == settings(tmp_path)


def test_every_variable_reaches_its_setting(tmp_path: Path):
    made = settings(
        tmp_path,
        PORT="8123",
        PAPERSHELF_HOST="0.0.0.0",
        DATABASE_URL="postgresql://ada:secret@db.example.org/shelf",
        PUBLIC_URL="https://papers.example.org/",
        REDIS_URL="redis://queue.example.org:6379/2",
        PAPERSHELF_SECRET_KEY=KEY,
        PAPERSHELF_LOG_LEVEL="debug",
        PAPERSHELF_EXPLORATION="0.1",
    )
    assert (made.data_folder, made.port, made.host) == (tmp_path, 8123, "0.0.0.0")
    assert made.database_url.drivername == "postgresql+psycopg"
    assert made.database_url.password == "secret"
    assert made.public_url == "https://papers.example.org"
    assert made.redis_url == "redis://queue.example.org:6379/2"
    assert (made.secret_key, made.log_level, made.is_embedded) == (KEY, "DEBUG", False)
    assert (made.exploration, settings(tmp_path).exploration) == (0.1, 0.0)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg2"])
def test_every_spelling_of_postgresql_gets_the_driver_that_is_installed(
    tmp_path: Path, scheme: str
):
    url = settings(tmp_path, DATABASE_URL=f"{scheme}://ada@localhost/shelf").database_url
    assert url.drivername == "postgresql+psycopg"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "0"),
        ("PORT", "65536"),
        ("PORT", "eighty"),
        ("PORT", "-1"),
        ("PORT", "٨٠٠٠"),
        ("DATABASE_URL", "shelf.db"),
        ("DATABASE_URL", "mysql://ada@localhost/shelf"),
        ("DATABASE_URL", "sqlite://"),
        ("DATABASE_URL", "sqlite:///:memory:"),
        ("PUBLIC_URL", "papers.example.org"),
        ("PUBLIC_URL", "ftp://papers.example.org"),
        ("PUBLIC_URL", "https://"),
        ("REDIS_URL", "localhost:6379"),
        ("REDIS_URL", "http://localhost:6379"),
        ("PAPERSHELF_LOG_LEVEL", "loud"),
        ("PAPERSHELF_EXPLORATION", "some"),
        ("PAPERSHELF_EXPLORATION", "0.6"),
        ("PAPERSHELF_EXPLORATION", "nan"),
    ],
)
def test_a_bad_value_is_named_in_one_sentence(tmp_path: Path, name: str, value: str):
    with pytest.raises(CannotStart) as refused:
        settings(tmp_path, **{name: value})
    assert name in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_password_in_a_bad_address_is_not_repeated(tmp_path: Path):
    with pytest.raises(CannotStart) as refused:
        settings(tmp_path, DATABASE_URL="mysql://ada:hunter2@localhost/shelf")
    assert "hunter2" not in str(refused.value)


def test_a_data_folder_that_cannot_be_written_is_named(tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    folder = tmp_path / "file" / "data"
    with pytest.raises(CannotStart, match="PAPERSHELF_DATA") as refused:
        prepare_data_folder(folder)
    assert str(folder) in str(refused.value)


def test_the_data_folder_is_made_for_its_owner_only(tmp_path: Path):
    folder = tmp_path / "deep" / "data"
    prepare_data_folder(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert list(folder.iterdir()) == []


def test_a_short_key_is_refused(tmp_path: Path):
    with pytest.raises(CannotStart, match="PAPERSHELF_SECRET_KEY"):
        secret_key(settings(tmp_path, PAPERSHELF_SECRET_KEY="changeme"))


def test_the_length_of_a_key_counts_in_bytes(tmp_path: Path):
    assert secret_key(settings(tmp_path, PAPERSHELF_SECRET_KEY="é" * 16)) == "é" * 16


def test_a_key_is_made_once_and_kept_for_its_owner_only(tmp_path: Path):
    made = secret_key(settings(tmp_path))
    assert len(made) >= 32
    assert secret_key(settings(tmp_path)) == made
    assert stat.S_IMODE((tmp_path / "secret-key").stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["secret-key"]


def test_a_key_that_was_cut_off_is_not_used(tmp_path: Path):
    (tmp_path / "secret-key").write_text("")
    with pytest.raises(CannotStart, match="secret-key"):
        secret_key(settings(tmp_path))


ASKING = """
import sys, time
from service.config import Settings, secret_key
settings = Settings.from_environment({"PAPERSHELF_DATA": sys.argv[1]})
while time.time() < float(sys.argv[2]):
    pass
print(secret_key(settings))
"""


def test_processes_that_start_together_agree_on_one_key(tmp_path: Path):
    import time

    at = str(time.time() + 1.5)
    command = [sys.executable, "-c", ASKING, str(tmp_path), at]
    asking = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    keys = {process.communicate(timeout=30)[0].strip() for process in asking}
    assert len(keys) == 1
    assert len(keys.pop()) >= 32
