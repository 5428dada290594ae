"""Real proxy with an example of deploy/proxy in front of a running API, on the test's own ports and files."""

import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx2
from bring_up import free_port

PROXY: Final = Path(__file__).resolve().parents[2] / "deploy/proxy"
SECRETS: Final = PROXY.parent / "make_secrets.py"
_READY_SECONDS: Final = 20.0


@dataclass(frozen=True)
class Front:
    """A running proxy.

    Attributes:
        authority: the file of the CA to trust.
    """

    url: str
    authority: Path

    def client(self) -> httpx2.Client:
        """Return a client that trusts only its authority."""
        trust = ssl.create_default_context(cafile=self.authority)
        return httpx2.Client(base_url=f"{self.url}/api/v1", verify=trust, trust_env=False, timeout=30)


@contextmanager
def in_front(kind: str, directory: Path, api_port: int) -> Iterator[Front]:
    """Run nginx or Caddy with our example; an error contains its output if it does not start."""
    port = free_port()
    certificate = directory / "proxy"
    for path in (directory / "kept", certificate):
        path.mkdir()
    subprocess.run([sys.executable, SECRETS, directory / "kept", f"--proxy={certificate}"], check=True)
    texts = {"BENCH": "localhost", "127.0.0.1:8470": f"127.0.0.1:{api_port}", "/etc/iotide/proxy": str(certificate)}
    command = {"nginx": _nginx, "caddy": _caddy}[kind](directory, port, texts)
    log = directory / "log"
    with log.open("w") as out:
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(directory)}
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment)
    front = Front(f"https://localhost:{port}", certificate / "ca.crt")
    try:
        _wait_until_ready(front, process, log)
        yield front
    finally:
        process.terminate()
        process.wait(20)


def _nginx(directory: Path, port: int, texts: dict[str, str]) -> list[str]:
    site = _adapted("nginx.conf", texts | {"/etc/nginx/iotide": str(PROXY), "443": str(port)})
    temporary = "".join(
        f"{name}_temp_path {directory / name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (directory / "site.conf").write_text(site)
    (directory / "nginx.conf").write_text(
        f"daemon off;\nuser root;\nworker_processes 1;\npid {directory}/pid;\nerror_log stderr;\n"
        f"events {{ worker_connections 4096; }}\n"
        f"http {{\naccess_log off;\n{temporary}include {directory}/site.conf;\n}}\n"
    )
    command = ["nginx", "-p", str(directory), "-c", str(directory / "nginx.conf")]
    subprocess.run([*command, "-t"], check=True, capture_output=True)
    return command


def _caddy(directory: Path, port: int, texts: dict[str, str]) -> list[str]:
    site = _adapted("Caddyfile", texts | {"localhost {": f"localhost:{port} {{"})
    options = "{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n"
    file = directory / "Caddyfile"
    file.write_text(options + site)
    arguments = ["--config", str(file), "--adapter", "caddyfile"]
    subprocess.run(["caddy", "validate", *arguments], check=True, capture_output=True, env={"HOME": str(directory)})
    return ["caddy", "run", *arguments]


def _adapted(example: str, texts: dict[str, str]) -> str:
    text = (PROXY / example).read_text()
    for old, new in texts.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


def _wait_until_ready(front: Front, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while True:
        try:
            with front.client() as client:
                client.get("/ready").raise_for_status()
        except httpx2.HTTPError as error:
            if process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(log.read_text()) from error
            time.sleep(0.1)
        else:
            return
