"""What can go wrong with clusters and nodes."""

from iotide_server.kit.errors import ConflictError, NotFoundError


class ClusterNotFoundError(NotFoundError):
    """No such cluster, or none that the caller may see."""

    code = "cluster_not_found"

    def __init__(self, cluster_id: int) -> None:
        super().__init__(f"there is no cluster {cluster_id}", field="cluster_id", value=cluster_id)


class ClusterNameTakenError(ConflictError):
    """Another cluster has the name."""

    code = "cluster_name_taken"

    def __init__(self, name: str) -> None:
        super().__init__(f"there is a cluster {name} already", field="name", value=name, remedy="choose another name")
