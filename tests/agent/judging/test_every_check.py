"""Every check of the agent can answer "not judged": one case of each with too little data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from agent.judging.rows import MEGABYTE, done, phase, place

from iotide_agent.judging.client import judge_client
from iotide_agent.judging.conditions import judge_clock, judge_condition
from iotide_agent.judging.foreign import judge_foreign
from iotide_agent.judging.quiet import judge_before
from iotide_agent.judging.steady import judge_steady
from iotide_agent.workloads import quality
from iotide_agent.workloads.base import Before
from iotide_agent.workloads.releases import Releases, judge_release
from iotide_wire.checks import CHECKS
from iotide_wire.measured import Answer, Check, NotJudged
from iotide_wire.plan import QuietPolicy

OF_SERVER = {Check.SAME_START, Check.OUTLIER, Check.ENVIRONMENT}
"""Checks with cases in tests/backend/unit/results/test_unjudged.py."""
SHORT = phase(done(seconds=2.0), {"write_bytes_per_second": MEGABYTE, "read_bytes_per_second": 0.0}, seconds=2)
WARM = replace(done("read"), before_done=Before.DROP)
UNSEEN: Mapping[Check, Callable[[], Sequence[Answer]]] = {
    Check.LOAD_BEFORE: lambda: judge_before(None, QuietPolicy.FLAG),
    Check.NEIGHBOURS: lambda: judge_before(None, QuietPolicy.FLAG),
    Check.LOAD_DURING: lambda: judge_foreign(SHORT, (place(),)),
    Check.STEADINESS: lambda: judge_steady(SHORT),
    Check.CLIENT_LIMIT: lambda: judge_client(SHORT, (place(),)),
    Check.CLOCK: lambda: judge_clock({}),
    Check.STORAGE_CONDITION: lambda: judge_condition(None, None),
    Check.STORAGE_ERRORS: lambda: judge_condition(None, None),
    Check.CACHE_SIZE: lambda: quality.judge_cache_size(place(), 1, direct=False),
    Check.CACHE_DROP: lambda: quality.judge_cache_drop(place("tmpfs"), WARM, direct=False),
    Check.DATA_SOURCE: lambda: quality.judge_source(done()),
    Check.TOOL_RELEASE: lambda: judge_release("fio-3.50", [Releases("fio", "3.0", "3.42")]),
}


def test_all_checks_are_in_the_list_with_their_three_answers() -> None:
    assert CHECKS.keys() == set(Check)
    assert all(spec.title and spec.passed and spec.not_judged for spec in CHECKS.values())


def test_each_check_of_the_agent_has_a_case_in_which_it_saw_too_little() -> None:
    assert UNSEEN.keys() == set(Check) - OF_SERVER


@pytest.mark.parametrize("check", UNSEEN, ids=str)
def test_a_check_that_saw_too_little_neither_passes_nor_flags(check: Check) -> None:
    (answer,) = [one for one in UNSEEN[check]() if isinstance(one, NotJudged) and one.check is check]
    assert answer.because


def test_a_check_is_named_only_where_it_is_listed_here() -> None:
    """A new check that answers "not judged" needs a case above."""
    source = Path(quality.__file__).parents[1]
    files = [*(source / "judging").glob("*.py"), *(source / "workloads").glob("*.py")]
    named = {check for check in Check for file in files if f"Check.{check.name}" in file.read_text()}
    assert named == UNSEEN.keys()
