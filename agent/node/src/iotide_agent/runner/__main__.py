"""Entry point of the runner, started by path with `python -I -S`, because site-packages load ten times slower."""

import importlib
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))
sys.exit(importlib.import_module("iotide_agent.runner.life").main(sys.argv[1:]))
