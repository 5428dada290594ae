"""Brings docker-compose.yml up under a name of its own, runs a campaign through the published port, takes it down.

Usage: python tests/compose/campaign.py. Needs docker with compose and nothing else; exit status 0 when the campaign
finished with its numbers, 1 when it did not, 2 when docker cannot be used.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
PROJECT = "iotide-test"
PLAN = {
    "name": "compose",
    "cluster": "compose",
    "nodes": ["compose-node"],
    "targets": ["data"],
    "repeats": 2,
    "workloads": [
        {"workload": "dd", "options": {"file_size_bytes": "16 MiB", "block_size_bytes": "1 MiB"}},
        {"workload": "create", "options": {"file_count": 1000}},
        {"workload": "fio", "options": {"file_size_bytes": "16 MiB"}},
    ],
}


class Api:
    """The service through its published port, by the standard library alone."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/api/v1"
        self.headers = {"Content-Type": "application/json", "X-Iotide-Csrf": "1"}

    def call(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - whatever the route answers
        """The JSON that the route answers.

        Raises:
            SystemExit: the route refused; its words are printed.
        """
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.url + path, data, self.headers, method=method)  # noqa: S310 - our own
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - our own
                cookie = answer.headers.get("Set-Cookie")
                if cookie:
                    self.headers["Cookie"] = cookie.partition(";")[0]
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{method} {path}: {error.code} {error.read().decode()}") from error


def compose(*arguments: str, port: int, capture: bool = False) -> str:
    """Run docker compose on our project; its output where it is captured."""
    done = subprocess.run(
        ["docker", "compose", "--project-name", PROJECT, *arguments],
        cwd=ROOT,
        env={**os.environ, "IOTIDE_PORT": str(port)},
        check=True,
        text=True,
        stdout=subprocess.PIPE if capture else None,
    )
    return done.stdout or ""


def wait_for(what: str, probe: Callable[[], Any], seconds: float) -> Any:  # noqa: ANN401 - whatever the probe finds
    """The first true value of `probe`, which is asked once a second."""
    deadline = time.monotonic() + seconds
    while not (value := probe()):
        if time.monotonic() > deadline:
            raise SystemExit(f"{what}: not within {seconds:g} s")
        time.sleep(1)  # between two looks at something that other programs do
    return value


def run_campaign(api: Api, login_link: str) -> int:
    """Sign in, make a target, submit and wait; the exit status."""
    api.call("POST", "/session/link", {"token": urlsplit(login_link).fragment.removeprefix("token=")})
    node = wait_for("the agent", lambda: next(iter(api.call("GET", "/nodes?state=online")["items"]), None), 60)
    target = {"cluster_id": node["cluster_id"], "name": "data", "path": "/data", "scope": "node"}
    api.call("POST", "/targets", {**target, "nodes": [node["id"]], "reserve_bytes": None})
    campaign = api.call("POST", "/campaigns", PLAN)

    def ended() -> Any:  # noqa: ANN401 - the campaign as the route answers
        found = api.call("GET", f"/campaigns/{campaign['id']}")
        return found if found["state"] in {"finished", "failed", "cancelled"} else None

    ended_campaign = wait_for("the campaign", ended, 180)
    samples = api.call("GET", "/samples?limit=500")["items"]
    counts = ended_campaign["counts"]
    print(f"test-compose: {counts['finished']} runs finished, {counts['failed']} failed, {len(samples)} samples")
    return 0 if ended_campaign["state"] == "finished" and samples else 1


def main() -> int:
    """Build, up, campaign, down."""
    if (
        shutil.which("docker") is None
        or subprocess.run(["docker", "info"], capture_output=True, check=False).returncode
    ):
        print("test-compose: no Docker engine answers; install docker with compose and start it", file=sys.stderr)
        return 2
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    try:
        compose("build", port=port)
        compose("up", "--detach", "--wait", port=port)
        link = compose("exec", "-T", "api", "iotide-server", "admin-link", port=port, capture=True)
        return run_campaign(Api(port), link.strip())
    except (subprocess.CalledProcessError, SystemExit) as error:
        print(f"test-compose: {error}", file=sys.stderr)
        compose("logs", "--tail", "40", port=port)
        return 1
    finally:
        compose("down", "--volumes", "--timeout", "10", port=port)


if __name__ == "__main__":
    sys.exit(main())
