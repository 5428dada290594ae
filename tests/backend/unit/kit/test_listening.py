import pytest

from iotide_server.kit.listening import check_listen, parse_listen


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [("127.0.0.1:9470", "127.0.0.1", 9470), ("[::1]:1", "::1", 1), ("db1:65533", "db1", 65_533)],
)
def test_an_address_has_two_parts(text: str, host: str, port: int) -> None:
    assert parse_listen(text) == (host, port)


@pytest.mark.parametrize(
    "text", ["", "9470", ":9470", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "h:65534", "h:x", "h:-1"]
)
def test_an_invalid_value_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r"for instance 127\.0\.0\.1:9470"):
        check_listen(text)
