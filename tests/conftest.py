"""Fixtures for the whole test suite."""

import gc
import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings
from own_logging import logging_kept

pytest_plugins = ["services"]

# Made-up inputs of each test that says no number: a third of hypothesis' own, which were a tenth of the suite's time.
# Nothing has a deadline, since other tests run beside it.
settings.register_profile("iotide", max_examples=max(30, int(os.environ.get("IOTIDE_EXAMPLES", "0"))), deadline=None)
settings.load_profile("iotide")

# Fewer than an installation has: many a test brings up a whole server, and each process takes a second of a core.
os.environ.setdefault("IOTIDE_API_PROCESSES", "2")


def pytest_configure() -> None:
    """Takes SIGINT back where a shell in the background had the tests, and so their loads, ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def own_logging() -> Iterator[None]:
    """Gives back to the next test the loggers that this one was given, whatever it configures."""
    with logging_kept():
        yield


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keeps the garbage collector from what is collected: it stays to the end, and would be gone through each time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints what tests recorded as `printed`, whichever process they ran in."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, line in getattr(report, "user_properties", ()):
                if name == "printed" and report.when == "call":
                    terminalreporter.write_line(str(line))
