"""API schemas of the power of a plan."""

from typing import Annotated, Literal

from pydantic import Field

from iotide_server.kit.web import Output

ScatterSource = Literal["configurations", "workload"]


class PowerRow(Output):
    """Difference that 8 of 10 comparisons show at this scatter."""

    scatter_ratio: Annotated[float, Field(description="Standard deviation of the runs of one configuration")]
    difference_ratio: Annotated[
        float | None,
        Field(description="Smallest difference shown where one number is compared; null below four repeats"),
    ]
    shared_difference_ratio: Annotated[
        float | None,
        Field(description="Smallest difference shown where all numbers are compared; null below four repeats"),
    ]
    repeats_needed: Annotated[
        int | None, Field(description="Repeats that show it with all numbers compared; null if more than 1000")
    ]


class WorkloadPower(Output):
    workload: str
    scatter_source: Annotated[
        ScatterSource | None,
        Field(description="Earlier runs of the same configurations, or of the workload in the cluster; null: unknown"),
    ]
    scatter_runs: Annotated[int, Field(description="Runs behind the scatter")]
    rows: Annotated[list[PowerRow], Field(description="One, or three at usual scatters if it is unknown")]


class PowerOutput(Output):
    """Differences that a comparison of two such campaigns shows."""

    repeats: Annotated[int, Field(description="As planned; with adaptive repeats, the fewest")]
    numbers: Annotated[int, Field(description="Primary numbers compared together")]
    repeats_recommended: Annotated[
        int | None,
        Field(
            description="Fewest repeats that show with all numbers compared what four repeats show of one number; null:"
            " more than 1000, or adaptive repeats"
        ),
    ]
    workloads: list[WorkloadPower]
