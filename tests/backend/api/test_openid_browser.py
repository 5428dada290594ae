"""A sign-in in a real Chromium, at a real provider, on the built browser application."""

import os
import subprocess
import threading
import time
from pathlib import Path

import pytest
import uvicorn
from bring_up import free_port
from browsers import chromium
from openid_provider import CLIENT_ID, CLIENT_SECRET, HERE, running_provider
from pydantic import SecretStr

from iotide_server.main import create_app
from iotide_server.settings import Settings

PACKAGES = Path(__file__).parents[3] / "frontend/node_modules"


@pytest.mark.timeout(600)
def test_a_person_looks_around_is_throttled_logs_in_at_the_provider_and_leaves(database_url: str) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with running_provider(url, {"u-17": {"preferred_username": "grace", "groups": ["storage"]}}) as provider:
        settings = Settings(
            database_url=SecretStr(database_url),
            redis_url=SecretStr("redis://127.0.0.1:1/0"),
            public_url=url,
            public_read=True,
            oidc_issuer=provider.issuer,
            oidc_client_id=CLIENT_ID,
            oidc_client_secret=SecretStr(CLIENT_SECRET),
            oidc_name="Campus",
            oidc_scopes="openid profile groups",
            oidc_roles={"storage": "admin"},
        )
        server = uvicorn.Server(
            uvicorn.Config(
                create_app(settings), port=port, log_level="warning", log_config=None, timeout_graceful_shutdown=1
            )
        )
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            while not server.started:
                time.sleep(0.05)
            done = subprocess.run(
                ["node", "walk.cjs", url, chromium()],
                cwd=HERE,
                env={**os.environ, "NODE_PATH": str(PACKAGES)},
                capture_output=True,
                text=True,
                check=False,
            )
        finally:
            server.should_exit = True
            thread.join()
    assert done.returncode == 0, done.stdout + done.stderr
