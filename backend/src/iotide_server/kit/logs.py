"""Log configuration of structlog and standard library loggers."""

import logging
import re
import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import Final, TextIO

import structlog
from structlog.types import EventDict, Processor, WrappedLogger

from iotide_wire.visible import visible


class LogFormat(StrEnum):
    """PLAIN: `level=info event=elected`, for people. JSON: one object per line with time and part."""

    PLAIN = "plain"
    JSON = "json"


TALKATIVE: Final = ("iotide_server", "uvicorn.error", "alembic")
"""Loggers whose info lines are written; others log only warnings and errors."""

_SECRETS: Final = re.compile(r"\b(io[tn]_)[A-Za-z0-9_-]{16,}|(://[^\s:/@]*:)[^\s/@]+(?=@)|(\bBearer )\S+")
"""Tokens, and passwords in URLs and headers. iotide logs none; libraries might."""
_HIDDEN: Final = r"\1\2\3***"
LONGEST_LINE_CHARACTERS: Final = 2000
LONGEST_TEXT_CHARACTERS: Final = 32_000
"""A logged SQL statement may be megabytes long."""
_DETAILS: Final = re.compile(r"^(DETAIL|CONTEXT):.*$", re.MULTILINE)
_PLAIN: Final = structlog.processors.LogfmtRenderer(key_order=["level", "event"], drop_missing=True)


def configure_logs(
    part: str, form: LogFormat, stream: TextIO | None = None, talkative: Sequence[str] = TALKATIVE
) -> None:
    """Configure logging. Only `talkative` loggers write info lines."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.stdlib.LoggerFactory(),
    )
    handler = logging.StreamHandler(stream or sys.stdout)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_endings(part, form)],
        )
    )
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.captureWarnings(capture=True)
    for name in talkative:
        logging.getLogger(name).setLevel(logging.INFO)


def _endings(part: str, form: LogFormat) -> list[Processor]:
    if form is LogFormat.PLAIN:
        return [cut_long, hide_secrets, written_plainly]

    def add_part(_logger: WrappedLogger, _method: str, line: EventDict) -> EventDict:
        line["part"] = part
        return line

    stamp = structlog.processors.TimeStamper(fmt="iso", utc=True, key="time")
    return [stamp, add_part, cut_long, hide_secrets, structlog.processors.JSONRenderer(default=str)]


def cut_long(_logger: WrappedLogger, _method: str, line: EventDict) -> EventDict:
    """Shorten long texts in the middle, and remove parameter values from PostgreSQL's errors."""
    return {key: _cut(value) if isinstance(value, str) else value for key, value in line.items()}


def _cut(written: str) -> str:
    if len(written) > LONGEST_LINE_CHARACTERS:
        written = "\n".join(_shortened(part, LONGEST_LINE_CHARACTERS) for part in written.split("\n"))
        if len(written) > LONGEST_TEXT_CHARACTERS:
            half = LONGEST_TEXT_CHARACTERS // 2
            written = f"{written[:half]}\n... ({len(written) - 2 * half} characters omitted) ...\n{written[-half:]}"
    return _DETAILS.sub(r"\1: not logged", written)


def _shortened(written: str, longest: int) -> str:
    left_out = len(written) - longest
    return written if left_out <= 0 else f"{written[:longest]} ... ({left_out} more characters)"


def hide_secrets(_logger: WrappedLogger, _method: str, line: EventDict) -> EventDict:
    return {key: _SECRETS.sub(_HIDDEN, value) if isinstance(value, str) else value for key, value in line.items()}


def written_plainly(logger: WrappedLogger, method: str, line: EventDict) -> str:
    """Escape control characters, so that logged input cannot forge lines."""
    return visible(_PLAIN(logger, method, line))
