"""Finding 6 of the security review: a run ends with the server's message if the server rejects its curves."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from agent.node_rig import NodeRig

from iotide_wire.messages import CurvePiece, OrderHeartbeat, OrderState, Outcome
from iotide_wire.units import MIB

FIO: Final = {"rw": "randwrite", "block_size_bytes": 4096, "file_size_bytes": 4 * MIB, "runtime_seconds": 600}
WORDS: Final = "curves: 50001 pieces of curves; at most 50000; sample less often, or fewer counters"


def test_refused_curves_end_their_run_as_failed_and_are_not_sent_for_ever(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir(mode=0o700)
    node = NodeRig(tmp_path / "state", [target])
    order = node.order("fio", FIO, target)
    node.begin(order)
    node.release(order)
    node.until(lambda: node.phase(order).get("loads"))
    piece = CurvePiece(counter="load1", started_at=datetime.now(UTC), step_seconds=1.0, values=(1.0,))
    sent = OrderHeartbeat(
        order_id=order.order_id,
        fence=order.fence,
        state=OrderState.RUNNING,
        progress=None,
        phase="writing",
        started_at=None,
        curves=(piece,),
    )
    node.runs.give_up_curves((sent.model_copy(update={"curves": ()}),), WORDS)
    assert not node.spool.files(order.order_id).exit.exists()
    node.runs.give_up_curves((sent,), WORDS)
    result = node.finish(order)
    assert (result.outcome, result.reason_code) == (Outcome.FAILED, "result_refused")
    assert result.reason == f"the server refused the run's curves: {WORDS}"
    assert list(target.iterdir()) == []
