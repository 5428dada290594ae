"""Reader of io500-verify's text: whether a result's numbers are as the IO500 wrote them, and whether the run counts."""

import re
from dataclasses import dataclass
from typing import Final

from iotide_agent.workloads.base import OutputRefusedError

_VERSION: Final = re.compile(r"^version +=[ ]?(.*)$", re.MULTILINE)
_RESULT_VERSION: Final = re.compile(r"^result file ver = (.*)$", re.MULTILINE)
_ERROR: Final = re.compile(r"^ERROR: ((?:Configuration|Score) hash expected: .+ read: .+)$", re.MULTILINE)
_UNTOUCHED: Final = re.compile(r"\n\[OK\]\n\Z")
_INVALID: Final = re.compile(r"\n\[OK\] But this is an invalid run!\n\Z")


@dataclass(frozen=True, slots=True)
class Verification:
    """Answer of io500-verify.

    Attributes:
        is_valid: the run counts by the rules of the IO500; None if its numbers were changed.
        problems: which checksum does not fit.
    """

    version: str
    result_version: str
    is_valid: bool | None
    problems: tuple[str, ...]


def read_verification(step: str, text: str, exit_status: int | None) -> Verification:
    """Return the answer; raise OutputRefusedError for a text that is cut or contradicts the exit status.

    The status is 1 for changed numbers and for an invalid run, so the text decides.
    """
    version, result_version = _VERSION.search(text), _RESULT_VERSION.search(text)
    problems = tuple(error[1] for error in _ERROR.finditer(text))
    is_valid = True if _UNTOUCHED.search(text) else False if _INVALID.search(text) else None
    ends_with_problem = bool(problems) and text.endswith(f"ERROR: {problems[-1]}\n")
    has_contradiction = (exit_status == 0) != (is_valid is True) or (is_valid is True and problems != ())
    if version is None or result_version is None or not (is_valid is not None or ends_with_problem):
        raise OutputRefusedError(step, "io500-verify did not print its whole answer", text[-500:])
    if exit_status not in {0, 1} or has_contradiction:
        raise OutputRefusedError(
            step, f"io500-verify ended with status {exit_status}, which is not its answer", text[-500:]
        )
    return Verification(version[1], result_version[1], None if problems else is_valid, problems)
