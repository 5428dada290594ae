"""Runner of iotide's batch launcher tests on a real Slurm: `python tests/slurm/scenarios.py`, as root.

Exit status 0 when every scenario passed; the last line counts them.
"""

import sys
from pathlib import Path

import pytest

OWN = Path(__file__).parent
LIMIT_SECONDS = 600


class Tally:
    """Counts of passed and failed scenarios; one that could not begin has failed."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count the outcome of a scenario."""
        self.passed += report.when == "call" and report.passed
        self.failed += report.failed


def main(arguments: list[str]) -> int:
    """Run all scenarios, or those that pytest's arguments choose."""
    tally = Tally()
    status = pytest.main(["-q", f"--timeout={LIMIT_SECONDS}", str(OWN), *arguments], plugins=[tally])
    has_failed = tally.failed > 0 or status != pytest.ExitCode.OK
    sys.stdout.write(f"test-slurm: {tally.passed} scenarios passed, {max(tally.failed, int(has_failed))} failed\n")
    return int(has_failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
