"""Logs of the agent's processes: text, or JSON objects if IOTIDE_LOG_FORMAT is `json`.

Each message is an event and its fields, `claimed order_id=%d run_id=%d`. JSON has the same fields, by name.
"""

import json
import logging
import os
import re
import sys
from datetime import UTC, datetime
from typing import Final

from iotide_agent.node.config import ConfigError
from iotide_wire.visible import visible

FORMAT_VARIABLE: Final = "IOTIDE_LOG_FORMAT"
_FORMATS: Final = ("plain", "json")
_PLAIN: Final = "%(asctime)s %(levelname)s %(name)s %(message)s"
_FIELD: Final = re.compile(r"(\w+)=%[sdr]")


class PlainLines(logging.Formatter):
    """Text with control characters escaped, so that messages of servers and tools cannot forge lines."""

    def __init__(self) -> None:
        super().__init__(_PLAIN)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the module's own name for it
        return visible(super().formatMessage(record))


class JsonLines(logging.Formatter):
    """One object per line: `time` (UTC), `level`, `part`, `logger`, `event` and the message's fields."""

    def __init__(self, part: str) -> None:
        super().__init__()
        self._part = part

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="microseconds"),
            "level": record.levelname.lower(),
            "part": self._part,
            "logger": record.name,
            **_event_of(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def _event_of(record: logging.LogRecord) -> dict[str, object]:
    """Take fields from the template only, so that no value becomes one; a library's message is an event."""
    event, _, _ = str(record.msg).partition(" ")
    names = _FIELD.findall(str(record.msg))
    if isinstance(record.args, tuple) and names and len(names) == len(record.args):
        return {"event": event, **dict(zip(names, record.args, strict=True))}
    return {"event": record.getMessage()}


def log_to_stderr(part: str) -> None:
    """Log to standard error as the process `part`, for instance `worker`; raise ConfigError for an unknown format."""
    form = os.environ.get(FORMAT_VARIABLE, _FORMATS[0])
    if form not in _FORMATS:
        raise ConfigError(FORMAT_VARIABLE, form, f"set it to {' or '.join(_FORMATS)}")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(part) if form == "json" else PlainLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    logging.getLogger("httpx2").setLevel(logging.WARNING)
