"""The command `iotide compare`."""

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Final

import typer

from iotide_agent.cli.api import Api, Document
from iotide_agent.cli.names import Catalogue, Marks, read_catalogue
from iotide_agent.cli.problems import Problem, RefusedError
from iotide_agent.cli.server import AsJson, opened, show
from iotide_wire.cautions import cautions
from iotide_wire.names import option_value, plain_title
from iotide_wire.units import Unit, format_factor, format_p, format_value

_OPTION: Final = "options."
_PLACES: Final = frozenset({"target", "node", "cluster", "campaign", "variant"})
_HELP: Final = "Number of a campaign, or CAMPAIGN:CELL for one of its configurations."
_SIDE: Final = re.compile(r"([1-9]\d{0,17})(?::([1-9]\d{0,17}))?")


def _side(given: str) -> str:
    if _SIDE.fullmatch(given) is None:
        raise typer.BadParameter(f"{given!r} is not a campaign's number or CAMPAIGN:CELL, for example 12 or 12:3")
    return given


def compare_campaigns(
    context: typer.Context,
    a: Annotated[str, typer.Argument(metavar="A", parser=_side, help=_HELP)],
    b: Annotated[str | None, typer.Argument(metavar="[B]", parser=_side, help=_HELP)] = None,
    *,
    by: Annotated[
        str | None,
        typer.Option(metavar="WHAT", help="Compare by target, node, cluster, campaign, variant or an option."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two campaigns, or what one campaign measured on its targets and nodes or with its options.

    Of two campaigns, configurations are paired, and results are shown as B relative to A. With --by or without B,
    results are relative to those of the first target, node or value.
    """
    with opened(context) as api:
        if b is None or by is not None:
            answer = read_sides(api, _whole([a, *([] if b is None else [b])]), by)
        else:
            answer = api.get("/comparison", _pair(a, b))
        catalogue = Catalogue() if as_json else read_catalogue(api)
    words = lines if "pairs" in answer else side_lines
    show(answer, lambda: words(answer, catalogue), as_json=as_json)


def _pair(a: str, b: str) -> dict[str, str]:
    asked: dict[str, str] = {}
    for name, given in (("a", a), ("b", b)):
        campaign, _, cell = given.partition(":")
        asked |= {name: campaign} | ({f"{name}_cell": cell} if cell else {})
    return asked


def _whole(given: Sequence[str]) -> list[int]:
    """Return the campaigns; raise RefusedError for a single configuration."""
    for side in given:
        if ":" in side:
            remedy = "give another configuration to compare with, or a campaign"
            raise RefusedError([Problem("invalid_input", "one configuration has no sides", "A", side, remedy)])
    return [int(side) for side in given]


def read_sides(api: Api, campaigns: Sequence[int], by: str | None) -> Document:
    """Compare the sides of campaigns; `by` None: targets, else nodes, else the first option that varies."""
    dimension = by if by is None or by in _PLACES or by.startswith(_OPTION) else f"{_OPTION}{by}"
    return api.get("/comparison/sides", {"campaign": campaigns} | ({} if dimension is None else {"by": dimension}))


def side_lines(answer: Document, catalogue: Catalogue, *, only_primary: bool = False) -> Iterator[str]:
    if answer["by"] is None:
        yield "nothing to compare: its configurations do not differ"
        return
    by = answer["by"].removeprefix(_OPTION)
    names = [option_value(by, side) for side in answer["sides"]]
    base = answer["against"]
    yield f"by {plain_title(by).lower()}, relative to {names[base]}"
    marks = Marks()
    for row in answer["rows"]:
        options = catalogue.described(row["workload"], row["options"])
        yield f"{row['workload']}{', ' if options else ''}{options}"
        metrics = [metric for metric in row["metrics"] if metric["is_primary"] or not only_primary]
        if not metrics:
            yield "  no results on several sides yet"
        for metric in metrics:
            yield from _metric_lines(metric, _named(metric, row["workload"], catalogue), names, base, marks)
    yield from marks.lines()
    if answer["sides_left_out"] or answer["rows_left_out"]:
        yield f"left out: {len(answer['sides_left_out'])} sides, {answer['rows_left_out']} rows"


def _metric_lines(metric: Document, title: str, names: Sequence[str], base: int, marks: Marks) -> Iterator[str]:
    yield f"  {title}"
    first = metric["numbers"][base]
    for name, number, verdict in zip(names, metric["numbers"], metric["verdicts"], strict=True):
        if number is None:
            continue
        value = f"{format_value(number['median'], Unit(metric['unit']))}{marks.of(cautions(number['flags']))}"
        if verdict is None:
            yield f"    {name}: {value}, n = {number['n']}"
            continue
        counts = {"n_a": 0 if first is None else first["n"], "n_b": number["n"]}
        yield f"    {name}: {'; '.join([value, verdict['words'], _numbers(verdict | counts), *_conditions(verdict)])}"


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
        p_value = "" if metric["p_value"] is None else f", p {_p_words(metric['p_value'])}"
        return f"{runs}, ratio {format_factor(metric['ratio'])} {interval}{p_value}"
    if metric["median_ratio"] is not None:
        return f"{runs}, ratio of medians {format_factor(metric['median_ratio'])}"
    return runs


def _p_words(value: float) -> str:
    """Return e.g. `= 0.0286` or `< 0.0001`."""
    words = format_p(value)
    return words if words.startswith("<") else f"= {words}"


def _conditions(metric: Document) -> Iterator[str]:
    """Yield the error that a verdict uses, unless it is the scatter of the runs, its looks and possible reasons."""
    if metric["basis"] != "runs" and metric["basis_words"]:
        yield metric["basis_words"]
    if metric["looks"] > 1:
        yield f"look {metric['looks']}, after repeats were added: limits are stricter"
    if reasons := metric.get("reasons"):
        yield f"possible reasons: {', '.join(reasons)}"
