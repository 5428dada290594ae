import pytest
from schemathesis.pytest.plugin import SchemathesisFunction


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the test of each operation its own id; pytest-xdist runs one test of several with the same id.

    Since pytest 9.2 an id is made of the function's name, and Schemathesis' suffix is lost.
    """
    for item in items:
        if isinstance(item, SchemathesisFunction) and item.parent is not None:
            item._id = item.parent.id.child(item.name)
