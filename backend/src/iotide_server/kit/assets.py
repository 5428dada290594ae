"""Serves the built files of the dashboard and of the documentation."""

import gzip
from functools import lru_cache
from mimetypes import guess_type
from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

_PATH: Final = "/assets/{name}"
_DOCS: Final = "/docs"
_COMPRESSED_SUFFIXES: Final = {".css", ".js", ".svg"}
_MOST_KEPT: Final = 512


def serve_assets(app: Starlette, directory: Path) -> None:
    """Add the route for /assets/, before any other route that matches it."""
    # Compressing the largest file (1 MB) for every request would delay other requests.

    async def serve(request: Request) -> Response:
        file = directory / request.path_params["name"]
        if not file.is_file():
            raise HTTPException(404)
        if file.suffix not in _COMPRESSED_SUFFIXES or "gzip" not in request.headers.get("accept-encoding", ""):
            return FileResponse(file)
        headers = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
        return Response(_compressed(file), headers=headers, media_type=guess_type(file.name)[0])

    app.add_route(_PATH, serve, include_in_schema=False)


def serve_docs(app: Starlette, directory: Path) -> None:
    """Serve the documentation at /docs to everyone; answer 404 with the remedy if it is not built."""

    async def add_slash(_: Request) -> Response:
        return RedirectResponse(f"{_DOCS}/")  # the links of its pages are relative

    async def say_what_is_missing(*_: object) -> Response:
        return PlainTextResponse(
            "This server has no built documentation: run `./dev docs` in the repository, or read docs/ there.\n", 404
        )

    if (directory / "index.html").is_file():
        app.add_route(_DOCS, add_slash, include_in_schema=False)
        app.mount(_DOCS, StaticFiles(directory=directory, html=True))
        return
    for path in (_DOCS, f"{_DOCS}/{{rest:path}}"):
        app.add_route(path, say_what_is_missing, include_in_schema=False)


@lru_cache(maxsize=_MOST_KEPT)
def _compressed(file: Path) -> bytes:
    return gzip.compress(file.read_bytes(), mtime=0)
