"""The stripe calculator over HTTP."""

import pytest
from factories.people import Person
from fastapi.testclient import TestClient

STRIPES = "/api/v1/stripes"


def test_stripes_of_a_layout_have_commands_and_reasons(client: TestClient, admin: Person) -> None:
    asked = {"layout": "raid5:4x64K", "filesystem": ["ext4", "jfs"]}
    shown = client.get(STRIPES, params=asked, headers=admin.headers).json()
    assert (shown["layout"], shown["data_disks"], shown["width_bytes"]) == ("raid5 4x64K", 3, 192 * 1024)
    mkfs = {(one["filesystem"], one["align"]): one for one in shown["mkfs"]}
    aligned = mkfs["ext4", "aligned"]
    assert "stride=16,stripe_width=48" in " ".join(aligned["command"])
    assert (aligned["unit_blocks"], aligned["width_blocks"]) == (16, 48)
    assert mkfs["jfs", "aligned"]["command"] is None
    assert mkfs["jfs", "aligned"]["problem"]


@pytest.mark.parametrize("layout", ["raid5:2x64K", "raid5:4x3K", "raid9:4", "", "/dev/sda"])
def test_an_impossible_layout_is_rejected_with_its_remedy(client: TestClient, admin: Person, layout: str) -> None:
    answer = client.get(STRIPES, params={"layout": layout}, headers=admin.headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["field"]) == (422, "layout_impossible", "layout")
    assert error["remedy"]
