"""Prints one report at a time in each process of the API."""

import asyncio
import json
import shutil
from base64 import b64decode
from typing import Final
from urllib.parse import urlsplit

import structlog
from fastapi import Request

from iotide_server.kit.app_values import AppValue
from iotide_server.kit.web import PUBLIC_URL
from iotide_server.printing.answers import PageAnswers
from iotide_server.printing.devtools import DevTools, DevToolsError, Json, running
from iotide_server.printing.errors import CHROMIUM_MISSING, PRINT_FAILED, PRINTER_BUSY
from iotide_wire.units import format_seconds

PRINTER: Final[AppValue["Printer"]] = AppValue("printer")
PROGRAMS: Final = ("chromium-headless-shell", "chromium", "google-chrome")

MOST_SECONDS: Final = 60.0
_TRY_AGAIN_SECONDS: Final = 5
_LOOK_SECONDS: Final = 0.1
_QUIET_SECONDS: Final = 0.4
"""After the last answer, the page may take this long to show what it asks for next."""
_STATE: Final = """new Promise((done) => requestIdleCallback(() => requestIdleCallback(() => {
  const report = document.querySelector("article.report");
  const problem = (report ?? document).querySelector("[role=alert]:not(.iotide-away)");
  if (problem !== null) return done(problem.innerText);
  if (report === null || document.querySelector("[aria-busy=true]") !== null) return done("busy");
  done([...report.querySelectorAll("img")].every((image) => image.complete) ? "ready" : "busy");
})))"""
"""Waits until the page has shown what it received, also on a busy machine."""
_LONGEST_PROBLEM: Final = 200
_log = structlog.get_logger(__name__)


def find_chromium(setting: str | None) -> str | None:
    """Return the path of Chromium: `setting`, or by default the first on PATH. An empty setting means none."""
    if setting is not None:
        return shutil.which(setting) if setting else None
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Printer:
    def __init__(self, chromium: str | None) -> None:
        self._chromium = chromium
        self._is_printing = False

    def require(self) -> str:
        """Return the path of Chromium. Raise CHROMIUM_MISSING or PRINTER_BUSY."""
        if self._chromium is None:
            raise CHROMIUM_MISSING()
        if self._is_printing:
            raise PRINTER_BUSY(wait_seconds=_TRY_AGAIN_SECONDS)
        return self._chromium

    async def pdf(self, request: Request, path: str, display: Json) -> bytes:
        """Return the page at `path` as the caller of `request` sees it, with these display preferences.

        Raise CHROMIUM_MISSING, PRINTER_BUSY, or PRINT_FAILED if the page shows an error or takes longer than a minute.
        """
        chromium = self.require()
        self._is_printing = True
        try:
            async with asyncio.timeout(MOST_SECONDS):
                return await _print(chromium, request, path, display)
        except (DevToolsError, OSError) as error:
            # TimeoutError is an OSError without text.
            reason = str(error) or f"it took more than {format_seconds(MOST_SECONDS)}"
            _log.warning("print_failed", path=path, reason=reason)
            raise PRINT_FAILED(reason=reason) from None
        finally:
            self._is_printing = False


async def _print(chromium: str, request: Request, path: str, display: Json) -> bytes:
    # The public address, so that links in the PDF lead to it. Chromium cannot reach it, nor any other.
    parts = urlsplit(PUBLIC_URL.of(request.app.state))
    answers = PageAnswers(request, f"{parts.scheme}://{parts.netloc}")
    async with running(chromium, answers.answer) as devtools:
        target = await devtools.call("Target.createTarget", url="about:blank")
        attached = await devtools.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        session_id = attached["sessionId"]
        await devtools.call("Page.enable", session_id)
        await devtools.call("Fetch.enable", session_id)
        stored = json.dumps(json.dumps(display))
        source = f'localStorage.setItem("iotide-display", {stored})'
        await devtools.call("Page.addScriptToEvaluateOnNewDocument", session_id, source=source)
        await devtools.call("Page.navigate", session_id, url=f"{answers.origin}{path}")
        await _until_ready(devtools, session_id, answers)
        printed = await devtools.call("Page.printToPDF", session_id, preferCSSPageSize=True)
    return b64decode(printed["data"])


async def _until_ready(devtools: DevTools, session_id: str, answers: PageAnswers) -> None:
    """Return once the page has loaded and drawn everything. Raise DevToolsError if it shows an error."""
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        if answers.quiet_seconds() < _QUIET_SECONDS:
            continue
        found = await devtools.call("Runtime.evaluate", session_id, expression=_STATE, awaitPromise=True)
        state = str(found["result"].get("value", ""))
        if state == "ready":
            return
        if state != "busy":
            shown = " ".join(state.split())[:_LONGEST_PROBLEM]
            raise DevToolsError(f"the page shows an error instead of a part of the report: {shown}")
