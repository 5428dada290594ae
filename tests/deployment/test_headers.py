"""The proxy of docker-compose.yml serves the pages itself, with the same headers as the API."""

import re
from pathlib import Path
from typing import Final

from iotide_server.kit import guard
from iotide_server.kit.bodies import BodyLimit
from iotide_server.main import BODY_LIMITS
from iotide_wire.units import MIB

PROXY: Final = Path(__file__).resolve().parents[2] / "deploy/proxy"
DOCKER: Final = PROXY.parent / "docker"


def test_the_proxys_security_headers_are_the_apis() -> None:
    said = dict(re.findall(r'add_header (\S+) "?(.*?)"? always;', (PROXY / "headers.conf").read_text()))
    assert said == guard._SECURITY_HEADERS


def test_every_place_of_files_has_the_headers() -> None:
    """nginx inherits no header in a location that adds its own."""
    server = (DOCKER / "nginx.conf").read_text()
    places = re.findall(r"(?s)location (\S+) \{(.*?)\n        \}", server)
    assert [path for path, text in places if "add_header" in text and "headers.conf" not in text] == []


def test_bodies_up_to_the_apis_limits_pass_so_that_it_refuses_the_rest_in_its_own_words() -> None:
    text = (PROXY / "api.conf").read_text()
    limits = dict(re.findall(r"location (/api/\S*) \{\s*client_max_body_size (\d+)m;", text))
    of_agents = [limit for pattern, limit in BODY_LIMITS.items() if "/agent/" in pattern.pattern]
    others = [limit for limit in BODY_LIMITS.values() if limit not in of_agents]
    assert int(limits["/api/"]) * MIB > max(limit.size_bytes for limit in (BodyLimit(), *others))
    assert int(limits["/api/v1/agent/"]) * MIB > max(limit.size_bytes for limit in of_agents)
