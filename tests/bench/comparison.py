"""Quality of comparisons: generated boards, days, pairs, looks and peers, judged by the product's own functions.

Each kind has a known truth, so the bench counts which differences are found and which are false. Each start draws a
new seed; the last line prints it, and --seed repeats it.
"""

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import Final

import numpy as np
from comparison_boards import board_figures, peeking_figure
from comparison_days import day_figures, pair_figures
from comparison_peers import peers_figures

LEAST_BOARD_POWER: Final = 0.95
MOST_BOARD_FDR: Final = 0.10
LEAST_COVERAGE: Final = 0.92
MOST_COVERAGE: Final = 0.98
LEAST_PAIRED_POWER: Final = 0.9
MOST_PAIRED_FALSE: Final = 0.06
MOST_PEERS_FALSE: Final = 0.10
LEAST_PEERS_POWER: Final = 0.9
MOST_PEEKING_FALSE: Final = 0.06


def main() -> int:
    """Run the bench; return 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(prog="./dev bench comparison", description=__doc__)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)), help="drawn at random by default")
    asked = parser.parse_args()
    randoms = (np.random.default_rng([asked.seed, part]) for part in range(5))
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        days = pool.submit(day_figures, next(randoms))
        boards = pool.submit(board_figures, next(randoms))
        peers = pool.submit(peers_figures, next(randoms))
        pairs = pool.submit(pair_figures, next(randoms))
        looks = pool.submit(peeking_figure, next(randoms))
        board_power, board_fdr = boards.result()
        coverage_low, coverage_high = days.result()
        paired_power, paired_false = pairs.result()
        peers_false, peers_power = peers.result()
        peeking_false = looks.result()
    if paired_false > MOST_PAIRED_FALSE:
        print(f"comparison: pairs name a difference in {paired_false:.3f} where none is, limit {MOST_PAIRED_FALSE}")
    print(
        f"comparison: board_power={board_power:.3f} board_fdr={board_fdr:.3f} day_coverage_low={coverage_low:.3f}"
        f" day_coverage_high={coverage_high:.3f} paired_power={paired_power:.3f} peers_false={peers_false:.3f}"
        f" peers_power={peers_power:.3f} peeking_false={peeking_false:.3f} seed={asked.seed}"
    )
    is_shown = (
        board_power >= LEAST_BOARD_POWER
        and board_fdr <= MOST_BOARD_FDR
        and coverage_low >= LEAST_COVERAGE
        and coverage_high <= MOST_COVERAGE
        and paired_power >= LEAST_PAIRED_POWER
        and paired_false <= MOST_PAIRED_FALSE
        and peers_false <= MOST_PEERS_FALSE
        and peers_power >= LEAST_PEERS_POWER
        and peeking_false <= MOST_PEEKING_FALSE
    )
    return 0 if is_shown else 1


if __name__ == "__main__":
    sys.exit(main())
