from dataclasses import replace
from datetime import timedelta

import pytest
from agent.judging.rows import START, done, place, sample

from iotide_agent.judging.phases import ParallelSteps
from iotide_agent.judging.read_back import judge_read_back
from iotide_wire.measured import Check, NotJudged

NFS = place("nfs4", **{"host.name": "node07"})


def phase(operation: str, *, at: float, seconds: float = 60.0, target_id: int = 1) -> ParallelSteps:
    outcome = replace(done(operation, seconds=seconds), started_at=START + timedelta(seconds=at))
    return ParallelSteps((outcome,), (sample(operation, target_id),), ())


def test_a_read_after_a_write_says_how_long_before_and_by_which_node_it_was_written() -> None:
    phases = [phase("write", at=0), phase("read", at=72)]
    [answer] = judge_read_back(phases, (NFS,))
    assert isinstance(answer, NotJudged)
    assert (answer.check, answer.phase) == (Check.CACHE_DROP, "read")
    assert answer.because.startswith("node07 wrote the data 12")
    assert "the server (nfs4)" in answer.because


def test_the_last_write_before_a_read_counts_and_each_read_has_its_own_time() -> None:
    phases = [phase("write", at=0), phase("rewrite", at=60), phase("read", at=125), phase("random_read", at=185)]
    because = [answer.because for answer in judge_read_back(phases, (NFS,)) if isinstance(answer, NotJudged)]
    assert [words.partition(" before")[0].split()[-2] for words in because] == ["5", "65"]


@pytest.mark.parametrize("fstype", ["ext4", "xfs", "tmpfs", "zfs"])
def test_a_file_system_of_the_node_has_no_server(fstype: str) -> None:
    assert judge_read_back([phase("write", at=0), phase("read", at=60)], (place(fstype),)) == []


def test_a_read_without_a_write_before_it_and_a_write_alone_say_nothing() -> None:
    assert judge_read_back([phase("read", at=0), phase("write", at=60)], (NFS,)) == []


def test_targets_are_kept_apart() -> None:
    other = replace(NFS, target_id=2)
    phases = [phase("write", at=0, target_id=2), phase("read", at=60, target_id=1)]
    assert judge_read_back(phases, (NFS, other)) == []
