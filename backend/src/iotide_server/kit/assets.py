"""Serves the dashboard's built files."""

import gzip
from functools import lru_cache
from mimetypes import guess_type
from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

_PATH: Final = "/assets/{name}"
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


@lru_cache(maxsize=_MOST_KEPT)
def _compressed(file: Path) -> bytes:
    return gzip.compress(file.read_bytes(), mtime=0)
