"""What the node sees of a run besides its output."""

from pathlib import Path
from typing import NoReturn

import pytest

from iotide_agent.plan import Plan
from iotide_agent.spool import order_files
from iotide_agent.witness import end_witness


def test_storage_that_cannot_be_looked_at_costs_none_of_the_runs_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> NoReturn:
        raise LookupError("a pool as nobody has seen it")

    monkeypatch.setattr("iotide_agent.witness.look_below", fail)
    witness = end_witness(order_files(tmp_path), {}, Plan((), ()))
    assert (witness.before, witness.after, list(witness.rows)) == (None, None, [])
