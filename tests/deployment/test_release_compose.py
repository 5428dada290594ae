"""The compose file of a release, made from docker-compose.yml."""

import re
import shlex
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from release.compose import redis_words, release_compose

ROOT: Final = Path(__file__).resolve().parents[2]
OURS: Final = (ROOT / "docker-compose.yml").read_text()
REDIS: Final = (ROOT / "deploy/docker/redis.conf").read_text()
TEXT: Final = release_compose(OURS, REDIS, "1.2.3")
BUILT: Final[dict[str, Any]] = yaml.safe_load(OURS)
PULLED: Final[dict[str, Any]] = yaml.safe_load(TEXT)


def test_it_needs_no_repository() -> None:
    services = PULLED["services"]
    assert not [name for name, service in services.items() if "build" in service or "pull_policy" in service]
    volumes = [volume for service in services.values() for volume in service.get("volumes", [])]
    assert not [volume for volume in volumes if volume.startswith(".")]


def test_our_images_have_the_version_and_come_from_the_registry_that_a_setting_names() -> None:
    images = {name: service["image"] for name, service in PULLED["services"].items()}
    ours = {name: image for name, image in images.items() if "iotide" in BUILT["services"][name]["image"]}
    registry = "${IOTIDE_REGISTRY:-localhost}"
    assert set(ours.values()) == {f"{registry}/iotide-{part}:1.2.3" for part in ("server", "proxy", "agent")}
    assert {name: images[name] for name in images.keys() - ours.keys()} == {
        "postgres": "postgres:15",
        "redis": "redis:7",
    }


def test_everything_else_is_that_of_the_built_containers() -> None:
    for name, service in BUILT["services"].items():
        own = {key: value for key, value in service.items() if key not in {"build", "image", "pull_policy"}}
        pulled = {key: value for key, value in PULLED["services"][name].items() if key != "image"}
        if name == "redis":
            own["volumes"] = [volume for volume in own["volumes"] if not volume.startswith("./")]
            own["command"] = pulled["command"]
        assert pulled == own
    others = {"services", "x-server"}
    assert {key: value for key, value in PULLED.items() if key not in others} == {
        key: value for key, value in BUILT.items() if key not in others
    }


def test_redis_gets_each_line_of_its_configuration_as_an_option() -> None:
    words = redis_words(REDIS)
    assert PULLED["services"]["redis"]["command"] == words
    assert words[0] == "redis-server"
    options = re.split(r" --", shlex.join(words))[1:]
    lines = [line for line in REDIS.splitlines() if not line.startswith("#")]
    assert [shlex.split(option) for option in options] == [shlex.split(line) for line in lines]


def test_all_variables_are_named_at_the_head_of_the_file() -> None:
    head, _, body = TEXT.partition("\nname: iotide\n")
    used = set(re.findall(r"\$\{(IOTIDE_\w+)", body)) - {"IOTIDE_AGENT_SERVER"}
    assert used == set(re.findall(r"IOTIDE_\w+", head))


def test_a_line_that_is_no_longer_there_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"change deploy/release/compose\.py"):
        release_compose(OURS.replace("/etc/iotide-redis.conf", "/etc/redis.conf"), REDIS, "1.2.3")
