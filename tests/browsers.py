"""The browser of the tests, as `./dev test` installs it."""

import shutil


def chromium() -> str:
    """Return the path of Chromium; the headless build, if installed, takes half of the CPU time."""
    found = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    assert found, "Chromium is not installed; ./dev test installs it (apt-get install chromium)"
    return found
