"""Judgement of comparisons."""

from typing import Annotated, Any

from pydantic import Field

from iotide_server.kit.web import Output
from iotide_server.statistics.boards import Basis
from iotide_server.statistics.comparison import Comparison, Verdict


class Judgement(Output):
    """B relative to A.

    `ratio` has a 95 % interval: the exact one of Hodges and Lehmann, or of signed ranks (`pairs`), where there are
    enough runs, else that of the t-test. Both are null below four runs or two makes, with two modes, or for values of
    0 or less.

    All values of this answer that describe whole runs are judged together, at a false discovery rate of 5 %. `higher`,
    `lower` and `below_practical` are discoveries.
    """

    verdict: Verdict
    words: str
    median_ratio: float | None
    ratio: float | None
    low: float | None
    high: float | None
    p_value: Annotated[
        float | None, Field(description="Of the t-test on logarithms, adjusted for looks; null if not judged")
    ]
    is_discovery: Annotated[bool | None, Field(description="Null if not judged")]
    basis: Annotated[
        Basis,
        Field(
            description=(
                "Scatter behind interval and p: runs of one day, neighbouring runs of a campaign, means of makes, runs "
                "on one make each, medians of days, "
                "earlier days of the series, or of the workload on the cluster; `one_day`: of one day each, and the "
                "day-to-day scatter is unknown"
            )
        ),
    ]
    basis_words: Annotated[
        str,
        Field(description="Empty without an interval", examples=["error from 8 pairs of neighbouring runs"]),
    ]
    looks: Annotated[
        int, Field(description="1 and how often repeats were added; later looks have stricter limits", examples=[1])
    ]


def judgement(found: Comparison) -> dict[str, Any]:
    return {
        "verdict": found.verdict,
        "words": found.words,
        "median_ratio": found.median_ratio,
        "ratio": found.ratio,
        "low": None if found.interval is None else found.interval.low,
        "high": None if found.interval is None else found.interval.high,
        "p_value": found.p_value,
        "is_discovery": found.is_discovery,
        "basis": found.basis,
        "basis_words": found.basis_words,
        "looks": found.looks,
    }
