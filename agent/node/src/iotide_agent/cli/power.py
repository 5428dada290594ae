"""The command `iotide power`."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Final

import typer

from iotide_agent.cli.answers import Points
from iotide_agent.cli.api import Document
from iotide_agent.cli.display import repeats_words
from iotide_agent.cli.problems import Problem, RefusedError
from iotide_agent.cli.server import AsJson, opened, show
from iotide_wire.power import (
    MOST_REPEATS,
    USUAL_SCATTERS,
    RepeatedRuns,
    pooled_scatter,
    repeats_needed,
    smallest_difference,
)
from iotide_wire.units import UnitError, format_percent, parse_ratio

_NEWEST_POINTS: Final = 20
_USUAL_REPEATS: Final = (4, 5, 6, 8, 10, 12, 16, 24, 40)
_MOST_NUMBERS: Final = 100_000
_WIDTH: Final = 16


def _percentage(given: str) -> float:
    try:
        ratio = parse_ratio(given)
    except UnitError as error:
        raise typer.BadParameter(str(error)) from error
    if not 0 < ratio < 1:
        raise typer.BadParameter(f"{given!r} is not between 0 and 100 %")
    return ratio


def show_power(  # noqa: PLR0913 - each is an option of the command
    context: typer.Context,
    *,
    scatter: Annotated[
        float | None,
        typer.Option(parser=_percentage, metavar="PERCENTAGE", help="Scatter of a configuration's runs, as 6%."),
    ] = None,
    series: Annotated[int | None, typer.Option(min=1, help="Use the scatter of this series of the server.")] = None,
    repeats: Annotated[int | None, typer.Option(min=1, max=MOST_REPEATS, help="Runs of each configuration.")] = None,
    numbers: Annotated[int, typer.Option(min=1, max=_MOST_NUMBERS, help="Numbers that are compared together.")] = 1,
    difference: Annotated[
        float | None, typer.Option(parser=_percentage, metavar="PERCENTAGE", help="Difference to show, as 10%.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show which difference a number of repeats shows, and how many repeats a difference needs.

    Only --series needs a server. If the scatter is unknown, the answer is for 3, 6 and 10 %.
    """
    if scatter is not None and series is not None:
        problem = Problem("invalid_input", "--scatter and --series given", "series", series, "use one of them")
        raise RefusedError([problem])
    if series is not None:
        with opened(context) as api:
            scatter = _scatter_of(Points.of(api.get(f"/series/{series}/points")))
    scatters = USUAL_SCATTERS if scatter is None else (scatter,)
    answer = {
        "scatter_ratio": scatter,
        "numbers": numbers,
        "shown": [
            {"repeats": runs, "scatter_ratio": own, "difference_ratio": smallest_difference(own, runs, numbers)}
            for runs in ([repeats] if repeats else _USUAL_REPEATS)
            for own in scatters
        ],
        "needed": [
            {
                "difference_ratio": difference,
                "scatter_ratio": own,
                "repeats_needed": repeats_needed(difference, own, numbers),
            }
            for own in scatters
            if difference is not None
        ],
    }
    show(answer, lambda: _lines(answer, scatters), as_json=as_json)


def _scatter_of(points: Points) -> float | None:
    columns = (points.n, points.median, points.low, points.high, points.variation_ratio)
    repeated = [RepeatedRuns(*point) for point in zip(*columns, strict=True) if point[0] > 1]
    return pooled_scatter(repeated[-_NEWEST_POINTS:])


def _lines(answer: Document, scatters: Sequence[float]) -> Iterator[str]:
    if answer["scatter_ratio"] is None:
        yield "scatter unknown; answers for 3, 6 and 10 %"
    together = f" with {answer['numbers']} numbers compared" if answer["numbers"] > 1 else ""
    yield f"smallest difference that 8 of 10 comparisons within a day show{together}:"
    yield _row("repeats", [f"scatter {format_percent(scatter)}" for scatter in scatters])
    shown = answer["shown"]
    for runs in dict.fromkeys(row["repeats"] for row in shown):
        yield _row(str(runs), [_difference(row["difference_ratio"]) for row in shown if row["repeats"] == runs])
    for row in answer["needed"]:
        needed = repeats_words(row["repeats_needed"])
        difference, scatter = format_percent(row["difference_ratio"]), format_percent(row["scatter_ratio"])
        yield f"a difference of {difference} at a scatter of {scatter}{together} needs {needed}"


def _row(first: str, cells: Iterable[str]) -> str:
    return first.rjust(7) + "".join(cell.rjust(_WIDTH) for cell in cells)


def _difference(ratio: float | None) -> str:
    return "none" if ratio is None else format_percent(ratio)
