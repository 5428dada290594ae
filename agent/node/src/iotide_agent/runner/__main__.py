"""Entry point of the runner, started by path with `python -I -S`, because site-packages load ten times slower."""

import importlib
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))
_GANG = importlib.import_module("iotide_agent.runner").GANG
# The libraries of a gang take a fifth of the start-up time.
_LIFE = "iotide_agent.mpi.life" if _GANG in sys.argv else "iotide_agent.runner.life"
sys.exit(importlib.import_module(_LIFE).main([argument for argument in sys.argv[1:] if argument != _GANG]))
