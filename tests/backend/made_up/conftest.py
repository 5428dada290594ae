import pytest
from schemathesis.pytest.plugin import SchemathesisFunction


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Gives the test of each operation an id of its own, of which pytest-xdist runs one test.

    Since pytest 9.2 an id is made of the function's name, and what Schemathesis puts behind that is lost.
    """
    for item in items:
        if isinstance(item, SchemathesisFunction) and item.parent is not None:
            item._id = item.parent.id.child(item.name)
