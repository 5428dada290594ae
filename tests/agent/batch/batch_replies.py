"""Fake batch system: answers commands by their first word and records them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from iotide_agent.batch.system import CommandOutput
from iotide_agent.node.config import BatchConfig
from iotide_wire.batch import BatchSystem, JobNode, WantedJob

CONFIG = BatchConfig(
    system=BatchSystem.SLURM,
    submit_arguments=("--partition=bench",),
    agent_command=("/opt/iotide/bin/iotide-agent",),
    agent_config="/etc/iotide/{node}.toml",
)


def wanted(*names: str, run_id: int = 7, fence: int = 99) -> WantedJob:
    nodes = tuple(JobNode(name=name, order_id=number) for number, name in enumerate(names, start=11))
    return WantedJob(run_id=run_id, fence=fence, nodes=nodes, time_limit_seconds=90.0)


@dataclass
class Commands:
    """Fake answers of programs, by name."""

    answers: dict[str, CommandOutput] = field(default_factory=dict)
    asked: list[list[str]] = field(default_factory=list)

    def say(self, program: str, stdout: str = "", *, status: int = 0, stderr: str = "") -> None:
        self.answers[program] = CommandOutput(status, stdout, stderr)

    def __call__(self, argv: Sequence[str]) -> CommandOutput:
        self.asked.append(list(argv))
        return self.answers[argv[0]]

    def of(self, program: str) -> list[list[str]]:
        return [argv[1:] for argv in self.asked if argv[0] == program]
