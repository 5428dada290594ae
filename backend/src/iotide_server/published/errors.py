"""Why published results are not loaded, or not removed."""

from iotide_server.kit.errors import ConflictError


class PublishedNameTakenError(ConflictError):
    """A cluster of somebody's own has a name that published results want."""

    code = "published_name_taken"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"there is a cluster {name} that holds no published results", value=name, remedy="rename that cluster first"
        )


class NothingPublishedError(ConflictError):
    """There is nothing to remove."""

    code = "published_absent"

    def __init__(self) -> None:
        super().__init__("no published results are loaded", remedy="load them with `iotide-server load-published`")
