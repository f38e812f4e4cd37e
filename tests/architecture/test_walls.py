"""What a machine can check of how the parts stand to each other."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.cli.main import cli

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("accounts", "library", "catalogue", "importers", "interests", "recommend")
PICKLES = {"pickle", "cPickle", "joblib", "dill", "cloudpickle", "shelve", "marshal", "jsonpickle"}


def sources(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((ROOT / folder).rglob("*.py"))


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def calls(tree: ast.AST) -> Iterator[str]:
    """Every attribute chain, as in ``os.environ.get``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield ast.unparse(node)


def parsed(file: Path) -> ast.AST:
    return ast.parse(file.read_text(encoding="utf-8"))


def test_imports_keep_to_the_layers():
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_is_ever_unpickled():
    guilty = {
        f"{file.relative_to(ROOT)}: {name}"
        for file in sources("service", "models")
        for name in imported(parsed(file))
        if name.partition(".")[0] in PICKLES
    }
    assert guilty == set()
    allowed = [
        file
        for file in sources("service", "models")
        if re.search(r"allow_pickle\s*=\s*True", file.read_text(encoding="utf-8"))
    ]
    assert allowed == []


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_told_the_time_and_its_settings(room: str):
    forbidden = re.compile(
        r"(?:datetime\.)*(?:datetime\.(?:now|utcnow|today)|date\.today)$"
        r"|time\.(?:time|monotonic|sleep)$|os\.(?:environ|getenv)"
        r"|random\.(?!Generator|default_rng)\w+$|flask\."
    )
    guilty = [
        f"{file.relative_to(ROOT)}: {call}"
        for file in sources(f"service/{room}")
        for call in calls(parsed(file))
        if forbidden.match(call)
    ]
    assert guilty == []


def test_only_the_settings_read_the_environment():
    """Beside them, those who start a process hand it on."""
    starters = {"service/cli/run.py", "service/jobs/handlers.py", "service/serving.py"}
    readers = {
        str(file.relative_to(ROOT))
        for file in sources("service", "models")
        for call in calls(parsed(file))
        if call.startswith(("os.environ", "os.getenv"))
    }
    assert readers - starters <= {"service/config.py"}


def test_a_room_does_not_end_the_transaction():
    guilty = [
        str(file.relative_to(ROOT))
        for room in ROOMS
        for file in sources(f"service/{room}")
        if file.name in {"actions.py", "queries.py"} and ".commit()" in file.read_text()
    ]
    assert guilty == []


def test_every_module_says_what_it_is_for():
    silent = [
        str(file.relative_to(ROOT))
        for file in sources("service", "models", "benchmarks")
        if file.stat().st_size and not ast.get_docstring(parsed(file))
    ]
    assert silent == []


def settings() -> set[str]:
    text = (ROOT / "service" / "config.py").read_text(encoding="utf-8")
    return set(re.findall(r"env\.get\(\s*\"([A-Z_]+)\"", text))


def commands() -> set[str]:
    names = set()
    for name, command in cli.commands.items():
        below = getattr(command, "commands", {})
        names |= {f"{name} {sub}" for sub in below} or {name}
    return names


def documents() -> str:
    """What an operator reads first."""
    return "\n".join(
        (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/operations.md")
    )


def test_every_setting_is_documented():
    assert len(settings()) >= 8
    operations = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    assert {name for name in settings() if f"`{name}`" not in operations} == set()


def test_every_command_is_documented():
    assert "user add" in commands()
    text = documents()
    assert {name for name in commands() if f"papershelf {name}" not in text} == set()


def test_the_documents_promise_no_command_that_is_not_there():
    promised = set(re.findall(r"`papershelf ([a-z]+)", documents()))
    assert promised <= set(cli.commands)


def test_no_file_knows_the_machine_it_was_written_on():
    place = re.compile(r"(?<![\w.:/])/(?:work|home|root|Users|mnt|srv/dev)/\w+")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a checkout of git")
    guilty = []
    for name in filter(None, listed.stdout.decode().split("\0")):
        file = ROOT / name
        if file.suffix in {".py", ".md", ".toml", ".txt", ".mako", ""} and file.is_file():
            text = file.read_text(encoding="utf-8", errors="replace")
            guilty += [f"{name}: {found}" for found in place.findall(text)]
    assert guilty == []
