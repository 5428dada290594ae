"""What can go wrong with alerts and their rules."""

from collections.abc import Sequence

from iotide_server.alerts.lifecycle import AlertState, Move
from iotide_server.kit.errors import ConflictError, InvalidInputError, NotFoundError


class AlertNotFoundError(NotFoundError):
    """No such alert, or none that the caller may see."""

    code = "alert_not_found"

    def __init__(self, alert_id: int) -> None:
        super().__init__(f"there is no alert {alert_id}", field="alert_id", value=alert_id)


class AlertRuleNotFoundError(NotFoundError):
    """No such rule, or none that the caller may see, or it was removed."""

    code = "alert_rule_not_found"

    def __init__(self, rule_id: int) -> None:
        super().__init__(f"there is no alert rule {rule_id}", field="rule_id", value=rule_id)


class AlertRuleNameTakenError(ConflictError):
    """Another rule of the cluster has the name."""

    code = "alert_rule_name_taken"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the cluster has an alert rule {name} already",
            field="name",
            value=name,
            remedy="choose another name, or change or remove that rule",
        )


class MoveRefusedError(ConflictError):
    """The alert's state does not lead there."""

    code = "alert_move_refused"

    def __init__(self, alert_id: int, state: AlertState, move: Move, possible: Sequence[Move]) -> None:
        super().__init__(
            f"alert {alert_id} is {state}: {move} leads nowhere from there",
            field="action",
            value=move.value,
            remedy=f"it takes {', '.join(possible)}",
        )


class DetailMissingError(InvalidInputError):
    """An action comes without what it needs."""

    code = "alert_detail_missing"

    def __init__(self, field: str, action: Move) -> None:
        super().__init__(f"{field}: {action} needs it", field=field, remedy=f"give {field}")


class DetailUnexpectedError(InvalidInputError):
    """An action comes with what belongs to another one."""

    code = "alert_detail_unexpected"

    def __init__(self, field: str, action: Move, belongs_to: Move) -> None:
        super().__init__(
            f"{field}: {action} takes none", field=field, remedy=f"leave {field} out; it goes with {belongs_to}"
        )


class OwnerUnknownError(InvalidInputError):
    """Nobody of that name may see the alert."""

    code = "owner_unknown"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"owner: {name} is nobody who may see this cluster",
            field="owner",
            value=name,
            remedy="name somebody with a role in the cluster, or leave it out to take the alert yourself",
        )


class WorkloadUnknownError(InvalidInputError):
    """No agent ever announced a workload of that name."""

    code = "workload_unknown"
