from typing import Any

import pytest
from factories.announced import hello
from factories.scratch_sets import disk, scratch_set
from pydantic import ValidationError

from iotide_wire.messages import HelloRequest
from iotide_wire.scratch_sets import MOST_SETS, ScratchSet, identity_sha256
from iotide_wire.versions import WIRE_VERSION, as_spoken


def said(*sets: ScratchSet) -> HelloRequest:
    given = hello().model_dump(mode="json") | {"scratch_sets": [one.model_dump(mode="json") for one in sets]}
    return HelloRequest.model_validate(given)


@pytest.mark.parametrize(
    "lie",
    [
        {"id": "/dev/sda"},
        {"serial": "A\nB"},
        {"serial": ""},
        {"wwn": "../../dev/sda"},
        {"wwn": None, "serial": None},
        {"size_bytes": 0},
        {"size_bytes": 2**63},
        {"model": "x" * 129},
        {"bay": "<b>"},
        {"adopted_by": "root; rm"},
        {"state": "fine"},
    ],
)
def test_a_disk_that_no_helper_would_list_is_refused(lie: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        disk(1, **lie)


@pytest.mark.parametrize(
    "lie",
    [
        {"mount_path": "/etc"},
        {"mount_path": "/srv/iotide-scratch/../etc"},
        {"mount_path": "/srv/iotide-scratch/other"},
        {"name": "../etc"},
        {"reason": "a\0b"},
        {"reason": "x" * 1001},
        {"variant": ""},
        {"variant": "x" * 501},
        {"disks": [disk(number) for number in range(65)]},
    ],
)
def test_a_set_that_no_helper_would_list_is_refused(lie: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        scratch_set(**lie)


def test_a_node_announces_few_sets_and_each_disk_once() -> None:
    many = [scratch_set(f"s{number}", disk(number)) for number in range(MOST_SETS + 1)]
    assert len(said(*many[:-1]).scratch_sets or ()) == MOST_SETS
    with pytest.raises(ValidationError, match="at most 50"):
        said(*many)
    with pytest.raises(ValidationError, match="listed twice"):
        said(scratch_set("a", disk(1)), scratch_set("b", disk(1)))
    with pytest.raises(ValidationError, match="same name"):
        said(scratch_set("a", disk(1)), scratch_set("a", disk(2)))
    with pytest.raises(ValidationError, match="more than 256 disks"):
        said(*(scratch_set(f"s{at}", *(disk(at * 60 + number) for number in range(60))) for at in range(5)))


def test_a_server_of_an_older_version_is_sent_no_sets() -> None:
    spoken = said(scratch_set())
    assert b"scratch_sets" in as_spoken(spoken, WIRE_VERSION)
    assert b"scratch_sets" not in as_spoken(spoken, WIRE_VERSION - 1)


@pytest.mark.parametrize("change", [{"id": disk(9).id}, {"wwn": "naa.5"}, {"serial": "X"}, {"size_bytes": 1}])
def test_the_digest_names_the_disks_and_not_their_state(change: dict[str, Any]) -> None:
    known = identity_sha256([disk(1), disk(2)])
    assert identity_sha256([disk(2, state="dirty", bay="7"), disk(1)]) == known
    assert identity_sha256([disk(1), disk(2, **change)]) != known
    assert identity_sha256([disk(1)]) != known
