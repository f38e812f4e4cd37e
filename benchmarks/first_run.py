"""How long a new machine waits for its first recommendation, and what the service then weighs.

Clones the checkout into an empty folder and does there what the README says, with a clock beside
it: ``python -m benchmarks.first_run``. Needs git, make and the package registry; Linux only, since
it reads ``/proc``.
"""

import json
import os
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
REQUESTS = 200
PATIENCE_S = 600
KIB = 1024


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="papershelf-first-run-") as folder:
        clone = Path(folder) / "papershelf"
        subprocess.run(["git", "clone", "--quiet", str(CHECKOUT), str(clone)], check=True)
        port = _free_port()
        env = {**os.environ, "PORT": str(port), "PAPERSHELF_DATA": f"{folder}/data"}
        env.pop("DATABASE_URL", None)
        first = _start(clone, env, port, Path(folder) / "data")
        try:
            figures = {"first recommendation, empty clone (s)": first["seconds"]}
            token = _token(Path(folder) / "data")
            _warm_up(port, token)
            figures["memory of the running service, PSS (MiB)"] = _pss_mib(first["process"].pid)
        finally:
            _stop(first["process"])
        again = _start(clone, env, port, Path(folder) / "data")
        figures["second start (s)"] = again["seconds"]
        _stop(again["process"])
    for name, value in figures.items():
        print(f"{name:45} {value:8.1f}")


def _start(clone: Path, env: dict[str, str], port: int, data: Path) -> dict[str, Any]:
    started = time.monotonic()
    process = subprocess.Popen(
        ["make", "run"], cwd=clone, env=env, stdout=subprocess.DEVNULL, start_new_session=True
    )
    while time.monotonic() < started + PATIENCE_S:
        if process.poll() is not None:
            raise SystemExit(f"make run ended with {process.returncode}")
        try:
            _get(port, "/api/v1/recommendations?limit=5", _token(data))
        except (OSError, KeyError):
            time.sleep(0.05)
        else:
            return {"process": process, "seconds": time.monotonic() - started}
    raise SystemExit(f"no recommendation after {PATIENCE_S} s")


def _warm_up(port: int, token: str) -> None:
    """Save a few papers and ask often, so that what is weighed is a service in use."""
    papers = _get(port, "/api/v1/papers?limit=20", token)["items"]
    for paper in papers[:10]:
        body = json.dumps({"paper_id": paper["id"]}).encode()
        _get(port, "/api/v1/bookmarks", token, body)
    for _ in range(REQUESTS):
        _get(port, "/api/v1/recommendations?limit=20", token)


def _get(port: int, path: str, token: str, body: bytes | None = None) -> Any:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        data=body,
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def _token(data: Path) -> str:
    lines = (data / "first-login.txt").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)["token"]


def _pss_mib(root: int) -> float:
    """Memory of a process and all below it, shared pages counted once."""
    total = 0
    for pid in _family(root):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return total / KIB


def _family(root: int) -> Iterator[int]:
    yield root
    for task in Path(f"/proc/{root}/task").iterdir():
        for child in (task / "children").read_text().split():
            yield from _family(int(child))


def _stop(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGINT)
    process.wait(timeout=60)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()
