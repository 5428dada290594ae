"""What can go wrong when repeats are added to a campaign."""

from collections.abc import Sequence

from iotide_server.kit.errors import ConflictError, NotFoundError


class CellsNotFoundError(NotFoundError):
    """Repeats are wanted of a cell that the campaign does not have."""

    code = "cell_not_found"

    def __init__(self, campaign_id: int, cell_ids: Sequence[int], cell_id: int) -> None:
        super().__init__(
            f"campaign {campaign_id} has no cell {cell_id}",
            field=f"cell_ids[{list(cell_ids).index(cell_id)}]",
            value=cell_id,
            remedy=f"take ids from /api/v1/campaigns/{campaign_id}/cells",
        )


class TooManyRunsError(ConflictError):
    """The campaign would have more runs than one may have."""

    code = "too_many_runs"

    def __init__(self, campaign_id: int, repeats: int, runs: int, allowed: int) -> None:
        super().__init__(
            f"campaign {campaign_id} would have {runs} runs; a campaign has at most {allowed}",
            field="repeats",
            value=repeats,
            remedy="add fewer repeats, or choose fewer cells",
        )


class CellStageOverError(ConflictError):
    """The servers are no longer in the state in which the cell was to be measured."""

    code = "cell_stage_over"

    def __init__(self, cell_id: int, variant: str) -> None:
        super().__init__(
            f"cell {cell_id} belongs to the stage {variant!r} of its campaign, which is over",
            field="cell_ids",
            value=cell_id,
            remedy="choose cells of the present stage or a later one, or submit a campaign for that stage",
        )


class CellResourcesGoneError(ConflictError):
    """What the runs would need is no longer there."""

    code = "cell_resources_gone"

    def __init__(self, campaign_id: int, gone: Sequence[str]) -> None:
        super().__init__(
            f"cells of campaign {campaign_id} cannot be run any more: {'; '.join(gone[:5])}",
            field="campaign_id",
            value=campaign_id,
            remedy="choose other cells, or submit a campaign over the nodes and targets that there are",
        )
