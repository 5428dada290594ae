import pytest

from iotide_server.kit.migrations import RevisionState, judge, known_revisions

KNOWN = ("0035", "0034", "0032")


@pytest.mark.parametrize(
    ("found", "standing"),
    [
        ("0035", RevisionState.CURRENT),
        ("0032", RevisionState.BEHIND),
        ("0001", RevisionState.BEHIND),
        ("0036", RevisionState.AHEAD),
        (None, RevisionState.EMPTY),
    ],
)
def test_a_database_is_older_equal_or_newer_than_a_release(found: str | None, standing: RevisionState) -> None:
    assert judge(found, KNOWN).standing is standing


def test_this_release_knows_its_scripts_newest_first() -> None:
    assert known_revisions()[-1] == "0032"
    assert len(set(known_revisions())) == len(known_revisions()) > 20
