"""Stored scripts, forged requests and frames in a real Chromium, on the built dashboard and the real protocol."""

import json
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

import pytest
import uvicorn
from access.hostile import SIGN, HostileSite
from access.site import AccessSite
from browsers import chromium
from factories.clock import MovedClock
from fastapi import FastAPI
from fastapi.testclient import TestClient

from iotide_server.accounts.sessions.cookies import SESSION_COOKIE
from iotide_server.kit.connections import BoundedProtocol
from iotide_server.kit.db import Database
from iotide_server.main import create_app
from iotide_server.settings import Settings

ROOT: Final = Path(__file__).parents[3]
E2E: Final = ROOT / "tests/e2e"
PACKAGES: Final = ROOT / "frontend/node_modules"
WAIT_SECONDS: Final = 30.0

_HOSTILE_PAGE: Final = """<!doctype html><title>prizes</title>
<iframe name="sink" hidden></iframe><iframe src="TARGET/"></iframe>
<form id="form" action="TARGET/api/v1/clusters" method="post" enctype="text/plain" target="sink">
<input name='{"name":"forged","description":"' value='"}'></form>
<script>
const all = { credentials: "include" };
const json = { "Content-Type": "application/json" };
const body = '{"name":"forged"}';
const url = "TARGET/api/v1/clusters";
const asked = {
  read: () => fetch(url, all),
  json: () => fetch(url, { ...all, method: "POST", headers: json, body }),
  header: () => fetch(url, { ...all, method: "POST", headers: { ...json, "X-Iotide-Csrf": "1" }, body }),
  plain: () => fetch(url, { ...all, method: "POST", mode: "no-cors", body }),
  form: () => fetch(url, { ...all, method: "POST", mode: "no-cors", body: new URLSearchParams({ name: "forged" }) }),
};
(async () => {
  document.getElementById("form").submit();
  const outcomes = {};
  for (const [name, ask] of Object.entries(asked))
    outcomes[name] = await ask().then((answer) => answer.type, (error) => error.name);
  outcomes.stream = await new Promise((done) => {
    const stream = new EventSource("TARGET/api/v1/events", { withCredentials: true });
    stream.onopen = () => done("open");
    stream.onerror = () => { stream.close(); done("error"); };
  });
  window.outcomes = outcomes;
})();
</script>"""


@contextmanager
def served(app: FastAPI) -> Iterator[str]:
    """Return the address of the application behind the server's own protocol."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(
            app, http=BoundedProtocol, log_config=None, access_log=False, timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True  # not by force, which leaves open what the application opened
        thread.join(WAIT_SECONDS)


@contextmanager
def other_origin(target: str) -> Iterator[str]:
    """Return a hostile page of another origin."""
    page = _HOSTILE_PAGE.replace("TARGET", target).encode()

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join(WAIT_SECONDS)


@pytest.mark.timeout(600)
def test_hostile_texts_and_pages_do_nothing(
    client: TestClient, database: Database, clock: MovedClock, settings: Settings
) -> None:
    assert (ROOT / "frontend/dist/index.html").is_file(), "run `npm run build` in frontend/"
    site = AccessSite(client, database, clock)
    hostile = HostileSite(site)
    app = create_app(settings.model_copy(update={"frontend_directory": ROOT / "frontend/dist"}), clock)
    with served(app) as url, other_origin(url) as other:
        environment = {
            **os.environ,
            "NODE_PATH": str(PACKAGES),
            "IOTIDE_CHROMIUM": chromium(),
            "IOTIDE_URL": url,
            "IOTIDE_SESSION": site.headers["admin of all"]["Cookie"].removeprefix(f"{SESSION_COOKIE}="),
            "IOTIDE_SIGN": SIGN,
            "IOTIDE_PAGES": json.dumps(hostile.pages),
            "IOTIDE_OTHER_ORIGIN": other,
            "IOTIDE_LINK_SECRET": site.ids["link"],
        }
        seen = PACKAGES.parent / "test-results/attacks"
        command = [
            *(str(PACKAGES / ".bin/playwright"), "test", "--config", str(E2E), "--output", str(seen)),
            r"/attacks\.spec\.ts$",
        ]
        done = subprocess.run(command, env=environment, cwd=E2E, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    names = {"POST /users", "POST /clusters", "POST /alert-rules", "POST /templates", "POST /schedules"}
    assert names <= hostile.refused.keys(), "names take no such text at all"
    assert not any("/agent/" in refused for refused in hostile.refused), "the node's texts were taken"
