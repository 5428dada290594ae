import ast
import io
import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import iotide_agent
from iotide_agent.logs import FORMAT_VARIABLE, JsonLines, PlainLines, log_to_stderr
from iotide_agent.node.config import ConfigError

_TEMPLATE = re.compile(r"[a-z][a-z0-9_]*( \w+=%[sdr])*")


@pytest.fixture
def logger() -> Iterator[tuple[logging.Logger, io.StringIO]]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines("agent"))
    logger = logging.getLogger("test_logs")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield logger, stream
    logger.removeHandler(handler)


def line(stream: io.StringIO) -> dict[str, Any]:
    (only,) = stream.getvalue().splitlines()
    found: dict[str, Any] = json.loads(only)
    return found


def test_fields_are_those_of_the_template_whatever_their_values_hold(
    logger: tuple[logging.Logger, io.StringIO],
) -> None:
    log, stream = logger
    log.info("claimed order_id=%d run_id=%d workload=%s", 7, 3, 'x" level=error order_id=9\n{')
    said = line(stream)
    assert (said["event"], said["order_id"], said["run_id"]) == ("claimed", 7, 3)
    assert said["workload"] == 'x" level=error order_id=9\n{'
    assert (said["level"], said["part"]) == ("info", "agent")
    assert said["time"].endswith("+00:00")


def test_server_text_starts_no_new_line_and_moves_no_cursor(
    logger: tuple[logging.Logger, io.StringIO],
) -> None:
    log, stream = logger
    log.handlers[0].setFormatter(PlainLines())
    log.warning("beat_refused error=%s", "no\n2026-11-25 INFO iotide_agent.core.calls greeted\r\x1b[2Ka\u2028b \u00fc")
    (only,) = stream.getvalue().splitlines()
    said, _, umlaut = only.partition("b ")
    assert said.endswith(r"beat_refused error=no\n2026-11-25 INFO iotide_agent.core.calls greeted\r\x1b[2Ka\u2028")
    assert umlaut == "\u00fc"


def test_a_library_s_message_is_logged_unchanged(logger: tuple[logging.Logger, io.StringIO]) -> None:
    log, stream = logger
    log.warning("Connection to %s lost", "redis")
    assert line(stream)["event"] == "Connection to redis lost"


def test_a_trace_is_part_of_its_line(logger: tuple[logging.Logger, io.StringIO]) -> None:
    log, stream = logger
    try:
        Path("/nowhere/at/all").read_text()
    except OSError:
        log.exception("condition_unknown")
    assert "FileNotFoundError: " in line(stream)["exception"]


def test_an_unknown_form_is_refused_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FORMAT_VARIABLE, "xml")
    with pytest.raises(ConfigError, match="plain or json"):
        log_to_stderr("agent")


def test_every_message_of_the_agent_is_an_event_with_named_fields() -> None:
    odd = []
    for path in Path(iotide_agent.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "_logger"):
                continue
            first = node.args[0]
            text = first.value if isinstance(first, ast.Constant) else None
            if not (isinstance(text, str) and _TEMPLATE.fullmatch(text) and text.count("%") == len(node.args) - 1):
                odd.append(f"{path.name}:{node.lineno}")
    assert odd == []
