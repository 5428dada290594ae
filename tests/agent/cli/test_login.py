"""`iotide login` against fake servers: what it keeps, and which server gets the kept token."""

import hashlib
import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from factories.commands import Hurried, Iotide
from factories.fake_server import FakeServer
from handing_out import intercepting

from iotide_agent.cli import login
from iotide_agent.cli.kept_login import Login, keep, kept_login, login_file
from iotide_agent.cli.login import code_of
from iotide_server.bundled.tls import fingerprint

from .responses import page

UNKNOWN = (401, {"error": {"code": "not_authenticated", "message": "unknown", "remedy": None}})
KNOWN = (200, {"principal": {"name": "grace"}})


class Expiring(Hurried):
    """A clock that moves a minute with each reading."""

    seconds = 0.0

    @classmethod
    def monotonic(cls) -> float:
        cls.seconds += 60
        return cls.seconds


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch, server: FakeServer) -> None:
    assert server.url  # its fixture sets the variables that are removed here
    monkeypatch.setattr(login, "time", Expiring)
    for name in ("IOTIDE_URL", "IOTIDE_TOKEN", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)


def test_a_confirmed_login_is_kept_for_this_user_only(server: FakeServer, iotide: Iotide) -> None:
    server.on("GET /session", UNKNOWN, (None, None), UNKNOWN, KNOWN)
    ended = iotide("login", f"{server.url}/")
    assert ended.status == 0, ended.err
    assert "signed in as grace" in ended.out
    kept = kept_login()
    assert kept is not None
    assert (kept.url, kept.ca_pem) == (server.url, None)
    assert (login_file().stat().st_mode & 0o777, login_file().parent.stat().st_mode & 0o777) == (0o600, 0o700)
    (address,) = re.findall(rf"{server.url}/connect\S+", ended.out)
    asked = parse_qs(urlsplit(address).query)
    digest = hashlib.sha256(kept.token.encode()).hexdigest()
    assert asked["login"] == [f"sha256-{digest}"]
    assert code_of(digest) in ended.out
    assert kept.token not in ended.out
    server.on("GET /clusters?limit=200", (200, page()))
    server.on("GET /nodes?limit=200", (200, page()))
    iotide("nodes")
    assert {request.headers["Authorization"] for request in server.requests[-2:]} == {f"Bearer {kept.token}"}


def test_a_login_that_is_never_confirmed_expires_and_keeps_nothing(server: FakeServer, iotide: Iotide) -> None:
    server.on("GET /session", UNKNOWN)
    ended = iotide("login", server.url)
    assert ended.status == 2
    assert "was not confirmed within 10 minutes" in ended.err
    assert len(server.requests) < 12
    assert not login_file().exists()


def test_the_kept_token_goes_to_no_other_server(server: FakeServer, iotide: Iotide) -> None:
    keep(Login("https://iotide.example:8470", "iot_kept", None))
    refused = iotide("--url", server.url, "nodes")
    assert refused.status == 2
    assert "run `iotide login URL`" in refused.err
    assert server.requests == []


def test_a_file_of_another_form_counts_as_no_login(iotide: Iotide) -> None:
    keep(Login("https://iotide.example:8470", "iot_kept", None))
    login_file().write_text(json.dumps({"url": 7}))
    assert kept_login() is None
    assert "no API token" in iotide("nodes").err


@pytest.mark.parametrize("url", ["iotide.example", "http://iotide.example:8470", "ftp://iotide.example"])
def test_only_an_encrypted_server_gets_a_login(iotide: Iotide, url: str) -> None:
    refused = iotide("login", url)
    assert refused.status == 2
    assert "is not an https address" in refused.err


def test_an_unknown_authority_needs_a_decision(iotide: Iotide, tmp_path: Path) -> None:
    with intercepting(tmp_path / "tls") as other:
        known_by = fingerprint(other.ca_pem)
        asked = iotide("login", other.url)
        assert asked.status == 2
        assert known_by in asked.out
        assert f"use --fingerprint {known_by}" in asked.err
        refused = iotide("login", other.url, "--fingerprint", "0" * 64)
        assert "shows no certificate with the fingerprint" in refused.err
        assert other.requests == []
        other.answers["/api/v1/session"] = json.dumps(KNOWN[1]).encode()
        assert iotide("login", other.url, "--fingerprint", known_by).status == 0
        kept = kept_login()
        assert kept is not None
        assert kept.ca_pem is not None
        assert fingerprint(kept.ca_pem) == known_by
        # Known from now on.
        assert iotide("login", other.url).status == 0


def test_a_server_that_is_away_is_named(iotide: Iotide) -> None:
    refused = iotide("login", "https://127.0.0.1:1")
    assert refused.status == 2
    assert "https://127.0.0.1:1 does not answer" in refused.err
