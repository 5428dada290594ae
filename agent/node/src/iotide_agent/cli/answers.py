"""What the commands read from the server's answers; fields that they do not show are not named here."""

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
    """A part of an answer; a newer server may say more."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Return the answer in a document; raise RefusedError where the server says something else."""
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            field = ".".join(str(part) for part in error.errors()[0]["loc"])
            message = f"the server's answer has no {field} that this command understands"
            remedy = "use the command of the server's own version, or --json"
            raise RefusedError([Problem("unknown_answer", message, remedy=remedy)]) from error


class Counts(Answer):
    """Runs of a campaign by state."""

    waiting: int
    active: int
    finished: int
    failed: int
    cancelled: int


class StageAnswer(Answer):
    """A state of the servers in which the whole matrix is run."""

    ordinal: int
    variant: str
    pause: str | None
    state: str
    runs: int
    ended: int


class MountAnswer(Answer):
    """What is mounted."""

    fstype: str
    source: str
    mount_options: str


class PausedMount(Answer):
    """A target on a node of a paused campaign: as it was accepted, and as it is now."""

    target: str
    node: str
    was: MountAnswer
    now: MountAnswer | None
    is_change: bool
    is_backing: bool
    problem: str | None


class Pause(Answer):
    """What a paused campaign waits for; nodes in `waiting_for` have not yet said what they have mounted."""

    ordinal: int
    variant: str
    pause: str | None
    waiting_for: list[str]
    found_sha256: str
    mounts: list[PausedMount]


class Campaign(Answer):
    """A campaign and how far it is; `progress` is a fraction."""

    id: int
    name: str
    cluster_name: str
    state: str
    created_at: datetime
    counts: Counts
    stages: list[StageAnswer]
    progress: float
    seconds_remaining_estimated: float | None


class PlannedFiring(Answer):
    """A firing to come."""

    planned_at: datetime
    fires_at: datetime


class Firing(Answer):
    """What a firing came to; `missed` firings that nobody was there for stand behind it."""

    fired_at: datetime
    outcome: str
    campaign_id: int | None
    problem: str | None
    missed: int


class Schedule(Answer):
    """A plan that is submitted by a calendar; `words` say it as a sentence."""

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
    """What the runs of a cell say of one metric, in its base unit, with the codes of all their flags."""

    flags: list[str] = []
    n: int
    median: float
    low: float
    high: float


class Cell(Answer):
    """One combination of the matrix; `variant` is empty outside stages, `counted_runs` finished and are valid."""

    ordinal: int
    variant: str
    node_names: list[str]
    target_names: list[str]
    workload: str
    options: dict[str, Any]
    counted_runs: list[int] = []
    results: list[CellResult]

    @property
    def is_computed(self) -> bool:
        """Whether its results are of all runs that count; they follow some seconds behind the runs."""
        return max((result.n for result in self.results), default=0) >= len(self.counted_runs)


class Warned(Answer):
    """What the server would have one think about before the campaign starts."""

    code: str
    message: str
    field: str | None


class Preview(Answer):
    """What a plan would do."""

    cell_count: int
    run_count: int
    seconds_estimated: float | None
    seconds_unknown_because: str | None
    bytes_peak: int
    bytes_moved: int
    warnings: list[Warned]


class Run(Answer):
    """One repeat of a cell; `progress` is a fraction, None where it cannot be known."""

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
    """What one node did; `step_role` is its part of the work where it did not do all of it."""

    node_name: str
    role: OrderRole
    step_role: str | None = None
    state: str
    outcome: str | None
    steps: list[StepRecord]
    foreign_load: ForeignLoad | None = None


class Attempt(Answer):
    """One try of a run."""

    ordinal: int
    state: str
    reason: str | None
    orders: list[RunOrder]


class SampleAnswer(_OfMetric):
    """One number of a run, in its metric's base unit; `superseded` says why it counts no more."""

    target_id: int | None = None
    value: float
    superseded: str | None = None


class Headline(_OfMetric):
    """The number that a run is known by."""

    value: float


class UnansweredCheck(Answer):
    """A check that found too little to call the run good or bad."""

    title: str
    because: str
    phase: str


class RunDetail(Run):
    """A run with all that is known of it."""

    attempts: list[Attempt]
    samples: list[SampleAnswer]
    not_judged: list[UnansweredCheck] | None = None
    waiting_because: str | None
    expected_start_at: datetime | None
    expected_start_unknown_because: str | None


class ReadingHead(Answer):
    """Who read an order's raw output; that with the highest ordinal of each order counts."""

    id: int
    order_id: int
    ordinal: int
    workload_revision: int


class RawReading(ReadingHead):
    """What it said."""

    flags: list[Flag]
    samples: list[SampleAnswer]


class ReadAgainRun(Run):
    """A run as far as reading it again needs it."""

    options: dict[str, Any]
    reason_code: str | None
    readings: list[ReadingHead]


class Event(Answer):
    """One line of a run's log."""

    at: datetime
    kind: str
    text: str


class Artefact(Answer):
    """A piece of raw output."""

    id: int
    order_id: int
    name: str
    size_bytes: int


class Drain(Answer):
    """Something on which nothing new starts; `until` is none until a person resumes it."""

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
        """Return what is done to it and what that risks."""
        return [f"run {self.run_id} ({self.campaign_name}, {self.workload}): {what}", f"  {self.risk}"]


class EndedRun(_AffectedRun):
    """What calling its node dead would do to a run, in sentences."""

    ends: str


class HeldRun(_AffectedRun):
    """A run whose load cannot be killed, and what it holds, in sentences."""

    frees: str


class StuckStatement(Answer):
    """Says what freeing a stuck node would do."""

    node_name: str
    runs: list[HeldRun]
    afterwards: str
    statement_sha256: str

    def lines(self) -> list[str]:
        """Return all of it, two lines a run."""
        return [*(line for run in self.runs for line in run.lines(run.frees)), self.afterwards]


class DeathStatement(Answer):
    """What calling a silent node dead would free and end."""

    node_name: str
    last_seen_at: datetime
    runs: list[EndedRun]
    waiting_count: int
    statement_sha256: str
