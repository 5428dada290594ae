"""Fixtures for the whole test suite."""

import gc
import signal
from collections.abc import Iterator

import pytest

pytest_plugins = ["services"]


def pytest_configure() -> None:
    """Takes SIGINT back where a shell in the background had the tests, and so their loads, ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


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
