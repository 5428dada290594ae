"""The compose file of a release: docker-compose.yml without the repository."""

import json
import re
import shlex
from collections.abc import Iterator
from typing import Final

_HEAD: Final = """\
# iotide {version} in containers, in one file:
#   docker compose up -d --wait && docker compose exec api iotide-server admin-link
# Variables, in the shell or in a file .env:
#   IOTIDE_REGISTRY     registry that has iotide's images; default localhost, which means images that were loaded here
"""
_OWN_IMAGE: Final = re.compile(r"^(    |  )image: (iotide-\w+).*$", re.MULTILINE)
_FROM_REPOSITORY: Final = re.compile(r"^    build: .*\n|^ +pull_policy: .*\n", re.MULTILINE)
_REDIS_COMMAND: Final = "    command: [redis-server, /etc/iotide-redis.conf]\n"
_REDIS_MOUNT: Final = "      - ./deploy/docker/redis.conf:/etc/iotide-redis.conf:ro\n"


def release_compose(compose: str, redis_conf: str, version: str) -> str:
    """Return the text of the release's compose file.

    Its images have the version, and come from the registry that IOTIDE_REGISTRY names. Redis gets its configuration on
    its command line: a container with a read-only root takes no inline file (docker/compose issue 12031).

    Raises:
        ValueError: docker-compose.yml no longer has a line that this function replaces.
    """
    _, _, rest = compose.partition("#   IOTIDE_LISTEN ")
    for line in (_REDIS_COMMAND, _REDIS_MOUNT):
        if line not in rest:
            raise ValueError(f"docker-compose.yml has no line {line.strip()!r}; change deploy/release/compose.py")
    text = _HEAD.format(version=version) + "#   IOTIDE_LISTEN " + rest
    text = _FROM_REPOSITORY.sub("", text)
    text = _OWN_IMAGE.sub(rf"\1image: ${{IOTIDE_REGISTRY:-localhost}}/\2:{version}", text)
    return text.replace(_REDIS_COMMAND, _redis_command(redis_conf)).replace(_REDIS_MOUNT, "")


def redis_words(redis_conf: str) -> list[str]:
    """Return the command line that starts Redis with the settings of a configuration file."""
    return ["redis-server", *(word for option in _redis_options(redis_conf) for word in option)]


def _redis_options(redis_conf: str) -> Iterator[list[str]]:
    for line in filter(lambda line: line and not line.startswith("#"), redis_conf.splitlines()):
        name, *values = shlex.split(line)
        yield [f"--{name}", *values]


def _redis_command(redis_conf: str) -> str:
    lines = ["    command: [", "      redis-server,"]
    lines += [f"      {json.dumps(option)[1:-1]}," for option in _redis_options(redis_conf)]
    return "\n".join([*lines, "    ]", ""])
