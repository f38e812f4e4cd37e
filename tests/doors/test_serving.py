"""``papershelf run`` as people run it: a real process, from the first start to the pulled plug."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.service.importers.test_run import LISTING

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120.0


def wait_until(is_so: Callable[[], object], within_s: float = PATIENCE_S) -> None:
    end = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Service:
    """One `papershelf run` with everything that belongs to it, in a process group of its own."""

    def __init__(self, folder: Path, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.printed: list[str] = []
        unwanted = ("DATABASE_URL", "REDIS_URL", "PUBLIC_URL", "PAPERSHELF_")
        environ = {n: v for n, v in os.environ.items() if not n.startswith(unwanted)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "service.cli.main", "run"],
            cwd=ROOT,
            env={
                **environ,
                "PAPERSHELF_DATA": str(folder),
                "PORT": str(port),
                "OPENBLAS_NUM_THREADS": "1",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.printed.append(line.strip())

    @property
    def text(self) -> str:
        return "\n".join(self.printed)

    def wait(self) -> "Service":
        """Until it says that it is there."""
        wait_until(lambda: "Stop with Ctrl-C." in self.printed or self.process.poll() is not None)
        assert self.process.poll() is None, self.text
        return self

    def said(self, name: str) -> str | None:
        found = re.search(rf"^{name}\s{{2,}}(\S+)$", self.text, re.MULTILINE)
        return found[1] if found else None

    def signal(self, number: int) -> None:
        os.killpg(self.process.pid, number)

    def is_gone(self) -> bool:
        """Whether nothing of the process group is left."""
        self.process.poll()
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return True
        return False

    def close(self) -> None:
        if not self.is_gone():
            self.signal(signal.SIGKILL)
        self.process.wait(10)
        self._reader.join(10)
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], Service]]:
    started: list[Service] = []
    port = free_port()

    def begin() -> Service:
        started.append(Service(tmp_path / "data", port))
        return started[-1]

    yield begin
    for service in started:
        service.close()


class Api:
    def __init__(self, url: str, token: str) -> None:
        self.url, self.token = f"{url}/api/v1", token

    def ask(
        self, method: str, path: str, body: Any = None, content_type: str = "application/json"
    ) -> tuple[int, Any]:
        data = None
        if body is not None:
            data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": content_type}
        request = Request(self.url + path, data=data, headers=headers, method=method)
        try:
            with urlopen(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except HTTPError as error:
            with error:
                return error.code, json.load(error)

    def get(self, path: str) -> Any:
        status, body = self.ask("GET", path)
        assert status == 200, body
        return body

    def bring_in(self, text: str) -> list[dict[str, Any]]:
        """Import a listing and wait for the worker; its rows."""
        status, taken = self.ask("POST", "/imports", text, "text/plain")
        assert status == 202, taken
        path = f"/imports/{taken['id']}"
        wait_until(lambda: self.get(path)["state"] in {"done", "failed"}, 30)
        assert self.get(path)["state"] == "done"
        return self.get(f"{path}/rows")["items"]


def test_a_whole_life_from_the_first_start_to_the_pulled_plug(
    start: Callable[[], Service], tmp_path: Path
):
    # The first start tells where it is and how to get in.
    first = start().wait()
    assert first.said("Papershelf is at") == first.url
    token = first.said("API token")
    assert token is not None
    assert token.startswith("psh_")
    assert first.said("login") == "admin@papershelf.local"
    assert len(first.said("password") or "") >= 16
    kept = tmp_path / "data" / "first-login.txt"
    assert token in kept.read_text()
    assert kept.stat().st_mode & 0o077 == 0
    api = Api(first.url, token)

    # A listing goes in, a paper is saved, the next list has its neighbours.
    rows = api.bring_in(LISTING)
    assert [row["outcome"] for row in rows] == ["created"] * 6
    status, bookmark = api.ask("POST", "/bookmarks", {"paper_id": rows[0]["paper_id"]})
    assert status == 201, bookmark
    answer = api.get("/recommendations?limit=5&year_from=2026")
    assert answer["strategy"] == "personal"
    assert answer["model"]["generation"], "the first start has trained"
    found = [item["paper"]["id"] for item in answer["items"]]
    hundred = "".join(f"&exclude_papers={found[0]}" for _ in range(100))
    without = api.get(f"/recommendations?limit=5&year_from=2026{hundred}")
    assert [item["paper"]["id"] for item in without["items"]] == [i for i in found if i != found[0]]
    assert len(found) == 5
    assert set(found) == {row["paper_id"] for row in rows[1:]}

    # Nobody else gets at the same folder, in one sentence.
    second = Service(tmp_path / "data", free_port())
    assert second.process.wait(30) == 1
    second.close()
    assert re.fullmatch(r"papershelf: Another Papershelf serves .*PAPERSHELF_DATA.*", second.text)

    # Ctrl-C reaches the whole process group, and all of it ends.
    first.signal(signal.SIGINT)
    wait_until(first.is_gone, 30)
    assert "Traceback" not in first.text

    # The next start knows everything and tells no secret again.
    again = start().wait()
    assert token not in again.text
    assert again.said("password") is None
    assert [one["id"] for one in api.get("/bookmarks")["items"]] == [bookmark["id"]]

    # What was answered with 201 survives the pulled plug.
    status, last = api.ask("POST", "/bookmarks", {"paper_id": rows[1]["paper_id"]})
    again.signal(signal.SIGKILL)
    assert status == 201, last
    wait_until(again.is_gone, 30)
    start().wait()
    assert {one["id"] for one in api.get("/bookmarks")["items"]} == {bookmark["id"], last["id"]}
    assert api.get("/recommendations?limit=2")["strategy"] == "personal"


def test_a_taken_port_is_one_sentence(tmp_path: Path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        service = Service(tmp_path / "data", port)
        assert service.process.wait(30) == 1
        service.close()
    assert re.fullmatch(rf"papershelf: Port {port} is taken; .*PORT.*", service.text)
    assert not (tmp_path / "data" / "papershelf.db").exists(), "nothing was begun"
