import json
from pathlib import Path

import pytest

from iotide_wire.cautions import WORDS as OWN_WORDS
from iotide_wire.cautions import cautions, notes, ranked
from iotide_wire.measured import RANKS, Flag, FlagCode, FlagEffect, FlagRank

WORDS = json.loads((Path(__file__).parents[1] / "data/cautions.json").read_text())


def test_every_flag_has_words_and_pages_have_the_same() -> None:
    assert dict(OWN_WORDS) == WORDS
    assert set(WORDS) == set(FlagCode)


def test_every_flag_has_one_rank() -> None:
    assert set(RANKS) == set(FlagCode)


def test_a_number_is_doubtful_by_ranks_1_and_2_only() -> None:
    codes = ["FSYNC", "CACHE_SIZE", "OUTLIER", "DURATION"]
    assert cautions(codes) == ["not flushed", "may be cached"]
    assert notes(codes) == ["outlier"]
    assert ranked(codes, FlagRank.SMALL_PLAN) == ["DURATION"]


def test_a_flag_of_a_later_version_is_a_caution_by_its_code() -> None:
    assert cautions(["TOO_FAST", "OUTLIER", "SMOKE"]) == ["too fast to measure", "SMOKE"]


def test_a_flag_that_rejects_its_numbers_has_the_first_rank() -> None:
    short = Flag(code=FlagCode.DURATION, effect=FlagEffect.REJECTED, measured="1 ms", limit="1000 ticks")
    assert short.rank is FlagRank.NOT_MEASURED
    assert short.model_copy(update={"effect": FlagEffect.MARKED}).rank is FlagRank.SMALL_PLAN


@pytest.mark.parametrize(
    ("code", "version", "known"),
    [("TIME_SET", 3, "TIME_SET"), ("TIME_SET", 2, "CLOCK"), ("CUT", 2, None), ("ZEROES", 1, "ZEROES")],
)
def test_an_older_server_gets_the_code_that_it_knows(code: str, version: int, known: str | None) -> None:
    assert FlagCode(code).for_version(version) == known


def test_flags_of_release_0_2_are_still_read() -> None:
    stored = {"effect": "marked", "measured": "m", "limit": "l"}
    assert [Flag.model_validate(stored | {"code": code}).code for code in ("CLOCK", "REPEATS")] == ["CLOCK", "CV"]
