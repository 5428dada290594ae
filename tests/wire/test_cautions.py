import json
from pathlib import Path

from iotide_wire.cautions import CAUTIONS, HARMLESS, cautions
from iotide_wire.measured import FlagCode

WORDS = json.loads((Path(__file__).parents[1] / "data/cautions.json").read_text())


def test_every_flag_is_a_caution_or_harmless_and_pages_say_the_same() -> None:
    assert {code: CAUTIONS.get(code) for code in FlagCode} == WORDS
    assert {code for code, words in WORDS.items() if words is None} == set(HARMLESS)


def test_a_flag_of_a_later_version_is_a_caution_by_its_code() -> None:
    assert cautions(["DURATION", "OUTLIER", "SMOKE"]) == ["too short", "SMOKE"]
