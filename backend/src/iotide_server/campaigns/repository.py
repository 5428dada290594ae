"""SQL of campaigns."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final, cast

import psycopg
from sqlalchemy import Row, exists, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from iotide_server.campaigns.models import (
    Campaign,
    CampaignAddition,
    CampaignStage,
    CampaignWindow,
    Cell,
    CellNode,
    CellTarget,
)
from iotide_server.campaigns.planned import PlannedBlock, PlannedCampaign

AnyRow = Row[Any]

BUDGET_USED_UP: Final = "budget_used_up"
"""Reason code of runs that adaptive repeats had no time for. They do not make their campaign a cancelled one."""

_COLUMNS: Final = """
    SELECT campaign.id, campaign.name, campaign.cluster_id, cluster.name AS cluster_name, user_account.name AS owner,
           CASE WHEN octet_length(CAST(campaign.plan AS text)) <= :plan_bytes THEN campaign.plan END AS plan,
           campaign.created_at, counted.*, schedule.id AS schedule_id, schedule.name AS schedule_name,
           ARRAY(SELECT jsonb_build_object('ordinal', ordinal, 'variant', variant, 'does', does, 'pause', pause,
                        'state', state, 'paused_at', paused_at, 'opened_at', opened_at, 'confirmed_by', confirmed_by,
                        'runs', of_stage.runs, 'ended', of_stage.ended, 'failed', of_stage.failed,
                        'cancelled', of_stage.cancelled,
                        'run_id', CASE WHEN does <> 'measure' THEN of_stage.run_id END,
                        'run_state', CASE WHEN does <> 'measure' THEN of_stage.run_state END)
                 FROM campaign_stage JOIN LATERAL (
                     SELECT count(*) AS runs, count(*) FILTER (WHERE run.state NOT IN ('waiting', 'active')) AS ended,
                            count(*) FILTER (WHERE run.state = 'failed') AS failed,
                            count(*) FILTER (WHERE run.state = 'cancelled') AS cancelled,
                            coalesce(max(run.id) FILTER (WHERE run.state = 'failed'), max(run.id)) AS run_id,
                            -- Of several mounts, the one that the next stage waits for or fails by.
                            CASE WHEN bool_or(run.state = 'failed') THEN 'failed'
                                 WHEN bool_or(run.state = 'active') THEN 'active'
                                 WHEN bool_or(run.state = 'waiting') THEN 'waiting'
                                 WHEN bool_or(run.state = 'cancelled') THEN 'cancelled'
                                 WHEN count(*) > 0 THEN 'finished' END AS run_state
                     FROM cell JOIN run ON run.cell_id = cell.id
                     WHERE cell.campaign_id = campaign.id AND cell.stage = campaign_stage.ordinal
                 ) AS of_stage ON true
                 WHERE campaign_stage.campaign_id = campaign.id ORDER BY ordinal) AS stages,
           ARRAY(SELECT jsonb_build_object('added_at', addition.created_at, 'added_by', adder.name,
                        'repeats', repeats, 'cells', cardinality(cell_ids))
                 FROM campaign_addition AS addition LEFT JOIN user_account AS adder ON adder.id = addition.owner_id
                 WHERE addition.campaign_id = campaign.id ORDER BY addition.id) AS additions,
           CASE WHEN campaign.plan ->> 'spread_seconds' IS NOT NULL THEN next_start_at END AS next_release_at,
           adaptive.progress AS adaptive, coalesce(prepared.preparations, '[]') AS preparations,
           CASE WHEN waiting + active = 0 AND coalesce(CAST(adaptive.progress ->> 'open' AS bigint), 0) = 0 THEN
                CASE WHEN failed > 0 THEN 'failed' WHEN cancelled > over_budget THEN 'cancelled' ELSE 'finished' END
                WHEN active = 0 AND EXISTS (
                    SELECT FROM campaign_stage JOIN cell USING (campaign_id) JOIN run ON run.cell_id = cell.id
                    WHERE campaign_stage.campaign_id = campaign.id AND campaign_stage.state = 'paused'
                      AND cell.stage = campaign_stage.ordinal AND run.state = 'waiting'
                ) THEN 'paused'
                WHEN active + finished + failed + cancelled = 0 THEN 'waiting' ELSE 'active' END AS state
