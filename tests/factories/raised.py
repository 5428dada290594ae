"""Expect an error of one kind."""

import pytest

from iotide_server.kit.errors import ErrorKind, IotideError


def raised(kind: ErrorKind, *, match: str | None = None) -> pytest.RaisesExc[IotideError]:
    """Expect that the block raises an error of this kind, as `pytest.raises` does for a class."""
    return pytest.raises(IotideError, match=match, check=lambda error: error.kind is kind)
