"""Fixtures of the lab's scenarios, which `./dev test-lab` runs as root."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lab.nodes import Node


@pytest.fixture
def make_node(tmp_path: Path) -> Iterator[Callable[..., Node]]:
    """Return a function that makes a node with its own state directory; end all processes afterwards."""
    made: list[Node] = []

    def make(directory: Path, namespace: str | None = None) -> Node:
        base = tmp_path / f"node-{len(made)}"
        base.mkdir()
        made.append(Node(base, directory, namespace))
        return made[-1]

    yield make
    for node in made:
        node.close()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Print the line of a scenario that `./dev test-lab` counts, and the reason of a failure."""
    if report.when == "call" or report.failed:
        name = report.nodeid.rpartition("/")[2].replace(".py::", ": ")
        if report.failed:
            sys.stdout.write(f"\n{report.longreprtext}\n{report.capstderr}")
        sys.stdout.write(f"\nscenario: {report.outcome} {name} ({report.duration:.0f} s)\n")
        sys.stdout.flush()