"""
_JOINS: Final = f"""
    JOIN cluster ON cluster.id = campaign.cluster_id
    LEFT JOIN user_account ON user_account.id = campaign.owner_id
    LEFT JOIN firing ON firing.campaign_id = campaign.id
    LEFT JOIN schedule ON schedule.id = firing.schedule_id
    JOIN LATERAL (
        SELECT count(*) FILTER (WHERE run.state = 'waiting') AS waiting,
               count(*) FILTER (WHERE run.state = 'active') AS active,
               count(*) FILTER (WHERE run.state = 'finished') AS finished,
               count(*) FILTER (WHERE run.state = 'failed') AS failed,
               count(*) FILTER (WHERE run.state = 'cancelled') AS cancelled,
               count(*) FILTER (WHERE run.state = 'cancelled' AND run.reason_code = '{BUDGET_USED_UP}') AS over_budget,
               count(*) AS runs,
               min(run.not_before) FILTER (WHERE run.state = 'waiting' AND run.not_before > :now) AS next_start_at,
               max(run.not_before) FILTER (WHERE run.state = 'waiting') AS last_start_at,
               min(run.started_at) AS started_at,
               max(run.ended_at) AS last_ended_at
        FROM run WHERE run.campaign_id = campaign.id
    ) AS counted ON true
    LEFT JOIN LATERAL (
        SELECT jsonb_object_agg(end_of, cells) || jsonb_build_object(
                   'until_ratio', campaign.plan -> 'adaptive' -> 'until_ratio',
                   'open', coalesce(sum(cells) FILTER (WHERE end_of = 'open'), 0)) AS progress
        FROM (
            SELECT coalesce(ended_because, 'open') AS end_of, count(*) AS cells
            FROM adaptive_cell WHERE adaptive_cell.campaign_id = campaign.id GROUP BY ended_because
        ) AS by_end HAVING count(*) > 0
    ) AS adaptive ON true
    LEFT JOIN LATERAL (
        SELECT jsonb_agg(to_jsonb(of_work) - 'first' ORDER BY first) AS preparations
        FROM (
            SELECT does, min(campaign_stage.ordinal) AS first,
                   count(*) FILTER (WHERE run.state = 'waiting') AS waiting,
                   count(*) FILTER (WHERE run.state = 'active') AS active,
                   count(*) FILTER (WHERE run.state = 'finished') AS finished,
                   count(*) FILTER (WHERE run.state = 'failed') AS failed,
                   count(*) FILTER (WHERE run.state = 'cancelled') AS cancelled
            FROM campaign_stage
            JOIN cell ON cell.campaign_id = campaign_stage.campaign_id AND cell.stage = campaign_stage.ordinal
            JOIN run ON run.cell_id = cell.id
            WHERE campaign_stage.campaign_id = campaign.id AND does <> 'measure' GROUP BY does
        ) AS of_work
    ) AS prepared ON true
