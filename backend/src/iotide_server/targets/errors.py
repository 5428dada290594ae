"""What can go wrong with targets."""

from collections.abc import Collection

from iotide_server.kit.errors import ConflictError, InvalidInputError, NotFoundError
from iotide_server.kit.suggest import choose_from


class TargetNotFoundError(NotFoundError):
    """No such target, or none that the caller may see."""

    code = "target_not_found"

    def __init__(self, target: int | str, known: Collection[str] = (), *, field: str = "target_id") -> None:
        super().__init__(
            f"there is no target {target}",
            field=field,
            value=target,
            remedy=choose_from(target, known) if isinstance(target, str) else None,
        )


class TargetNameTakenError(ConflictError):
    """A living target of the cluster has the name."""

    code = "target_name_taken"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the cluster has a target {name} already", field="name", value=name, remedy="choose another name"
        )


class FileSystemIsTargetError(ConflictError):
    """Another living target is the same directory of the same shared file system."""

    code = "file_system_is_target"

    def __init__(self, name: str, path: str, target_id: int) -> None:
        super().__init__(
            f"what is mounted at {path} is the target {name} already",
            field="path",
            value=path,
            remedy=f"measure {name}; nodes that it lacks are added with `elsewhere` in PATCH /targets/{target_id}",
        )


class StrangerMountError(ConflictError):
    """A node would have another file system mounted than the rest of a shared target."""

    code = "stranger_mounted"

    def __init__(self, target: str, node: str, problem: str) -> None:
        what, _, remedy = problem.partition("; ")
        super().__init__(
            f"target {target} on node {node}: {what}",
            field="targets",
            value=target,
            remedy=f"mount on {node} what the others have, or {remedy}",
        )


class BackingError(ConflictError):
    """A target cannot be backed by this one."""

    code = "backing_refused"

    def __init__(self, name: str, problem: str, remedy: str) -> None:
        super().__init__(f"targets: {problem}", field="targets", value=name, remedy=remedy)


class TargetBusyError(ConflictError):
    """Runs need the target."""

    code = "target_busy"

    def __init__(self, name: str, run_count: int) -> None:
        super().__init__(
            f"{run_count} waiting or active runs load the target {name}",
            field="target_id",
            value=name,
            remedy="cancel them or let them end first",
        )


class PathRefusedError(InvalidInputError):
    """A path that no run may write below."""

    code = "path_refused"

    def __init__(self, path: str, problem: str, remedy: str) -> None:
        super().__init__(f"path: {problem}", field="path", value=path, remedy=remedy)


class PathNotApprovedError(InvalidInputError):
    """A node's own configuration does not let runs write below the path."""

    code = "path_not_approved"

    def __init__(self, path: str, node: str, approved: Collection[str]) -> None:
        super().__init__(
            f"path: {node} does not let runs write below {path}",
            field="path",
            value=path,
            remedy=f"choose a path at or below {', '.join(approved)}, or approve it in the agent's configuration"
            if approved
            else f"approve a directory in the configuration of the agent on {node}",
        )


class NothingMountedError(ConflictError):
    """The node did not announce any file system at the path."""

    code = "nothing_mounted"

    def __init__(self, path: str, node: str) -> None:
        super().__init__(
            f"{node} has not announced a file system that holds {path}",
            field="path",
            value=path,
            remedy=f"start the agent on {node}, or mount the file system there",
        )
