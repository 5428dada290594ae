import importlib
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))
sys.exit(importlib.import_module("iotide_agent.scratch.program").main())
