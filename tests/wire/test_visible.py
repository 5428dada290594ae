import pytest

from iotide_wire.visible import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("120 MB/s on /scratch, \u00fcber 9 \u2013 \u4e2d", "120 MB/s on /scratch, \u00fcber 9 \u2013 \u4e2d"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("a\rb\x08\x9b1A", r"a\rb\x08\x9b1A"),
        ("eman\u202e", r"eman\u202e"),
        ("one\ntwo", r"one\ntwo"),
        ("lone \udc9b", r"lone \udc9b"),
    ],
)
def test_control_characters_are_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(shown) == shown


def test_kept_characters_stay() -> None:
    assert visible("a\n\tb\r", kept="\n\t") == "a\n\tb\\r"
