"""`iotide stripe`: numbers and commands without a server, errors with exit status 2."""

import json

import pytest
from factories.commands import Iotide


def test_numbers_commands_and_defaults_need_no_server(iotide: Iotide, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IOTIDE_TOKEN", raising=False)
    lines = iotide("stripe", "--layout", "raid5:4x64K").out.splitlines()
    words = [" ".join(line.split()) for line in lines]
    assert words[:5] == [
        "layout raid5 4x64K",
        "data disks 3 of 4",
        "chunk, full stripe 64K, 192K",
        "minimum, optimal io 64K, 192K",
        "start at multiples of 3M",
    ]
    assert "ext4 default mkfs.ext4 -b 4096 DEVICE (16 / 48 blocks)" in words
    assert "ext4 aligned mkfs.ext4 -b 4096 -E stride=16,stripe_width=48 DEVICE (16 / 48 blocks)" in words
    assert "xfs unaligned mkfs.xfs -b size=4096 -d noalign DEVICE (no geometry)" in words


def test_file_system_block_and_start_are_chosen(iotide: Iotide) -> None:
    ended = iotide(
        "stripe", "--layout", "raid5:5x64K", "--filesystem", "xfs", "--block-size", "2K", "--start", "63s", "--json"
    )
    answer = json.loads(ended.out)
    assert [mkfs["filesystem"] for mkfs in answer["mkfs"]] == ["xfs"] * 3
    assert answer["mkfs"][1]["command"] == ["mkfs.xfs", "-b", "size=2048", "-d", "su=64k,sw=4", "DEVICE"]
    assert answer["mkfs"][0]["width_blocks"] == 0  # dropped silently
    assert answer["alignment_offset_bytes"] == 33280
    assert "start at a multiple of 1M" in answer["notes"][0]


def test_an_impossible_alignment_is_a_line_of_the_answer(iotide: Iotide) -> None:
    assert "ext4 aligned             impossible: raid1 2 has no stripe" in iotide("stripe", "--layout", "raid1:2").out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--layout", "raid5:4x48K"), "a chunk of 48K"),
        (("--layout", "raid5:2x64K"), "use at least 3"),
        (("--layout", "raid9:4x64K"), "is not a layout"),
        (("--layout", "raid5:4x64K", "--block-size", "3K"), "a block of 3072 bytes"),
        (("--layout", "raid5:4x64K", "--block-size", "many"), "not a size"),
        (("--layout", "raid5:4x64K", "--filesystem", "zfs"), "zfs"),
        ((), "--layout"),
    ],
)
def test_wrong_input_ends_with_status_2_and_a_remedy(iotide: Iotide, arguments: tuple[str, ...], words: str) -> None:
    ended = iotide("stripe", *arguments)
    assert ended.status == 2
    assert words in ended.err
