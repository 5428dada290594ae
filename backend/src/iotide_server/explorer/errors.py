"""What can go wrong with the table of runs."""

from iotide_server.kit.errors import ConflictError, InvalidInputError, NotAllowedError, NotFoundError

MOST_VIEWS = 100


class WorkloadWantedError(InvalidInputError):
    """Numbers of different workloads are in no order."""

    code = "workload_wanted"

    def __init__(self, sort: str) -> None:
        super().__init__(
            f"sort: {sort} needs one workload", field="sort", value=sort, remedy="name a workload, or sort by time"
        )


class ViewNotFoundError(NotFoundError):
    """No such view of the caller's."""

    code = "view_not_found"

    def __init__(self, view_id: int) -> None:
        super().__init__(f"you have no view {view_id}", field="view_id", value=view_id)


class ViewNameTakenError(ConflictError):
    """The caller has another view of that name."""

    code = "view_name_taken"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"you have a view {name} already",
            field="name",
            value=name,
            remedy="choose another name, or change it",
        )


class TooManyViewsError(ConflictError):
    """Nobody finds anything among so many."""

    code = "too_many_views"

    def __init__(self) -> None:
        super().__init__(f"you have {MOST_VIEWS} views already", remedy="remove one that you no longer use")


class NobodysViewError(NotAllowedError):
    """The caller is no user, so that there is nobody to keep a view for."""

    code = "user_wanted"

    def __init__(self) -> None:
        super().__init__("views are kept for users", remedy="sign in, or use the token of a user")


class ReadingTokenError(NotAllowedError):
    """The token may only read."""

    code = "reading_token"

    def __init__(self) -> None:
        super().__init__(
            "the token may only read, and a view would be changed",
            remedy="use a token of the scope operate of somebody who is an operator, or change views in a browser",
        )
