"""Proof files in the shared directory of a gang: how the head reads those of all members."""

from collections.abc import Callable, Sequence

import pytest
from agent.mpi.gang_run import GangRun

from iotide_agent.mpi import shared_directory
from iotide_agent.runner.workspace import TargetRefusedError, make_place, open_beneath

MakeRun = Callable[..., GangRun]
NAMES = ("n1", "n2", "n3", "n4")


@pytest.fixture
def run(make_gang_run: MakeRun) -> GangRun:
    """Return a run whose head has made its directory."""
    made = make_gang_run()
    make_place(made.head.card, made.head.card.targets[0])
    return made


def write(run: GangRun, *numbers: int) -> list[str]:
    directories = [str(run.place)]
    for number in numbers:
        shared_directory.write_member_proofs(run.member.card, directories, "n", number)
    return directories


def test_the_head_opens_its_directory_once_for_the_files_of_all_members(
    run: GangRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    directories = write(run, 1, 2, 3)
    opened: list[str] = []

    def count(approved: Sequence[str], path: str) -> tuple[int, str]:
        opened.append(path)
        return open_beneath(approved, path)

    monkeypatch.setattr(shared_directory, "open_beneath", count)
    shared_directory.read_member_proofs(run.head.card, directories, "n", NAMES)
    assert len(opened) == 1


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        (".iotide-proof-2", None, "does not see"),
        (".iotide-proof-2", "", "as empty"),
        (".iotide-proof-3", "of another run", "node n4 wrote 'of another run'"),
    ],
)
def test_a_file_of_a_member_that_is_missing_empty_or_another_is_refused(
    run: GangRun, monkeypatch: pytest.MonkeyPatch, file: str, content: str | None, words: str
) -> None:
    monkeypatch.setattr(shared_directory, "PROOF_SECONDS", 0.0)
    directories = write(run, 1, 2, 3)
    if content is None:
        (run.place / file).unlink()
    else:
        (run.place / file).write_text(content)
    with pytest.raises(TargetRefusedError, match=words) as refused:
        shared_directory.read_member_proofs(run.head.card, directories, "n", NAMES)
    assert refused.value.code == "other_file_system"
