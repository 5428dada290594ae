"""The one way of every line of log: ours by structlog, those of libraries by the standard module, all in one form."""

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
    """PLAIN: `level=info event=elected`, for people. JSON: an object a line, with time and part, for programs."""

    PLAIN = "plain"
    JSON = "json"


TALKATIVE: Final = ("iotide_server", "uvicorn.error", "alembic")
"""What tells of its usual work; of other libraries only what is odd is wanted."""

_SECRETS: Final = re.compile(r"\b(io[tn]_)[A-Za-z0-9_-]{16,}|(://[^\s:/@]*:)[^\s/@]+(?=@)|(\bBearer )\S+")
"""API and node tokens, passwords in URLs and headers. No line of ours has one: this is for those of libraries."""
_HIDDEN: Final = r"\1\2\3***"
LONGEST_LINE_CHARACTERS: Final = 2000
LONGEST_TEXT_CHARACTERS: Final = 32_000
"""What is logged of one line of a text and of the whole text; a statement may have megabytes, and fill all that is
kept."""
_DETAILS: Final = re.compile(r"^(DETAIL|CONTEXT):.*$", re.MULTILINE)
"""Where PostgreSQL repeats values that it was given."""
_PLAIN: Final = structlog.processors.LogfmtRenderer(key_order=["level", "event"], drop_missing=True)


def configure_logs(
    part: str, form: LogFormat, stream: TextIO | None = None, talkative: Sequence[str] = TALKATIVE
) -> None:
    """Have all that this process, `part` of the server, logs written in that form, usual lines of `talkative` alone."""
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
    """Return the line with long texts cut, and without the values that PostgreSQL repeats in its errors."""
    return {key: _cut(value) if isinstance(value, str) else value for key, value in line.items()}


def _cut(written: str) -> str:
    if len(written) > LONGEST_LINE_CHARACTERS:
        written = "\n".join(_shortened(part, LONGEST_LINE_CHARACTERS) for part in written.split("\n"))
        if len(written) > LONGEST_TEXT_CHARACTERS:
            # The beginning says what was done, the end what went wrong.
            half = LONGEST_TEXT_CHARACTERS // 2
            written = f"{written[:half]}\n... ({len(written) - 2 * half} characters left out) ...\n{written[-half:]}"
    return _DETAILS.sub(r"\1: not logged", written)


def _shortened(written: str, longest: int) -> str:
    left_out = len(written) - longest
    return written if left_out <= 0 else f"{written[:longest]} ... ({left_out} more characters)"


def hide_secrets(_logger: WrappedLogger, _method: str, line: EventDict) -> EventDict:
    """The line with stars for every secret that has the form of one."""
    return {key: _SECRETS.sub(_HIDDEN, value) if isinstance(value, str) else value for key, value in line.items()}


def written_plainly(logger: WrappedLogger, method: str, line: EventDict) -> str:
    """The line for people; what nodes and people said in it neither begins another one nor moves the cursor."""
    return visible(_PLAIN(logger, method, line))
