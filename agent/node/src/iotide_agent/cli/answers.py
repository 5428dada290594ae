"""The parts of the server's answers that the commands show."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from iotide_agent.cli.problems import Problem, RefusedError
from iotide_wire.foreign import ForeignLoad
from iotide_wire.measured import Flag, StepRecord
from iotide_wire.messages import OrderRole
from iotide_wire.units import Unit


class Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Raise RefusedError if a field is missing or has another type."""
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            field = ".".join(str(part) for part in error.errors()[0]["loc"])
            message = f'the field "{field}" of the server\'s answer is missing or has an unknown format'
            remedy = "use the `iotide` of the server's version, or --json"
            raise RefusedError([Problem("unknown_answer", message, remedy=remedy)]) from error


class Counts(Answer):
    waiting: int
    active: int
    finished: int
    failed: int
    cancelled: int


class PreparationCounts(Counts):
    """Runs that make, fill, mount or clean scratch disks."""

    does: str


class StageAnswer(Answer):
    ordinal: int
    variant: str
    pause: str | None
    state: str
    runs: int
    ended: int


class MountAnswer(Answer):
    fstype: str
    source: str
    mount_options: str


class PausedMount(Answer):
    target: str
    node: str
    was: MountAnswer
    now: MountAnswer | None
    is_change: bool
    is_backing: bool
    problem: str | None


class Pause(Answer):
    """The nodes in `waiting_for` have not yet reported their mounts."""

    ordinal: int
    variant: str
    pause: str | None
    waiting_for: list[str]
    found_sha256: str
    mounts: list[PausedMount]


class Worded(Answer):
    words: str


class Campaign(Answer):
    id: int
    name: str
    cluster_name: str
    owner: str | None = None
    state: str
    created_at: datetime
    counts: Counts
    preparations: list[PreparationCounts] = []
    stages: list[StageAnswer]
    adaptive: Worded | None = None
    next_release_at: datetime | None = None
    progress: float
    seconds_remaining_estimated: float | None


class PlannedFiring(Answer):
    planned_at: datetime
    fires_at: datetime


class Firing(Answer):
    """`missed` counts the firings before it while no server ran."""

    fired_at: datetime
    outcome: str
    campaign_id: int | None
    problem: str | None
    missed: int


class Schedule(Answer):
    id: int
    name: str
    cluster_name: str
    owner: str | None
    state: str
    words: str
    time_zone: str
    next_firings: list[PlannedFiring]
    last_firing: Firing | None


class _OfMetric(Answer):
    metric: str
    title: str = ""
    unit: Unit
    labels: dict[str, Any]


class CellResult(_OfMetric):
    flags: list[str] = []
    n: int
    median: float
    low: float
    high: float


class Cell(Answer):
    """`variant` is empty without stages; `counted_runs` are finished and valid."""

    ordinal: int
    variant: str
    node_names: list[str]
    target_names: list[str]
    workload: str
    options: dict[str, Any]
    counted_runs: list[int] = []
    results: list[CellResult]
    adaptive: Worded | None = None

    @property
    def is_computed(self) -> bool:
        """The server computes results some seconds after a run."""
        return max((result.n for result in self.results), default=0) >= len(self.counted_runs)


class Warned(Answer):
    code: str
    message: str
    field: str | None


class Points(Answer):
    """Columns of a series' points, oldest first."""

    n: list[int]
    median: list[float]
    low: list[float]
    high: list[float]
    variation_ratio: list[float | None]


class PowerRow(Answer):
    scatter_ratio: float
    difference_ratio: float | None
    repeats_needed: int | None


class WorkloadPower(Answer):
    workload: str
    scatter_source: str | None
    scatter_runs: int
    rows: list[PowerRow]


class PowerAnswer(Answer):
    repeats: int
    numbers: int
    workloads: list[WorkloadPower]


class MadeStage(Answer):
    round: int
    variant: str


class ScratchAnswer(Answer):
    node_name: str
    set_name: str
    stages: list[MadeStage]
    make_seconds_estimated: float | None
    make_seconds_known: float = 0.0


class PreviewCell(Answer):
    workload: str
    program: str | None = None


class Preview(Answer):
    cells: list[PreviewCell] = []
    cell_count: int
    run_count: int
    seconds_estimated: float | None
    seconds_unknown_because: str | None
    bytes_peak: int
    bytes_moved: int
    power: PowerAnswer | None = None
    scratch: ScratchAnswer | None = None
    warnings: list[Warned]


class Run(Answer):
    id: int
    campaign_id: int
    campaign_name: str
    repeat: int
    node_names: list[str]
    target_names: list[str]
    workload: str
    state: str
    validity: str
    flags: list[Flag]
    progress: float | None
    phase: str | None
    reason: str | None


class RunOrder(Answer):
    """`step_role` is the node's part if the nodes do different things."""

    id: int
    node_name: str
    role: OrderRole
    step_role: str | None = None
    state: str
    outcome: str | None
    steps: list[StepRecord]
    foreign_load: ForeignLoad | None = None


class Attempt(Answer):
    ordinal: int
    state: str
    reason: str | None
    orders: list[RunOrder]


class SampleAnswer(_OfMetric):
    """Value in the metric's base unit; `superseded` is the reason why it no longer counts."""

    target_id: int | None = None
    value: float
    superseded: str | None = None


class Headline(_OfMetric):
    value: float


class PreviousHeadline(Answer):
    campaign_id: int
    n: int
    ratio: float | None


class CampaignHeadline(_OfMetric):
    """Main result of a campaign, and that of the previous one of its schedule."""

    campaign_id: int
    n: int
    median: float
    low: float
    high: float
    previous: PreviousHeadline | None


class UnansweredCheck(Answer):
    title: str
    because: str
    phase: str


class RunDetail(Run):
    attempts: list[Attempt]
    samples: list[SampleAnswer]
    not_judged: list[UnansweredCheck] | None = None
    waiting_because: str | None
    expected_start_at: datetime | None
    expected_start_unknown_because: str | None


class ReadingHead(Answer):
    """The reading with the highest ordinal counts."""

    id: int
    order_id: int
    ordinal: int
    workload_revision: int


class RawReading(ReadingHead):
    flags: list[Flag]
    samples: list[SampleAnswer]


class ReadAgainRun(Run):
    options: dict[str, Any]
    reason_code: str | None
    readings: list[ReadingHead]


class Event(Answer):
    at: datetime
    kind: str
    text: str


class Artefact(Answer):
    id: int
    order_id: int
    name: str
    size_bytes: int


class Drain(Answer):
    kind: str
    name: str = ""
    reason: str
    by: str
    since: datetime
    until: datetime | None


class _AffectedRun(Answer):
    run_id: int
    campaign_name: str
    workload: str
    risk: str

    def lines(self, what: str) -> list[str]:
        return [f"run {self.run_id} ({self.campaign_name}, {self.workload}): {what}", f"  {self.risk}"]


class EndedRun(_AffectedRun):
    ends: str


class HeldRun(_AffectedRun):
    frees: str


class StuckStatement(Answer):
    node_name: str
    runs: list[HeldRun]
    afterwards: str
    statement_sha256: str

    def lines(self) -> list[str]:
        return [*(line for run in self.runs for line in run.lines(run.frees)), self.afterwards]


class DeathStatement(Answer):
    node_name: str
    last_seen_at: datetime
    runs: list[EndedRun]
    waiting_count: int
    statement_sha256: str
