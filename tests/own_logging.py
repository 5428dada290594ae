"""The standard library's logging, restored after a test."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_NEW: Final[tuple[list[logging.Handler], int, bool, bool]] = ([], logging.NOTSET, True, False)


@contextmanager
def logging_kept() -> Iterator[None]:
    """Restore handlers, level, propagation and state of every logger afterwards, including new ones.

    Otherwise the configuration of a test or its code affects every later test, as `uvicorn.Config` does when created.
    """
    before = {logger: _state_of(logger) for logger in _loggers()}
    try:
        yield
    finally:
        logging.captureWarnings(capture=False)
        for logger in _loggers():
            handlers, level, logger.propagate, logger.disabled = before.get(logger, _NEW)
            logger.handlers[:] = handlers
            if logger.level != level:  # setting it empties the caches of all loggers
                logger.setLevel(level)


def _loggers() -> list[logging.Logger]:
    known = list(logging.Logger.manager.loggerDict.values())
    return [logging.getLogger(), *(logger for logger in known if isinstance(logger, logging.Logger))]


def _state_of(logger: logging.Logger) -> tuple[list[logging.Handler], int, bool, bool]:
    return list(logger.handlers), logger.level, logger.propagate, logger.disabled
