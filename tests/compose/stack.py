"""The compose file of the release in dist/, under a project name of its own, and the service by its published port."""

import http.client
import json
import os
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

ROOT: Final = Path(__file__).resolve().parents[2]
PROJECT: Final = "iotide-test"
DIST: Final = ROOT / "dist"
LOOPBACK: Final = "127.0.0.1"


class Stack:
    def __init__(self, port: int, redis_port: int) -> None:
        self.port = port
        self._environment = {
            **os.environ,
            "IOTIDE_PORT": str(port),
            "IOTIDE_REDIS_PORT": str(redis_port),
            "COMPOSE_PROJECT_NAME": PROJECT,
            "COMPOSE_FILE": str(DIST / "compose.yaml"),
        }
        for name in ("IOTIDE_LISTEN", "IOTIDE_PUBLIC_NAME", "IOTIDE_AGENT_SERVER", "IOTIDE_REGISTRY"):
            self._environment.pop(name, None)

    def compose(self, *arguments: str, check: bool = True) -> str:
        """Run docker compose on the project, and return its output.

        Raises:
            SystemExit: it failed; its error output is shown.
        """
        done = self._run(["docker", "compose", *arguments], ROOT)
        if check and done.returncode:
            raise SystemExit(f"docker compose {' '.join(arguments)}: {done.stderr[-3000:]}{done.stdout[-3000:]}")
        return done.stdout

    def type(self, line: str, directory: Path) -> str:
        """Run a line of the documentation as an administrator would, and return its output.

        Raises:
            SystemExit: it failed; its error output is shown.
        """
        done = self._run(["bash", "-o", "pipefail", "-c", line], directory)
        if done.returncode:
            raise SystemExit(f"{line}: {done.stderr[-3000:]}{done.stdout[-3000:]}")
        return done.stdout

    def _run(self, command: list[str], directory: Path) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command, cwd=directory, env=self._environment, check=False, text=True, capture_output=True
        )

    def containers(self) -> list[dict[str, Any]]:
        """Return docker's description of the running containers."""
        ids = self.compose("ps", "--quiet").split()
        found: list[dict[str, Any]] = json.loads(docker("inspect", *ids))
        return found

    def authority(self) -> str:
        """Return the certificate of the installation's authority, PEM."""
        return self.compose("exec", "-T", "api", "cat", "/run/iotide/ca.crt")

    def admin_link(self) -> str:
        """Return a link that signs an administrator in, once."""
        return self.compose("exec", "-T", "api", "iotide-server", "admin-link").strip()

    def left(self) -> list[str]:
        """Return what is left of the project."""
        label = f"label=com.docker.compose.project={PROJECT}"
        kinds = (("ps", "--all"), ("volume", "ls"), ("network", "ls"))
        return [line for kind in kinds for line in docker(*kind, "--quiet", "--filter", label).split()]


def docker(*arguments: str) -> str:
    """Return the output of `docker ...`."""
    return subprocess.run(["docker", *arguments], check=True, text=True, capture_output=True).stdout


class Api:
    """The service through its published port, by the standard library alone."""

    def __init__(self, port: int, authority: str) -> None:
        self.url = f"https://localhost:{port}"
        self._headers = {"Content-Type": "application/json", "X-Iotide-Csrf": "1"}
        self._trust = ssl.create_default_context(cadata=authority)
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=self._trust)
        )

    def call(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - whatever the route answers
        """Return the JSON answer of the route; None for 204.

        Raises:
            SystemExit: the route refused; its message is printed.
        """
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"{self.url}/api/v1{path}", data, self._headers, method=method)  # noqa: S310 - our own
        try:
            with self._opener.open(request, timeout=60) as answer:
                cookie = answer.headers.get("Set-Cookie")
                if cookie:
                    self._headers["Cookie"] = cookie.partition(";")[0]
                return json.load(answer) if answer.status != HTTPStatus.NO_CONTENT else None
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{method} {path}: {error.code} {error.read().decode()}") from error

    def sign_in(self, link: str) -> None:
        """Use the link's session from now on."""
        self._headers.pop("Cookie", None)
        self.call("POST", "/session/link", {"token": urlsplit(link).fragment.removeprefix("token=")})

    def page(self, path: str) -> tuple[str, str]:
        """Return text and content type of a page."""
        with self._opener.open(f"{self.url}{path}", timeout=30) as answer:
            return answer.read().decode(), answer.headers["Content-Type"]

    def seconds_to_first_change(self) -> float:
        """Return the time to the first line of the change feed, which then stays silent."""
        host = self.url.removeprefix("https://")
        connection = http.client.HTTPSConnection(host, timeout=30, context=self._trust)
        asked_at = time.monotonic()
        connection.request("GET", "/api/v1/events?topics=campaign", headers=self._headers)
        connection.getresponse().readline()
        took = time.monotonic() - asked_at
        connection.close()
        return took


def wait_for(what: str, probe: Callable[[], Any], seconds: float) -> Any:  # noqa: ANN401 - whatever the probe finds
    """Return the first true value of `probe`, which is called once a second.

    Raises:
        SystemExit: there was none in time.
    """
    deadline = time.monotonic() + seconds
    while not (value := probe()):
        if time.monotonic() > deadline:
            raise SystemExit(f"{what}: not within {seconds:g} s")
        time.sleep(1)  # between two checks of other programs
    return value
