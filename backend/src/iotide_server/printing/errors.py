"""Errors of printing."""

from typing import Final

from iotide_server.kit.errors import ErrorKind

_BY_BROWSER: Final = "open the report in the dashboard and print it by the browser"
CHROMIUM_MISSING = ErrorKind(409, "chromium_missing").says(
    "the server has no Chromium to print with",
    f"{_BY_BROWSER}, or install chromium on the server (IOTIDE_CHROMIUM names another path)",
)
PRINTER_BUSY = ErrorKind(429, "printer_busy").says("the server is printing another report", "try again shortly")
PRINT_FAILED = ErrorKind(503, "print_failed").says("the report was not printed: {reason}", _BY_BROWSER)
