import pytest

from iotide_server.kit.schema import RevisionState, judge, known_revisions

KNOWN = ("0003", "0002", "0001")


@pytest.mark.parametrize(
    ("found", "standing"),
    [
        ("0003", RevisionState.CURRENT),
        ("0001", RevisionState.BEHIND),
        ("0004", RevisionState.AHEAD),
        (None, RevisionState.EMPTY),
    ],
)
def test_how_a_database_stands_to_a_release(found: str | None, standing: RevisionState) -> None:
    assert judge(found, KNOWN).standing is standing


def test_this_release_knows_its_scripts_newest_first() -> None:
    assert known_revisions()[-1] == "0001"
    assert len(set(known_revisions())) == len(known_revisions()) > 30
