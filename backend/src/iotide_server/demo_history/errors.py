"""Why sample data is not loaded, or not removed."""

from collections.abc import Collection, Sequence

from iotide_server.kit.errors import ConflictError, InvalidInputError


class HistoryLoadedError(ConflictError):
    """There is one already."""

    code = "demo_history_loaded"

    def __init__(self, clusters: Sequence[str]) -> None:
        super().__init__(
            f"there is sample data already, in {', '.join(clusters)}",
            remedy="remove it with `iotide-server forget-demo-history` first",
        )


class HistoryTooShortError(InvalidInputError):
    """Nothing could be seen in it."""

    code = "demo_history_too_short"

    def __init__(self, days: int, fewest: int, most: int) -> None:
        super().__init__(
            f"sample data of {days} days cannot be loaded", field="days", value=days, remedy=f"give {fewest} to {most}"
        )


class NotInHistoryError(InvalidInputError):
    """No cluster of the sample data, or workload of those that are wanted, has that name."""

    code = "demo_history_unknown_name"

    def __init__(self, what: str, name: str, known: Collection[str]) -> None:
        super().__init__(
            f"the sample data has no {what} {name}",
            field=what,
            value=name,
            remedy=f"give one of {', '.join(sorted(known))}",
        )


class HistoryNameTakenError(ConflictError):
    """A cluster without sample data has a name that the sample data wants."""

    code = "demo_history_name_taken"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"there is a cluster {name} already, which is no sample data",
            value=name,
            remedy="rename that cluster first",
        )


class NoHistoryError(ConflictError):
    """There is nothing to forget."""

    code = "demo_history_absent"

    def __init__(self) -> None:
        super().__init__("there is no sample data", remedy="load it with `iotide-server load-demo-history --seed 1`")
