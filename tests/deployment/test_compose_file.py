"""Promises of docker-compose.yml, read from the file: no engine is needed."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from iotide_server.bundled.redis import BOUND_OF_ALL_CLIENTS, BOUNDS

ROOT: Final = Path(__file__).resolve().parents[2]
FILE: Final = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: Final[dict[str, dict[str, Any]]] = FILE["services"]
ONE_SHOT: Final = {
    "secrets": "writes files and ends; the others wait for its success",
    "migrate": "migrates and ends; the API waits for its success",
    "join": "writes a token and ends; the agent waits for its success",
}
"""Services without a health check, and why."""
LOOPBACK_UNLESS_ASKED: Final = "${IOTIDE_LISTEN:-127.0.0.1}:"
PUBLISHED: Final = {"proxy", "redis"}
OUR_IMAGES: Final = {"iotide-server", "iotide-proxy", "iotide-agent"}
"""Built from the repository, so their version is that of the checkout."""
SECRET_WORDS: Final = re.compile(r"password|secret|token|key|credential", re.IGNORECASE)


@pytest.fixture(params=sorted(SERVICES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def texts(value: object) -> Iterator[str]:
    """Yield every string inside."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from texts(key)
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)
    elif isinstance(value, str):
        yield value


def test_ports_are_published_on_loopback_unless_an_address_is_named(name: str) -> None:
    ports = SERVICES[name].get("ports", [])
    assert all(isinstance(port, str) and port.startswith(LOOPBACK_UNLESS_ASKED) for port in ports)
    assert bool(ports) == (name in PUBLISHED)
    assert SERVICES[name].get("network_mode", "none") == "none"  # host would publish every listening port


def test_every_service_has_a_health_check(name: str) -> None:
    has_check = bool(SERVICES[name].get("healthcheck", {}).get("test"))
    assert has_check != (name in ONE_SHOT)
    assert SERVICES[name]["restart"] == ("no" if name in ONE_SHOT else "unless-stopped")


def test_a_service_that_ends_is_waited_for(name: str) -> None:
    """`up --wait` takes a service that ended and that no other waits for as failed."""
    waited = [other.get("depends_on", {}).get(name, {}).get("condition") for other in SERVICES.values()]
    assert name not in ONE_SHOT or "service_completed_successfully" in waited


def test_a_service_is_an_ordinary_user_on_a_read_only_root_without_any_capability(name: str) -> None:
    service = SERVICES[name]
    user, _, group = str(service["user"]).partition(":")
    assert int(user) > 0
    assert int(group) > 0
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert not {"privileged", "cap_add", "devices", "pid", "ipc", "userns_mode"} & service.keys()
    assert service["pids_limit"] > 0


def test_an_image_has_a_version(name: str) -> None:
    image, _, version = SERVICES[name]["image"].partition(":")
    assert image in OUR_IMAGES or re.fullmatch(r"\d+(\.\d+)*(-\w+)?", version)


def test_no_secret_is_in_the_file(name: str) -> None:
    for variable, value in (SERVICES[name].get("environment") or {}).items():
        assert not SECRET_WORDS.search(variable) or str(value).startswith("/run/"), variable  # a file, or a directory
        assert not re.search(r"://[^/@]*:[^/@]+@", str(value)), variable
    for text in texts(SERVICES[name]):
        # `${SOMETHING_PASSWORD:-default}` would be a publicly known default.
        assert not re.search(r"\$\{\w*(PASSWORD|SECRET|TOKEN|KEY)\w*", text), text
        assert not re.search(r"://[^/@{]+:(?!\{password\})[^/@]+@", text), text


def test_each_part_reads_only_its_own_secrets(name: str) -> None:
    mounted = {str(volume).partition(":")[0]: str(volume) for volume in SERVICES[name].get("volumes", [])}
    shared = {
        "server-secrets": {"migrate", "api", "scheduler", "worker", "join"},
        "postgres-secrets": {"postgres"},
        "redis-secrets": {"redis"},
        "proxy-secrets": {"proxy"},
        "secrets": set(),
    }
    for volume, readers in shared.items():
        assert (volume in mounted) == (name in readers or name == "secrets")
        assert name == "secrets" or volume not in mounted or mounted[volume].endswith(":ro")


def test_only_the_proxy_leads_from_outside_to_the_server() -> None:
    networks = {name: set(service.get("networks", [])) for name, service in SERVICES.items()}
    assert FILE["networks"]["inside"] == {"internal": True}
    assert {name for name, joined in networks.items() if {"inside", "outside"} <= joined} == {"proxy", "redis"}
    assert networks["agent"] == {"outside"}
    assert networks["postgres"] == networks["scheduler"] == networks["migrate"] == {"inside"}
    assert not any("outside" in networks[name] for name in ("api", "worker"))


def test_backups_are_written_by_the_same_postgresqls_pg_dump_out_of_reach_of_the_api() -> None:
    dockerfile = (ROOT / "deploy/docker/Dockerfile").read_text()
    _, _, server = dockerfile.partition("FROM python AS server\n")
    clients = re.findall(r"apt-get install .*\bpostgresql-client-(\d+)", server.partition("\nFROM ")[0])
    assert clients == [SERVICES["postgres"]["image"].removeprefix("postgres:")]
    # With a tag of Debian's newest release, the package would be missing after the next one.
    assert re.search(r"^FROM python:[\d.]+-slim-[a-z]+ AS python$", dockerfile, re.MULTILINE)
    having = {name for name, service in SERVICES.items() if "backups:/backup" in service.get("volumes", [])}
    assert having == {"scheduler"}
    assert set(SERVICES["scheduler"]["networks"]) == {"inside"}
    assert re.search(r"install -d -o iotide -g iotide -m 700 [^\\]*/backup\b", server)


def test_every_volume_has_a_name(name: str) -> None:
    sources = {str(volume).partition(":")[0] for volume in SERVICES[name].get("volumes", [])}
    assert {source for source in sources if not source.startswith("./")} <= FILE["volumes"].keys()


def test_redis_has_no_default_user_no_plain_port_and_is_durable() -> None:
    lines = (ROOT / "deploy/docker/redis.conf").read_text().splitlines()
    assert {"port 0", "tls-port 6379", "appendonly yes", "aclfile /run/iotide/users.acl"} <= set(lines)
    assert not [line for line in lines if line.startswith(("user ", "requirepass"))]


@pytest.mark.parametrize("path", ["deploy/docker/redis.conf", "deploy/systemd/redis-iotide.conf"])
def test_redis_has_the_memory_limit_of_iotide_server_up(path: str) -> None:
    lines = (ROOT / path).read_text().splitlines()
    assert {*BOUNDS, BOUND_OF_ALL_CLIENTS} <= set(lines)