"""  # noqa: S608 - made of the constant above
_ANY_SIZE: Final = 2**31 - 1
_COPY_CELLS: Final = (
    "COPY cell (campaign_id, ordinal, stage, variant, workload_id, options, options_sha256, bytes_needed, bytes_moved)"
    " FROM STDIN"
)
_INSERT_PLACES: Final = text(
    """
    WITH of_block AS MATERIALIZED (
        SELECT id, CAST(ordinal AS bigint) AS ordinal,
               width_bucket(CAST(ordinal AS bigint), CAST(:firsts AS bigint[])) AS block
        FROM cell WHERE campaign_id = :campaign_id
    ), on_nodes AS (
        INSERT INTO cell_node (cell_id, node_id, step_role)
        SELECT of_block.id, node_id, CASE WHEN own.ordinal IS NULL THEN step_role END
        FROM of_block JOIN unnest(CAST(:node_blocks AS bigint[]), CAST(:node_ids AS bigint[]),
                                  CAST(:node_roles AS text[])) AS loading (block, node_id, step_role) USING (block)
        LEFT JOIN unnest(CAST(:own_ordinals AS bigint[])) AS own (ordinal) USING (ordinal)
    ), observed AS (
        INSERT INTO cell_observer (cell_id, node_id)
        SELECT of_block.id, node_id
        FROM of_block JOIN unnest(CAST(:observer_blocks AS bigint[]), CAST(:observer_ids AS bigint[]))
            AS observing (block, node_id) USING (block)
    )
    INSERT INTO cell_target (cell_id, target_id)
    SELECT of_block.id, target_id
    FROM of_block JOIN unnest(CAST(:target_blocks AS bigint[]), CAST(:target_ids AS bigint[]))
        AS loaded (block, target_id) USING (block)
    """
)
_PROGRESS: Final = text(
    """
    SELECT node_order.run_id, min(coalesce(node_order.progress, 0)) AS progress
    FROM run JOIN attempt ON attempt.run_id = run.id AND attempt.state = 'open'
    JOIN node_order ON node_order.attempt_id = attempt.id AND node_order.role = 'load'
    LEFT JOIN cell_node AS part ON part.cell_id = run.cell_id AND part.node_id = node_order.node_id
    WHERE run.campaign_id = :campaign_id AND run.state = 'active' AND part.step_role IS DISTINCT FROM 'member'
    GROUP BY node_order.run_id
    """
)
_PREVIOUS_OF_SCHEDULE: Final = text(
    """
    SELECT earlier.campaign_id
    FROM firing JOIN firing AS earlier
        ON earlier.schedule_id = firing.schedule_id AND earlier.id < firing.id
    WHERE firing.campaign_id = :campaign_id
      AND EXISTS (SELECT FROM run WHERE run.campaign_id = earlier.campaign_id AND run.state = 'finished')
      AND NOT EXISTS (
          SELECT FROM run WHERE run.campaign_id = earlier.campaign_id AND run.state IN ('waiting', 'active')
      )
    ORDER BY earlier.id DESC LIMIT 1
    """
)


def by_idempotency_key(session: Session, owner_id: int | None, key: str) -> Campaign | None:
    return session.scalar(select(Campaign).where(Campaign.owner_id == owner_id, Campaign.idempotency_key == key))


def addition_by_key(session: Session, owner_id: int | None, key: str) -> CampaignAddition | None:
    statement = select(CampaignAddition).where(
        CampaignAddition.owner_id == owner_id, CampaignAddition.idempotency_key == key
    )
    return session.scalar(statement)


def lock_campaign(session: Session, campaign_id: int) -> Campaign:
    return session.scalars(
        select(Campaign)
        .where(Campaign.id == campaign_id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    ).one()


def stages_of_cells(session: Session, campaign_id: int) -> dict[int, int]:
    """Return the stage by id of each cell of the matrix, in the order of the plan."""
    own = (CampaignStage.campaign_id == Cell.campaign_id, CampaignStage.ordinal == Cell.stage)
    prepares = exists().where(*own, CampaignStage.does != "measure")
    cells = select(Cell.id, Cell.stage).where(Cell.campaign_id == campaign_id, ~prepares).order_by(Cell.ordinal)
    return {row.id: row.stage for row in session.execute(cells)}


def run_count(session: Session, campaign_id: int) -> int:
    """Return the number of runs that measure."""
    statement = text(
        "SELECT count(*) FROM run JOIN cell ON cell.id = run.cell_id WHERE run.campaign_id = :campaign_id"
        " AND NOT EXISTS (SELECT FROM campaign_stage WHERE campaign_stage.campaign_id = cell.campaign_id"
        "  AND campaign_stage.ordinal = cell.stage AND does <> 'measure')"
    )
    return int(session.scalar(statement, {"campaign_id": campaign_id}) or 0)


def hold_present_stage(session: Session, campaign_id: int) -> int | None:
    """Return the newest open stage, and keep others from opening in this transaction."""
    held = select(CampaignStage.ordinal).where(CampaignStage.campaign_id == campaign_id)
    session.execute(held.order_by(CampaignStage.ordinal).with_for_update(read=True)).all()
    opened = held.where(CampaignStage.state == "open").order_by(CampaignStage.ordinal.desc())
    return session.scalar(opened.limit(1))


def insert_cells(session: Session, campaign_id: int, planned: PlannedCampaign) -> None:
    """Store the matrix: cells by COPY, their nodes and targets by block. Raises DBAPIError."""
    connection = cast("psycopg.Connection[Any]", session.connection().connection.driver_connection)
    try:
        with connection.cursor() as cursor, cursor.copy(_COPY_CELLS) as copy:
            for row in _cell_rows(campaign_id, planned):
                copy.write_row(row)
    except psycopg.Error as error:
        raise DBAPIError.instance(_COPY_CELLS, None, error, psycopg.Error) from error
    # The planner underestimates the rows and would use a nested loop.
    session.execute(text("SET LOCAL enable_nestloop = off"))
    session.execute(_INSERT_PLACES, {"campaign_id": campaign_id, **_places(planned.blocks)})
    session.execute(text("SET LOCAL enable_nestloop TO DEFAULT"))


def _cell_rows(campaign_id: int, planned: PlannedCampaign) -> Iterator[tuple[Any, ...]]:
    written: dict[str, list[str]] = {}
    digests: dict[tuple[str, bool], list[str]] = {}
    for block in planned.blocks:
        sets, key = block.option_sets, (block.option_sets.field, block.is_gang)
        if sets.field not in written:
            written[sets.field] = list(sets.as_json())
        if key not in digests:
            digests[key] = list(sets.digests(is_gang=block.is_gang))
        of_sets = zip(written[sets.field], digests[key], sets.kinds, strict=True)
        same = (planned.resolved.stage_ordinal(block.stage), block.variant, sets.workload.id)
        needed, moved = block.bytes_needed, block.bytes_moved
        for ordinal, (options, digest, kind) in enumerate(of_sets, start=block.first):
            yield (campaign_id, ordinal, *same, options, digest, needed[kind], moved[kind])


def _places(blocks: Sequence[PlannedBlock]) -> dict[str, list[Any]]:
    """Return nodes and targets of the blocks, numbered from 1."""
    numbered = list(enumerate(blocks, start=1))
    return {
        "firsts": [block.first for block in blocks],
        "node_blocks": [number for number, block in numbered for _ in block.nodes],
        "node_ids": [node.id for block in blocks for node in block.nodes],
        "node_roles": [role and role.value for block in blocks for role in block.node_roles],
        "own_ordinals": [ordinal for block in blocks for ordinal in block.ordinals_of_own_programs],
        "observer_blocks": [number for number, block in numbered for _ in block.observers],
        "observer_ids": [node.id for block in blocks for node in block.observers],
        "target_blocks": [number for number, block in numbered for _ in block.targets],
        "target_ids": [view.target.id for block in blocks for view in block.targets],
    }


def set_priority(session: Session, campaign_id: int, priority: int) -> int:
    statement = text(
        "WITH before AS (SELECT id, coalesce(CAST(plan ->> 'priority' AS bigint), 0) AS priority FROM campaign"
        " WHERE id = :campaign_id FOR NO KEY UPDATE)"
        " UPDATE campaign SET plan = jsonb_set(plan, '{priority}', to_jsonb(CAST(:priority AS bigint)))"
        " FROM before WHERE campaign.id = before.id RETURNING before.priority"
    )
    return int(session.execute(statement, {"campaign_id": campaign_id, "priority": priority}).scalar_one())


def described_sql(source: str) -> str:
    """Return a SELECT with the state and progress of the campaigns in `source`, a table or a subquery."""
    return f"{_COLUMNS} FROM {source} AS campaign {_JOINS}"


def described(session: Session, campaign_id: int, now: datetime) -> AnyRow:
    statement = text(described_sql("campaign") + "WHERE campaign.id = :campaign_id")
    return session.execute(statement, {"campaign_id": campaign_id, "plan_bytes": _ANY_SIZE, "now": now}).one()


def previous_of_schedule(session: Session, campaign_id: int) -> int | None:
    """Return the previous campaign of its schedule that has ended with a finished run."""
    found: int | None = session.scalar(_PREVIOUS_OF_SCHEDULE, {"campaign_id": campaign_id})
    return found


def lock_stages_due(session: Session) -> list[tuple[CampaignStage, int]]:
    """Return held stages with waiting runs whose previous stages have ended, and their clusters."""
    # A stage with only cancelled runs never begins; the next one does.
    due = text(
        "SELECT campaign_id, ordinal FROM campaign_stage AS due WHERE state = 'held' AND NOT EXISTS ("
        "  SELECT FROM cell JOIN run ON run.cell_id = cell.id WHERE cell.campaign_id = due.campaign_id"
        "  AND cell.stage < due.ordinal AND run.state IN ('waiting', 'active')"
        " ) AND NOT EXISTS ("
        "  SELECT FROM adaptive_cell JOIN cell ON cell.id = adaptive_cell.cell_id"
        "  WHERE adaptive_cell.campaign_id = due.campaign_id AND ended_at IS NULL AND cell.stage < due.ordinal"
        " ) AND EXISTS ("
        "  SELECT FROM cell JOIN run ON run.cell_id = cell.id WHERE cell.campaign_id = due.campaign_id"
        "  AND cell.stage = due.ordinal AND run.state = 'waiting'"
        " ) ORDER BY campaign_id FOR NO KEY UPDATE SKIP LOCKED"
    )
    return [
        (session.get_one(CampaignStage, (row.campaign_id, row.ordinal)), _cluster_of(session, row.campaign_id))
        for row in session.execute(due).all()
    ]


def _cluster_of(session: Session, campaign_id: int) -> int:
    return session.scalars(select(Campaign.cluster_id).where(Campaign.id == campaign_id)).one()


def lock_windows_due(session: Session, now: datetime) -> list[tuple[CampaignWindow, Campaign]]:
    """Return the windows to check, locked against runs that join queues."""
    statement = (
        select(CampaignWindow, Campaign)
        .join(Campaign, Campaign.id == CampaignWindow.campaign_id)
        .where(CampaignWindow.turns_at <= now)
        .order_by(CampaignWindow.campaign_id)
        .with_for_update(of=CampaignWindow, skip_locked=True)
    )
    return [(window, campaign) for window, campaign in session.execute(statement)]


def has_open_runs(session: Session, campaign_id: int) -> bool:
    statement = text(
        "SELECT EXISTS (SELECT FROM run WHERE campaign_id = :campaign_id AND state IN ('waiting', 'active'))"
    )
    return bool(session.scalar(statement, {"campaign_id": campaign_id}))


def paused_stage(session: Session, campaign_id: int, *, is_locked: bool = False) -> CampaignStage | None:
    has_waiting = text(
        "EXISTS (SELECT FROM cell JOIN run ON run.cell_id = cell.id WHERE cell.campaign_id = campaign_stage.campaign_id"
        " AND cell.stage = campaign_stage.ordinal AND run.state = 'waiting')"
    )
    statement = select(CampaignStage).where(
        CampaignStage.campaign_id == campaign_id, CampaignStage.state == "paused", has_waiting
    )
    return session.scalar(statement.with_for_update() if is_locked else statement)


def places_of(session: Session, stage: CampaignStage) -> set[tuple[int, int]]:
    has_waiting = text("EXISTS (SELECT FROM run WHERE run.cell_id = cell.id AND run.state = 'waiting')")
    statement = (
        select(CellNode.node_id, CellTarget.target_id)
        .join(CellTarget, CellTarget.cell_id == CellNode.cell_id)
        .join(Cell, Cell.id == CellNode.cell_id)
        .where(Cell.campaign_id == stage.campaign_id, Cell.stage == stage.ordinal, has_waiting, CellNode.loads())
        .distinct()
    )
    return {(node_id, target_id) for node_id, target_id in session.execute(statement)}


def open_runs_before(session: Session, campaign_id: int, stage: int) -> int:
    statement = text(
        "SELECT count(*) FROM cell JOIN run ON run.cell_id = cell.id WHERE cell.campaign_id = :campaign_id"
        " AND cell.stage < :stage AND run.state IN ('waiting', 'active')"
    )
    return int(session.scalar(statement, {"campaign_id": campaign_id, "stage": stage}) or 0)


def progress_of_active(session: Session, campaign_id: int) -> float:
    return float(sum(row.progress for row in session.execute(_PROGRESS, {"campaign_id": campaign_id})))
