import pytest

from iotide_server.kit.errors import InvalidInputError
from iotide_server.kit.pagination import LARGEST_ID, page_request


def test_a_cursor_leads_to_the_rows_behind_it() -> None:
    first = page_request(limit=2).cut([9, 7, 5], key=int)
    assert first.rows == [9, 7]
    assert page_request(limit=2, cursor=first.next_cursor).before_id == 7


def test_the_last_page_has_no_cursor() -> None:
    assert page_request(limit=3).cut([9, 7, 5], key=int).next_cursor is None
    assert page_request(limit=3).cut([], key=int).next_cursor is None


def test_the_first_page_begins_beyond_every_row() -> None:
    assert page_request(limit=2).before_id == LARGEST_ID
    assert page_request(limit=2).after_id == 0


@pytest.mark.parametrize("cursor", ["", "x", "!", "MA", "LTE", "OTIyMzM3MjAzNjg1NDc3NTgwOA", "\u00e9", "A" * 64])
def test_a_foreign_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        page_request(cursor=cursor)
    assert refusal.value.field == "cursor"
