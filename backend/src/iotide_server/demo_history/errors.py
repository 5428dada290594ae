"""Why a history is not made up, or not removed."""

from collections.abc import Collection, Sequence

from iotide_server.kit.errors import ConflictError, InvalidInputError


class HistoryLoadedError(ConflictError):
    """There is one already."""

    code = "demo_history_loaded"

    def __init__(self, clusters: Sequence[str]) -> None:
        super().__init__(
            f"there is a made-up history already, in {', '.join(clusters)}",
            remedy="remove it with `iotide-server forget-demo-history` first",
        )


class HistoryTooShortError(InvalidInputError):
    """Nothing could be seen in it."""

    code = "demo_history_too_short"

    def __init__(self, days: int, fewest: int, most: int) -> None:
        super().__init__(
            f"a history of {days} days cannot be made up", field="days", value=days, remedy=f"give {fewest} to {most}"
        )


class NotInHistoryError(InvalidInputError):
    """No made-up cluster, or workload of those that are wanted, has that name."""

    code = "demo_history_unknown_name"

    def __init__(self, what: str, name: str, known: Collection[str]) -> None:
        super().__init__(
            f"no {what} {name} is made up", field=what, value=name, remedy=f"give one of {', '.join(sorted(known))}"
        )


class HistoryNameTakenError(ConflictError):
    """A cluster that is not made up has a name that the history wants."""

    code = "demo_history_name_taken"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"there is a cluster {name} that was not made up", value=name, remedy="rename that cluster first"
        )


class NoHistoryError(ConflictError):
    """There is nothing to forget."""

    code = "demo_history_absent"

    def __init__(self) -> None:
        super().__init__(
            "there is no made-up history", remedy="make one with `iotide-server load-demo-history --seed 1`"
        )
