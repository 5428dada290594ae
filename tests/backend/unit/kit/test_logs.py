import io
import json
import logging
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import structlog
import uvicorn
from own_logging import logging_kept
from structlog.contextvars import bound_contextvars

from iotide_server.kit.logs import LogFormat, configure_logs


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """Logged lines. structlog is restored afterwards, like the standard library's logging after each test."""
    yield io.StringIO()
    structlog.reset_defaults()


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_of_ours_and_one_of_a_library_have_the_same_form(stream: io.StringIO) -> None:
    configure_logs("worker", LogFormat.JSON, stream)
    with bound_contextvars(request_id="r-1", run_id=7):
        structlog.get_logger("iotide_server.runs").info("run_moved", state="finished")
        logging.getLogger("celery.worker").warning("lost %s", "a message")
    ours, foreign = lines(stream)
    assert {"event", "level", "time", "part", "request_id", "run_id"} <= ours.keys() & foreign.keys()
    assert (ours["event"], ours["level"], ours["part"], ours["state"]) == ("run_moved", "info", "worker", "finished")
    assert (foreign["event"], foreign["level"], foreign["run_id"]) == ("lost a message", "warning", 7)
    assert datetime.fromisoformat(ours["time"]).tzinfo == UTC


def test_an_error_is_one_line_with_its_trace(stream: io.StringIO) -> None:
    configure_logs("api", LogFormat.JSON, stream)
    try:
        int("so it is")
    except ValueError:
        structlog.get_logger().exception("request_failed")
        logging.getLogger("uvicorn.error").exception("odd")
    assert all("so it is" in line["exception"] for line in lines(stream))


def test_only_warnings_of_libraries_are_logged(stream: io.StringIO) -> None:
    configure_logs("api", LogFormat.JSON, stream)
    logging.getLogger("celery.worker").info("Connected to redis")
    logging.getLogger("uvicorn.error").info("Started server process")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(capture=True)
        warnings.warn("old way", DeprecationWarning, stacklevel=1)
    events = [line["event"] for line in lines(stream)]
    assert events[0] == "Started server process"
    assert "old way" in events[1]


def test_logging_configured_by_a_test_reaches_no_other_test(stream: io.StringIO) -> None:
    with logging_kept():
        uvicorn.Config("nothing:here")
        assert not logging.getLogger("uvicorn").propagate
    configure_logs("api", LogFormat.PLAIN, stream)
    logging.getLogger("uvicorn.error").info("Started server process")
    assert stream.getvalue() == 'level=info event="Started server process"\n'


def test_people_read_one_event_and_its_fields(stream: io.StringIO) -> None:
    configure_logs("scheduler", LogFormat.PLAIN, stream)
    structlog.get_logger("iotide_server.scheduler").info("elected", run_id=7)
    logging.getLogger("kombu").warning("away")
    assert stream.getvalue() == "level=info event=elected run_id=7\nlevel=warning event=away\n"


def test_texts_of_nodes_and_people_begin_no_log_line_and_move_no_cursor(stream: io.StringIO) -> None:
    configure_logs("api", LogFormat.PLAIN, stream)
    said = "no\nlevel=info event=elected\r\x1b[2K\x9b2Ka\u2028b \u00fc"
    structlog.get_logger("iotide_server.agent_api").info("refused", why=said)
    logging.getLogger("kombu").warning("away: %s", said)
    try:
        int(said)
    except ValueError:
        logging.getLogger("uvicorn.error").exception("odd")
    assert stream.getvalue().count("\n") == len(stream.getvalue().splitlines()) == 3
    assert not set(stream.getvalue()) & set("\r\x1b\x9b\u2028")
    assert stream.getvalue().count("x1b[2K") == 3
    assert "\u00fc" in stream.getvalue()


@pytest.mark.parametrize("form", LogFormat)
@pytest.mark.parametrize(
    ("said", "secret"),
    [
        ("GET with iot_abcdefghijklmnopqrstuvwxyz", "abcdefgh"),
        ("node ion_ABCDEFGHIJKLMNOPQRSTUVWX failed", "ABCDEFGH"),
        ("cannot connect to redis://iotide-server:hunter2@127.0.0.1:6379/0", "hunter2"),
        ("postgresql://iotide:p%40ss@db/iotide", "p%40ss"),
        ("Authorization: Bearer eyJhbGciOi", "eyJhbGciOi"),
    ],
)
def test_a_value_in_the_form_of_a_secret_is_starred_even_in_a_trace(
    stream: io.StringIO, form: LogFormat, said: str, secret: str
) -> None:
    configure_logs("api", form, stream)
    logging.getLogger("library").warning(said)
    try:
        int(said)
    except ValueError:
        structlog.get_logger().exception("failed", url=said)
    assert stream.getvalue().count("***") >= 3
    assert secret not in stream.getvalue()
