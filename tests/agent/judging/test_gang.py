"""GANG: silence between nodes of one program, and launchers that hung."""

import pytest

from iotide_agent.judging.gang import judge_gang
from iotide_agent.workloads.quality import marked, rejected
from iotide_wire.measured import FlagCode


@pytest.mark.parametrize("seen", [{}, {"gang": {}}, {"gang": {"longest_silence_seconds": 3.0, "hung_steps": []}}])
def test_nodes_in_contact_have_no_flag(seen: dict[str, object]) -> None:
    assert judge_gang(seen) == []


def test_a_cut_network_rejects_the_results_because_they_look_slow() -> None:
    measured = "another node of the program was silent for 4.5 s"
    assert judge_gang({"gang": {"longest_silence_seconds": 4.5}}) == [rejected(FlagCode.GANG, measured, "at most 3 s")]


def test_a_launcher_that_hung_marks_the_results() -> None:
    measured = "write, read: the launcher ran on after the whole output and was killed"
    found = judge_gang({"gang": {"longest_silence_seconds": 0.0, "hung_steps": ["write", "read"]}})
    assert found == [marked(FlagCode.GANG, measured, "at most 10 s")]
