"""The server's checks that lack data, and results of agents that do not know LOAD_NOT_MEASURED."""

from datetime import UTC, datetime

import pytest
from factories.measured import finish

from iotide_server.results.ingest.unjudged import KnownOfRun, not_judged, unmeasured_by_old_agent
from iotide_wire.foreign import ForeignBefore, ForeignDuring, ForeignLoad
from iotide_wire.measured import Check, Flag, FlagCode, FlagEffect
from iotide_wire.messages import FinishRequest, Outcome
from iotide_wire.plan import QuietPolicy

NOW = datetime(2026, 11, 27, tzinfo=UTC)
ENOUGH = KnownOfRun(finished_runs=4, has_earlier=True, environment={"kernel.release": "6.1.0"})


CASES: list[tuple[KnownOfRun, dict[Check, str]]] = [
    (ENOUGH, {}),
    (
        KnownOfRun(1, has_earlier=True, environment={}),
        {Check.OUTLIER: "1 run of its configuration, 4 needed"},
    ),
    (KnownOfRun(4, has_earlier=False, environment={}), {Check.ENVIRONMENT: "no earlier run of its series"}),
    (
        KnownOfRun(4, has_earlier=True, environment={"ceph.osd_count": "unavailable, because ceph is not installed"}),
        {Check.ENVIRONMENT: "facts not read: ceph.osd_count"},
    ),
    (
        KnownOfRun(4, has_earlier=True, environment={}, unstarted=["node2"]),
        {Check.SAME_START: "no start reported by node2"},
    ),
]
"""By check: the known facts, and why they are too few."""


def test_each_check_of_the_server_has_a_case_in_which_it_found_too_little() -> None:
    of_server = {Check.SAME_START, Check.OUTLIER, Check.ENVIRONMENT}
    assert {check for _, found in CASES for check in found} == of_server


@pytest.mark.parametrize(("known", "found"), CASES)
def test_a_check_of_the_server_that_found_too_little_neither_passes_nor_flags(
    known: KnownOfRun, found: dict[Check, str]
) -> None:
    assert {answer.check: answer.because for answer in not_judged(known)} == found


def before(seconds: float) -> ForeignBefore:
    nothing = dict.fromkeys(ForeignBefore.model_fields)
    return ForeignBefore.model_validate(
        nothing | {"seconds": seconds, "waited_seconds": 0.0, "processors": 2, "excess": ""}
    )


def during(cpu_ratio: float | None) -> ForeignDuring:
    return ForeignDuring.model_validate(
        dict.fromkeys(ForeignDuring.model_fields) | {"seconds": 9.0, "cpu_ratio": cpu_ratio}
    )


def result(foreign: ForeignLoad | None, **more: object) -> FinishRequest:
    return finish(NOW).model_copy(update={"foreign": foreign} | more)


UNSEEN = ForeignLoad(before=before(0.0), during=None)


def test_a_result_of_an_older_agent_that_saw_too_little_is_marked_by_the_server() -> None:
    [flag] = unmeasured_by_old_agent(result(UNSEEN), QuietPolicy.FLAG)
    assert (flag.code, flag.effect) == (FlagCode.LOAD_NOT_MEASURED, FlagEffect.MARKED)
    assert flag.measured == "before the run: sample 0 s of 5 s; during the run: not measured"


@pytest.mark.parametrize(
    ("said", "policy"),
    [
        (result(UNSEEN), QuietPolicy.IGNORE),
        (result(UNSEEN, not_judged=()), QuietPolicy.FLAG),
        (result(UNSEEN, outcome=Outcome.FAILED), QuietPolicy.FLAG),
        (result(ForeignLoad(before=before(5.2), during=None)), QuietPolicy.FLAG),
        (result(ForeignLoad(before=before(0.0), during=during(0.02))), QuietPolicy.FLAG),
        (
            result(
                UNSEEN,
                flags=(Flag(code=FlagCode.FOREIGN_LOAD, effect=FlagEffect.MARKED, measured="jobs 7", limit="quiet"),),
            ),
            QuietPolicy.FLAG,
        ),
        (result(None), QuietPolicy.FLAG),
    ],
)
def test_other_results_are_left_as_their_agent_judged_them(said: FinishRequest, policy: QuietPolicy) -> None:
    assert unmeasured_by_old_agent(said, policy) == []
