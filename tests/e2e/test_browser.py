"""Browser tests: Playwright with a real Chromium on the built dashboard, served by a whole iotide."""

import os
import subprocess
from pathlib import Path

import pytest
from browsers import chromium
from levelled_site import LevelledSite
from local_stack import BIN
from rig import Rig

HERE = Path(__file__).parent
PACKAGES = HERE.parents[1] / "frontend/node_modules"


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("spec", ["walk", "pages", "tabs", "tasks"])
def test_browser(rig: Rig, levelled: LevelledSite, spec: str) -> None:
    """Run each spec and its `SPEC-*.spec.ts` files in one start of Playwright."""
    environment = {
        **os.environ,
        "NODE_PATH": str(PACKAGES),
        "IOTIDE_CHROMIUM": chromium(),
        "IOTIDE_AGENT": str(BIN / "iotide-agent"),
        "IOTIDE_URL": rig.stack.url,
        "IOTIDE_TOKEN": rig.stack.token,
        # An approved directory that is not a target yet.
        "IOTIDE_SPARE": str(rig.stack.directory / "targets" / "spare"),
        "IOTIDE_LEVEL": str(levelled.level),
        "IOTIDE_SCHEDULE": str(levelled.schedule_id),
        "IOTIDE_LINK": rig.stack.admin_link(),
        "IOTIDE_SESSION": rig.stack.browser_session(),
    }
    seen = PACKAGES.parent / "test-results" / spec
    command = [
        *(str(PACKAGES / ".bin/playwright"), "test", "--config", str(HERE), "--output", str(seen)),
        rf"/{spec}(-\w+)?\.spec\.ts$",
    ]
    done = subprocess.run(command, env=environment, cwd=HERE, capture_output=True, text=True, check=False)
    pages = [page.read_text() for page in seen.rglob("error-context.md")]
    assert done.returncode == 0, "\n".join([done.stdout, done.stderr, *pages])
