"""The administrator's browser, by the requests that its pages make."""

import json
import ssl
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit


class Desk:
    """A browser that trusts the server's authority; each click of its user is recorded."""

    def __init__(self, url: str, authority: Path, sign_in_link: str) -> None:
        self.url = url
        self.host = urlsplit(url).hostname or ""
        self.clicks: list[str] = []
        context = ssl.create_default_context(cafile=str(authority))
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}),
            urllib.request.HTTPSHandler(context=context),
            urllib.request.HTTPCookieProcessor(CookieJar()),
        )
        token = sign_in_link.strip().partition("#token=")[2]
        self.call("POST", "/session/link", {"token": token}, click="open the sign-in link")

    def call(self, method: str, path: str, body: object = None, *, click: str | None = None) -> Any:  # noqa: ANN401 - JSON
        """Return the route's answer.

        Args:
            click: the user's action; None if the page sends the request automatically.
        """
        if click is not None:
            self.clicks.append(click)
        data = json.dumps(body).encode() if body is not None else None
        headers = {"Content-Type": "application/json", "X-Iotide-Csrf": "1"}
        request = urllib.request.Request(f"{self.url}/api/v1{path}", data, headers, method=method)  # noqa: S310 - our own
        with self._opener.open(request, timeout=30) as answer:
            return json.loads(answer.read() or "null")

    def join_token(self, cluster_id: int) -> Any:  # noqa: ANN401 - JSON
        # As the page requests it if nothing was unticked.
        terms = {"uses": 100, "expires_in_seconds": 3600, "needs_approval": True}
        return self.call("POST", f"/clusters/{cluster_id}/join-tokens", terms, click="create a join token")

    def approve(self, cluster_id: int) -> None:
        waiting = self.call("GET", f"/clusters/{cluster_id}/pending-nodes")["items"]
        chosen = {"pending_ids": [host["id"] for host in waiting]}
        self.call("POST", f"/clusters/{cluster_id}/pending-nodes/approve", chosen, click="approve the node")

    def make_target(self, cluster_id: int, candidate: Any) -> None:  # noqa: ANN401 - JSON
        (place,) = candidate["places"]
        target = {"cluster_id": cluster_id, "name": candidate["suggested_name"], "path": place["path"]}
        more = {"scope": candidate["scope"], "nodes": [place["node_id"]]}
        self.call("POST", "/targets", {**target, **more}, click=f"tick {place['path']}")

    def confirm_login(self, address: str) -> None:
        """Confirm the login of a command at the address that it printed."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        login = {
            "name": asked["name"],
            "scopes": ["read", "operate"],
            "secret_sha256": asked["login"].removeprefix("sha256-"),
            "asked_at": asked["at"],
        }
        self.call("POST", "/tokens/login", login, click="compare the code, confirm the login")
