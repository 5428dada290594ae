import pytest
from factories.outcomes import DATA

from iotide_agent.workloads.iozone_report import read_table


@pytest.mark.parametrize(
    ("figures", "rates"),
    [
        ("6059442  426593410329265 10039528", (6_059_442, 4_265_934, 10_329_265, 10_039_528)),
        ("2952261  3170172 8988941 11903823", (2_952_261, 3_170_172, 8_988_941, 11_903_823)),
        ("2952261  3170172 8988941111903823", (2_952_261, 3_170_172, 8_988_941, 111_903_823)),
    ],
)
def test_figures_after_omitted_tests_end_before_their_columns(figures: str, rates: tuple[int, ...]) -> None:
    lines = (DATA / "iozone/a_12tests_ext.stdout").read_text().splitlines()
    heading = next(line for line in lines if " reclen " in line)
    row = f"{1024:16}{64:8}{3_369_115:9}{5_601_115:9}".ljust(144) + figures
    [found] = read_table("iozone", f"{heading}\n{row}\n\niozone test complete.\n")
    assert tuple(found.rates.values()) == (3_369_115, 5_601_115, *rates)
