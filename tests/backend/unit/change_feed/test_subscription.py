import asyncio

from iotide_server.change_feed.feed import ChangeNotice, Subscription


def notice(number: int) -> ChangeNotice:
    return ChangeNotice(id=number, kind="run", subject_id=number, cluster_id=1)


def test_a_reader_gets_all_that_waits_in_order() -> None:
    async def read() -> list[ChangeNotice] | None:
        subscription = Subscription()
        for number in range(3):
            subscription.add(notice(number))
        return await subscription.take()

    assert asyncio.run(read()) == [notice(0), notice(1), notice(2)]


def test_a_reader_gets_the_latest_change_of_each_row_in_order() -> None:
    def run(number: int, subject_id: int) -> ChangeNotice:
        return ChangeNotice(id=number, kind="run", subject_id=subject_id, cluster_id=1)

    other = ChangeNotice(id=4, kind="node", subject_id=7, cluster_id=1)

    async def read() -> list[ChangeNotice] | None:
        subscription = Subscription()
        for notice_of_many in (
            run(1, 7),
            run(2, 8),
            run(3, 7),
            other,
            run(5, 8),
            *[run(number, 9) for number in range(6, 5000)],
        ):
            subscription.add(notice_of_many)
        return await subscription.take()

    assert asyncio.run(read()) == [run(3, 7), other, run(5, 8), run(4999, 9)]


def test_changes_of_many_in_two_clusters_are_two() -> None:
    many = [ChangeNotice(id=number, kind="series", subject_id=0, cluster_id=number) for number in (1, 2)]

    async def read() -> list[ChangeNotice] | None:
        subscription = Subscription()
        for notice_of_many in many:
            subscription.add(notice_of_many)
        return await subscription.take()

    assert asyncio.run(read()) == many


def test_a_reader_that_falls_behind_is_reset_once_and_continues() -> None:
    async def read() -> list[list[ChangeNotice] | None]:
        subscription = Subscription()
        for number in range(5000):
            subscription.add(notice(number))
        first = await subscription.take()
        subscription.add(notice(7))
        return [first, await subscription.take()]

    assert asyncio.run(read()) == [None, [notice(7)]]


def test_a_reader_waits_for_changes() -> None:
    async def read() -> list[ChangeNotice] | None:
        subscription = Subscription()
        reading = asyncio.create_task(subscription.take())
        await asyncio.sleep(0)
        assert not reading.done()
        subscription.add(notice(1))
        return await reading

    assert asyncio.run(read()) == [notice(1)]
