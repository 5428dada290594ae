"""Loads all tables."""

from importlib import import_module
from pathlib import Path
from typing import Final

from iotide_server.kit import migrations, quotas, work
from iotide_server.kit.db import Base

for _models in sorted(Path(__file__).parent.glob("*/models.py")):
    import_module(f"iotide_server.{_models.parent.name}.models")

metadata: Final = Base.metadata

__all__ = ["metadata", "migrations", "quotas", "work"]
