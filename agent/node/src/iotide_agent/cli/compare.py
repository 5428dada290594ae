"""The command `iotide compare`."""

import re
from collections.abc import Iterator
from typing import Annotated, Final

import typer

from iotide_agent.cli.api import Document
from iotide_agent.cli.names import Catalogue, Marks, read_catalogue
from iotide_agent.cli.server import AsJson, opened, show
from iotide_wire.cautions import cautions
from iotide_wire.names import option_value
from iotide_wire.units import format_factor, format_p

_OPTION: Final = "options."
_HELP: Final = "Number of a campaign, or CAMPAIGN:CELL for one of its configurations."
_SIDE: Final = re.compile(r"([1-9]\d{0,17})(?::([1-9]\d{0,17}))?")


def _side(given: str) -> str:
    if _SIDE.fullmatch(given) is None:
        raise typer.BadParameter(f"{given!r} is not a campaign's number or CAMPAIGN:CELL, for example 12 or 12:3")
    return given


def compare_campaigns(
    context: typer.Context,
    a: Annotated[str, typer.Argument(metavar="A", parser=_side, help=_HELP)],
    b: Annotated[str, typer.Argument(metavar="B", parser=_side, help=_HELP)],
    *,
    as_json: AsJson = False,
) -> None:
    """Compare two campaigns: configurations are paired, and results are shown as B relative to A."""
    asked: dict[str, str] = {}
    for name, given in (("a", a), ("b", b)):
        campaign, _, cell = given.partition(":")
        asked |= {name: campaign} | ({f"{name}_cell": cell} if cell else {})
    with opened(context) as api:
        answer = api.get("/comparison", asked)
        catalogue = Catalogue() if as_json else read_catalogue(api)
    show(answer, lambda: lines(answer, catalogue), as_json=as_json)


def lines(answer: Document, catalogue: Catalogue) -> Iterator[str]:
    marks = Marks()
    for pair in answer["pairs"]:
        yield f"A: {_cell(pair['a'])}"
        yield f"B: {_cell(pair['b'])}"
        for difference in pair["differences"]:
            yield f"  differs in {_difference(difference, pair['a']['workload'], catalogue)}"
        if not pair["is_alike"]:
            yield "  these configurations differ; the ratios may not be meaningful"
        if not pair["metrics"]:
            yield "  no metric that both have with the same labels"
        for metric in pair["metrics"]:
            named = _named(metric, pair["a"]["workload"], catalogue)
            mark = marks.of(cautions(metric.get("flags", ())))
            yield f"  {named}: {'; '.join([metric['words'], _numbers(metric), *_conditions(metric)])}{mark}"
        yield ""
    yield from marks.lines()
    for side in ("a", "b"):
        if answer[f"only_{side}"]:
            cells = ", ".join(map(str, answer[f"only_{side}"]))
            yield f"configurations without a counterpart, of {side.upper()}: {cells}"


def _cell(cell: Document) -> str:
    places = [", ".join(cell["node_names"]), ", ".join(cell["target_names"]), cell["variant"]]
    return f"campaign {cell['campaign_id']}, configuration {cell['ordinal']}: {cell['workload']} on " + ", ".join(
        place for place in places if place
    )


def _named(metric: Document, workload: str, catalogue: Catalogue) -> str:
    target = "" if metric["target_name"] is None else f" on {metric['target_name']}"
    return catalogue.named(workload, metric["title"], metric["labels"]) + target


def _difference(difference: Document, workload: str, catalogue: Catalogue) -> str:
    raw = difference["name"]
    name = raw.removeprefix(_OPTION)
    title = raw if name == raw else catalogue.option(workload, name)
    before, after = (option_value(name, value) for value in (difference["a"], difference["b"]))
    return f"{title}: {before} -> {after}"


def _numbers(metric: Document) -> str:
    runs = f"n = {metric['n_a']} and {metric['n_b']}"
    if metric["ratio"] is not None:
        interval = f"[{format_factor(metric['low'])}, {format_factor(metric['high'])}]"
        p_value = "" if metric["p_value"] is None else f", p = {format_p(metric['p_value'])}"
        return f"{runs}, ratio {format_factor(metric['ratio'])} {interval}{p_value}"
    if metric["median_ratio"] is not None:
        return f"{runs}, ratio of medians {format_factor(metric['median_ratio'])}"
    return runs


def _conditions(metric: Document) -> Iterator[str]:
    """Yield the error that a verdict uses, unless it is the scatter of the runs, its looks and possible reasons."""
    if metric["basis"] != "runs" and metric["basis_words"]:
        yield metric["basis_words"]
    if metric["looks"] > 1:
        yield f"look {metric['looks']}, after repeats were added: limits are stricter"
    if reasons := metric.get("reasons"):
        yield f"possible reasons: {', '.join(reasons)}"
