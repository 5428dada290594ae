"""`iotide run reparse` against a real server: a corrected parser reads a real agent's run again."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from bring_up import wait_for
from rig import Rig

from iotide_agent.cli import reparse, user
from iotide_agent.workloads.base import Parsed, Place, StepOutcome
from iotide_agent.workloads.dd import DdOptions, DdWorkload
from iotide_wire.measured import Flag, FlagCode, FlagEffect

SMALL = {"file_size_bytes": "1 MiB", "block_size_bytes": "64 KiB"}
MARK = Flag(code=FlagCode.TOO_FAST, effect=FlagEffect.MARKED, measured="set by the fixed parser", limit="none")


class FixedDd(DdWorkload):
    """Parser that finds out that dd counts everything twice."""

    def read(self, options: DdOptions, place: Place, outcome: StepOutcome) -> Parsed:
        parsed = super().read(options, place, outcome)
        samples = [
            replace(sample, value=sample.value / 2) if sample.metric == "throughput" else sample
            for sample in parsed.samples
        ]
        return Parsed(samples, [*parsed.flags, MARK])


class NewerDd(DdWorkload):
    """A revision that no agent has."""

    revision = 99


class StrictDd(DdWorkload):
    """Parser that rejects everything."""

    def failure(self, outcome: StepOutcome) -> str | None:
        return f"{outcome.step.name} looks wrong"


Reparse = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def run_id(rig: Rig) -> int:
    run_id = rig.submit_one("dd", SMALL)
    rig.wait_ended(run_id)
    return run_id


@pytest.fixture
def iotide(rig: Rig, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Reparse:
    monkeypatch.setenv("IOTIDE_URL", rig.stack.url)
    monkeypatch.setenv("IOTIDE_TOKEN", rig.stack.token)

    def run(tool: DdWorkload, *arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(reparse, "workload", lambda _name, _settings: tool)
        with pytest.raises(SystemExit) as ended:
            user.main(["run", "reparse", *arguments])
        out, err = capfd.readouterr()
        return int(str(ended.value.code or 0)), out + err

    return run


def throughputs(run: dict[str, Any]) -> dict[str, float]:
    return {
        sample["labels"]["operation"]: sample["value"] for sample in run["samples"] if sample["metric"] == "throughput"
    }


def test_the_parser_that_read_it_first_changes_nothing(rig: Rig, run_id: int, iotide: Reparse) -> None:
    status, printed = iotide(DdWorkload(), str(run_id))
    assert status == 0, printed
    assert "0 of 10 values differ" in printed
    assert "0 of 1 runs would change" in printed
    [reading] = rig.stack.get(f"/runs/{run_id}")["readings"]
    assert (reading["ordinal"], reading["workload_revision"], reading["read_by"]) == (1, DdWorkload.revision, None)


def test_a_fixed_parser_is_previewed_and_then_replaces_the_first(rig: Rig, run_id: int, iotide: Reparse) -> None:
    before = rig.stack.get(f"/runs/{run_id}")
    status, shown = iotide(FixedDd(), str(run_id), "--dry-run")
    assert status == 0, shown
    assert "2 of 10 values differ" in shown
    assert "\u221250.0 %" in shown
    assert "+ TOO_FAST (marked): set by the fixed parser" in shown
    assert rig.stack.get(f"/runs/{run_id}") == before

    status, refused = iotide(FixedDd(), str(run_id))
    assert (status, "--yes" in refused) == (2, True)

    status, printed = iotide(FixedDd(), str(run_id), "--yes")
    assert status == 0, printed
    after = rig.stack.get(f"/runs/{run_id}")
    assert throughputs(after) == {name: value / 2 for name, value in throughputs(before).items()}
    assert "TOO_FAST" in [flag["code"] for flag in after["flags"]]
    assert {flag["code"] for flag in before["flags"]} < {flag["code"] for flag in after["flags"]}
    newest, first = after["readings"]
    assert (newest["ordinal"], newest["read_by"] is not None, first["read_by"]) == (2, True, None)
    former = rig.stack.get(f"/readings/{first['id']}")
    assert throughputs(former) == throughputs(before)
    assert "read_again" in [event["kind"] for event in rig.stack.get(f"/runs/{run_id}/events")["items"]]
    for sample in after["samples"]:
        wait_for(
            f"the point of {sample['metric']}",
            lambda: rig.stack.get(f"/series/{sample['series_id']}/points")["median"] == [sample["value"]],  # noqa: B023 - called at once
        )


def test_a_parser_that_refuses_the_output_changes_nothing(rig: Rig, run_id: int, iotide: Reparse) -> None:
    before = rig.stack.get(f"/runs/{run_id}")
    status, printed = iotide(StrictDd(), str(run_id), "--yes")
    assert status == 1
    assert "revision 2 of dd refuses the output: step write: write looks wrong" in printed
    assert rig.stack.get(f"/runs/{run_id}") == before


def test_a_revision_that_no_agent_announced_is_refused_by_the_server(run_id: int, iotide: Reparse) -> None:
    status, printed = iotide(NewerDd(), str(run_id), "--yes")
    assert status == 2
    assert "no agent announced revision 99 of dd" in printed
    assert "upgrade an agent" in printed


@pytest.mark.parametrize("arguments", [(), ("1", "--campaign", "1"), ("1", "--workload", "dd")])
def test_the_selection_to_reparse_must_be_unambiguous(iotide: Reparse, arguments: tuple[str, ...]) -> None:
    status, printed = iotide(DdWorkload(), *arguments)
    assert status == 2
    assert "remedy" in printed


def test_a_whole_campaign_is_read_again_but_for_other_workloads(rig: Rig, run_id: int, iotide: Reparse) -> None:
    campaign = rig.stack.get(f"/runs/{run_id}")["campaign_id"]
    assert "of 1 runs would change" in iotide(DdWorkload(), "--campaign", str(campaign), "--dry-run")[1]
    printed = iotide(DdWorkload(), "--campaign", str(campaign), "--workload", "fio", "--dry-run")[1]
    assert "0 of 0 runs would change" in printed
