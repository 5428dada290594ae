"""Proof that the nodes of a gang use the same directories, as the same user, and see each other's files.

Each member checks the head's mark and writes a small file, which the head reads; each reads one of the head. All of it
runs in forked children, because a target may hang.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from iotide_agent.runner import processes
from iotide_agent.runner.card import Card, TargetCard
from iotide_agent.runner.emptying import opened_below
from iotide_agent.runner.files import closing
from iotide_agent.runner.workspace import TargetRefusedError, check_mount, has_mark_of, open_beneath, refused_by

PROOF_SECONDS: Final = 10.0
"""Longest wait for a file that another node has closed: NFS keeps the names of a directory for some seconds."""
_AGAIN_SECONDS: Final = 0.2
_MOST_BYTES: Final = 256
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write_member_proofs(card: Card, directories: Sequence[str], nonce: str, number: int) -> None:
    """Check the head's marked directories and write a file of member `number` into each; raise TargetRefusedError."""
    for target, directory in zip(card.targets, directories, strict=True):
        with _opened(card, target, directory) as made:
            _write(made, _name(number), _content(nonce, number, target), directory)


def read_member_proofs(card: Card, directories: Sequence[str], nonce: str, names: Sequence[str]) -> None:
    """Read the files of all members; raise TargetRefusedError.

    `names` are the nodes in order, this head first.
    """
    members = [*enumerate(names[1:], start=1)]
    for target, directory in zip(card.targets, directories, strict=True):
        late = []
        # Opened once for all that are there: a thousand times would take longer than a target may.
        with _opened(card, target, directory) as made:
            for number, node in members:
                file = _open_proof(made, _name(number), directory)
                if file is None:
                    late.append((number, node))
                    continue
                with closing(file):
                    _check_member(made, file, directory, (node, _content(nonce, number, target)))
        for number, node in late:
            with _until_there(card, target, directory, _name(number)) as (made, file):
                _check_member(made, file, directory, (node, _content(nonce, number, target)))


def write_head_proof(card: Card, directories: Sequence[str], nonce: str) -> None:
    for target, directory in zip(card.targets, directories, strict=True):
        with _opened(card, target, directory) as made:
            _write(made, _name(0), _content(nonce, 0, target), directory)


def read_head_proof(card: Card, directories: Sequence[str], number: int) -> str:
    """Return the content of the head's files, and remove those of member `number`; raise TargetRefusedError."""
    said = []
    for target, directory in zip(card.targets, directories, strict=True):
        with _until_there(card, target, directory, _name(0)) as (made, file):
            said.append(os.read(file, _MOST_BYTES).decode(errors="replace"))
            with suppress(OSError):  # it goes with the directory
                os.unlink(_name(number), dir_fd=made)
    return "\n".join(said)


def remove_head_proof(card: Card, directories: Sequence[str]) -> None:
    for target, directory in zip(card.targets, directories, strict=True):
        with _opened(card, target, directory) as made, suppress(OSError):
            os.unlink(_name(0), dir_fd=made)


def expected_of_head(card: Card, nonce: str) -> str:
    return "\n".join(_content(nonce, 0, target) for target in card.targets)


def _name(number: int) -> str:
    return f".iotide-proof-{number}"


def _content(nonce: str, number: int, target: TargetCard) -> str:
    return f"{nonce} {number} {target.target_id}"


@contextmanager
def _opened(card: Card, target: TargetCard, directory: str) -> Iterator[int]:
    """Open the run's directory on a target of this node without following links, and check the mark of the attempt."""
    order_id = card.gang.order_id if card.gang else card.order_id
    parent, path = open_beneath(card.approved, target.path)
    with closing(parent):
        check_mount(parent, target)
        own = f"{path}/{card.directory_name}"
        if own != directory:
            reason = f"the head works in {directory}, which is {own} on this node; mount the target at the same path"
            raise TargetRefusedError("other_path", reason)
        try:
            if not has_mark_of(parent, card.directory_name, order_id, card.fence):
                reason = f"{own} has the mark of another attempt, or none; it may be of another file system, or a copy"
                raise TargetRefusedError("stale_mark", f"{reason}; remove it")
            with opened_below(card.directory_name, parent) as made:
                yield made
        except FileNotFoundError as error:
            raise _other_file_system(own, "the head made it, but this node does not see it") from error
        except PermissionError as error:
            raise _other_user(own, f"user {os.geteuid()} may not use it") from error
        except OSError as error:
            raise refused_by(error, "target_error", f"{own} cannot be used: {error.strerror or error}") from error


def _write(made: int, name: str, text: str, directory: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=made)  # of a killed runner of this order
    file = os.open(name, _WRITE, 0o600, dir_fd=made)
    with closing(file):
        os.write(file, text.encode())
        owners = os.fstat(file).st_uid, os.fstat(made).st_uid
    if owners[0] != owners[1]:
        raise _other_user(directory, f"a new file there belongs to user {owners[0]}, the directory to {owners[1]}")


def _check_member(made: int, file: int, directory: str, expected: tuple[str, str]) -> None:
    """Compare a file with the node that wrote it and its content."""
    node, content = expected
    found = os.read(file, _MOST_BYTES).decode(errors="replace")
    owners = os.fstat(file).st_uid, os.fstat(made).st_uid
    if found != content:
        raise _other_file_system(directory, f"node {node} wrote {found[:80]!r} into its file there")
    if owners[0] != owners[1]:
        raise _other_user(directory, f"node {node} writes there as user {owners[0]}, this one as {owners[1]}")


@contextmanager
def _until_there(card: Card, target: TargetCard, directory: str, name: str) -> Iterator[tuple[int, int]]:
    """Open the directory again and again until a file of another node is there, with content."""
    until = processes.boottime() + PROOF_SECONDS
    while True:
        with _opened(card, target, directory) as made:
            file = _open_proof(made, name, directory)
            if file is not None:
                with closing(file):
                    yield made, file
                return
            if processes.boottime() >= until:
                raise _other_file_system(directory, "another node wrote a file that this one does not see, or as empty")
        processes.sleep_until(processes.boottime() + _AGAIN_SECONDS)


def _open_proof(made: int, name: str, directory: str) -> int | None:
    """Return None for a file that is missing or still empty."""
    try:
        file = os.open(name, _READ, dir_fd=made)
    except FileNotFoundError:
        return None
    except PermissionError as error:
        raise _other_user(directory, f"user {os.geteuid()} cannot read the file of another node") from error
    if os.fstat(file).st_size:
        return file
    os.close(file)
    return None


def _other_file_system(directory: str, why: str) -> TargetRefusedError:
    reason = (
        f"{directory} is on another file system than on the head: {why}; mount the same one on all nodes of the run"
    )
    return TargetRefusedError("other_file_system", reason)


def _other_user(directory: str, why: str) -> TargetRefusedError:
    remedy = "run the loads as the same numeric user on all nodes (`run_as`), and map users alike in the file system"
    return TargetRefusedError("other_user", f"{directory}: {why}; {remedy}")
