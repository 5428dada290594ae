"""Fixtures for the whole test suite."""

import gc
import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings
from own_logging import logging_kept

pytest_plugins = ["services"]

# Number of generated inputs of each test without its own number: a third of hypothesis' default, which took a tenth
# of the suite's time. There are no deadlines, since other tests run at the same time.
settings.register_profile("iotide", max_examples=max(30, int(os.environ.get("IOTIDE_EXAMPLES", "0"))), deadline=None)
settings.load_profile("iotide")

# Fewer than an installation has: many tests start a whole server, and each process takes a CPU second.
os.environ.setdefault("IOTIDE_API_PROCESSES", "2")


def pytest_configure() -> None:
    """Restore SIGINT if a background shell made the tests, and so their loads, ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def own_logging() -> Iterator[None]:
    """Restore all loggers after each test."""
    with logging_kept():
        yield


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Exempt collected tests from garbage collection: they stay to the end, and each collection would scan them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests of all processes recorded as `printed`."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, line in getattr(report, "user_properties", ()):
                if name == "printed" and report.when == "call":
                    terminalreporter.write_line(str(line))
