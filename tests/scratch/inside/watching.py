"""Canaries of one session of pytest."""

from collections.abc import Iterator

import pytest
from scratch.inside.canaries import Watch


def watched(config: pytest.Config) -> Iterator[Watch]:
    """Yield canaries in use, and print their changes at the end, past the capture of output."""
    watch = Watch()
    yield watch
    with config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        watch.report()
