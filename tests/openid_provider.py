"""A real OpenID provider on loopback: oidc-provider in a separate process, with the test's accounts."""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx2

HERE = Path(__file__).parent / "openid"
CLIENT_ID, CLIENT_SECRET = "iotide", "of-the-tests-alone"
_MOST_STEPS = 12


@dataclass(frozen=True)
class OpenIdProvider:
    issuer: str
    process: subprocess.Popen[str]


@contextmanager
def running_provider(public_url: str, accounts: Mapping[str, Mapping[str, Any]]) -> Iterator[OpenIdProvider]:
    """Run the provider with a client for the iotide at `public_url`; `accounts` has the claims of each subject.

    Raises:
        RuntimeError: it did not start; its packages are installed by `npm ci --prefix tests/openid`.
    """
    given = {
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "redirect_uris": [f"{public_url}/api/v1/session/provider/callback"],
        "post_logout_redirect_uris": [f"{public_url}/login"],
        "accounts": accounts,
    }
    process = subprocess.Popen(
        ["node", "provider.mjs", json.dumps(given)],
        cwd=HERE,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            issuer = process.stdout.readline().strip()
            if not issuer:
                raise RuntimeError("the OpenID provider did not start: run npm ci --prefix tests/openid")
            yield OpenIdProvider(issuer, process)
        finally:
            process.kill()


def consent(authorize_url: str, account: str, *, until: str) -> str:
    """Sign in at the provider as a person in a browser does; return the redirect that begins with `until`."""
    with httpx2.Client() as browser:
        response = browser.get(authorize_url)
        for _ in range(_MOST_STEPS):
            if response.is_redirect:
                target = urljoin(str(response.url), response.headers["location"])
                if target.startswith(until):
                    return target
                response = browser.get(target)
                continue
            form = re.search(r'<form[^>]*action="([^"]+)"', response.text)
            prompt = re.search(r'name="prompt" value="(\w+)"', response.text)
            if form is None or prompt is None:
                break
            fields = {"prompt": prompt[1], "login": account, "password": "any"}
            response = browser.post(urljoin(str(response.url), unescape(form[1])), data=fields)
        raise AssertionError(f"the provider shows {response.status_code}: {response.text[:500]}")


def abort(authorize_url: str, *, until: str) -> str:
    """Cancel at the provider's page; return the redirect."""
    with httpx2.Client() as browser:
        response = browser.get(authorize_url, follow_redirects=True)
        link = re.search(r'href="([^"]+/abort)"', response.text)
        assert link, response.text[:500]
        response = browser.get(urljoin(str(response.url), unescape(link[1])))
        while response.is_redirect:
            target = urljoin(str(response.url), response.headers["location"])
            if target.startswith(until):
                return target
            response = browser.get(target)
        raise AssertionError(f"the provider shows {response.status_code}: {response.text[:500]}")
