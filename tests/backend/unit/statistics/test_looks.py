import numpy as np

from iotide_server.statistics.comparison import Sides, compare_board
from iotide_server.statistics.looks import at_look

_TINY = 1e-30
LOOKS = (4, 8, 12, 16, 20)


def test_each_look_has_its_share_and_all_together_6_percent() -> None:
    limits = [0.05 * _TINY / at_look(_TINY, look) for look in range(1, 60)]
    assert np.round(limits[:4], 4).tolist() == [0.04, 0.01, 0.005, 0.0025]
    assert 0.0599 < sum(limits) <= 0.06 + 1e-9
    assert at_look(0.5, 3) == 1


def test_looking_again_after_each_addition_of_repeats_rarely_shows_what_is_not_there() -> None:
    """Five looks at 5 % each: 13 % (review, S7)."""
    random = np.random.default_rng(38)
    shown = 0
    for _ in range(400):
        a, b = (list(100 * np.exp(0.03 * random.standard_normal(LOOKS[-1]))) for _ in "ab")
        looks = (
            compare_board([Sides(a[:count], b[:count], looks=look)])[0] for look, count in enumerate(LOOKS, start=1)
        )
        shown += any(one.is_discovery for one in looks)
    assert shown / 400 <= 0.06
