"""The browser that tests drive, as `./dev test` installs it."""

import shutil


def chromium() -> str:
    """Return the path of Chromium; the one without windows, where it is installed, takes half of the processor time."""
    found = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    assert found, "Chromium is not installed; ./dev test installs it (apt-get install chromium)"
    return found
