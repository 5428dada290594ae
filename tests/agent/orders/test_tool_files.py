"""Files that a tool reads and writes outside its target, through the real runner: a job file and a log of each
second.
"""

from pathlib import Path

from agent.node_rig import NodeRig

from iotide_wire.messages import Outcome

JOBS = """\
[log]
rw=write
bs=64k
size=2m
rate=1m
end_fsync=1
runtime=3
time_based
"""


def test_fio_runs_a_job_file_and_its_log_becomes_a_curve(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    node = NodeRig(tmp_path / "state", [target])
    result = node.measure("fio", {"job_file": JOBS, "space_bytes": 4 * 1024**2}, target)
    assert (result.outcome, result.reason) == (Outcome.FINISHED, None)
    assert {sample.labels["job"] for sample in result.samples} == {"log"}
    curves = {piece.counter: piece for piece in result.curves if piece.counter.startswith("fio_")}
    written = curves["fio_write_bytes_per_second"].values
    assert len(written) in {2, 3}
    assert all(0.5 * 1024**2 < value < 2 * 1024**2 for value in written)
    assert result.started_at is not None
    assert abs((curves["fio_write_bytes_per_second"].started_at - result.started_at).total_seconds()) <= 2
    assert list(target.iterdir()) == []


def test_job_file_that_is_not_allowed_never_reaches_the_target(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    node = NodeRig(tmp_path / "state", [target])
    result = node.measure("fio", {"job_file": "[a]\nsize=1m\nexec_prerun=touch /tmp/x\n"}, target)
    assert (result.outcome, result.reason_code) == (Outcome.FAILED, "invalid_options")
    remedy = "remove it: no program other than fio is started"
    assert f"section [a], exec_prerun = 'touch /tmp/x': {remedy}" in str(result.reason)
    assert result.steps == ()
