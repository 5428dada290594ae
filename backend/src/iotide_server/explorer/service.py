"""Table of runs."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts.roles.principal import Principal
from iotide_server.explorer import cursors, queries
from iotide_server.explorer.errors import WORKLOAD_WANTED
from iotide_server.explorer.queries import AnyRow
from iotide_server.explorer.schemas import (
    ExplorerFilter,
    ExplorerPaging,
    ExplorerRun,
    Headline,
    RunCount,
    SortKey,
    Sparkline,
    Sparklines,
)
from iotide_server.kit.pagination import Page, require_span

POINTS_SHOWN: Final = 30


def runs_page(
    session: Session, principal: Principal, wanted: ExplorerFilter, paging: ExplorerPaging
) -> Page[ExplorerRun]:
    """Return one page of the visible runs; raises WORKLOAD_WANTED or InvalidInputError."""
    require_span(wanted.since, wanted.until, "time")
    if paging.sort.key is SortKey.VALUE and wanted.workload is None:
        raise WORKLOAD_WANTED(sort=paging.sort)
    after = None if paging.cursor is None else cursors.read(paging.sort, paging.cursor)
    of_caller = queries.resolve(session, wanted, principal.visible_clusters())
    if of_caller is None:
        return Page(items=[], next_cursor=None)
    places = queries.places(session, of_caller, paging.sort, after, paging.limit + 1)
    shown = places[: paging.limit]
    rows = queries.described(session, [place.run_id for place in shown])
    return Page(
        items=[_shown(row) for row in rows],
        next_cursor=cursors.write(paging.sort, shown[-1]) if len(places) > len(shown) else None,
    )


def _shown(row: AnyRow) -> ExplorerRun:
    has_headline = row.series_id is not None
    return ExplorerRun.of_row(
        row,
        headline=Headline.of_row(row, flags=row.headline_flags, usual_flags=row.usual_headline_flags)
        if has_headline
        else None,
        likeness=row.likeness if has_headline else None,
    )


def count(session: Session, principal: Principal, wanted: ExplorerFilter) -> RunCount:
    """Raise InvalidInputError."""
    require_span(wanted.since, wanted.until, "time")
    of_caller = queries.resolve(session, wanted, principal.visible_clusters())
    found = 0 if of_caller is None else queries.count(session, of_caller)
    return RunCount(count=min(found, queries.MOST_COUNTED), is_at_least=found > queries.MOST_COUNTED)


def sparklines(session: Session, principal: Principal, series_ids: Sequence[int]) -> Sparklines:
    rows = queries.sparklines(session, principal.visible_clusters(), sorted({*series_ids}), POINTS_SHOWN)
    return Sparklines(items=[Sparkline.model_validate(row) for row in rows])
