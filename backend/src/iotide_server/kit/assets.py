"""The files of the built dashboard that are named by their content, each compressed once for all who ask."""

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
    """Answer requests below /assets/ from a directory; before whatever else answers them."""
    # The largest chunk is a megabyte: compressed anew for everyone, it holds up whoever asks meanwhile.

    async def serve(request: Request) -> Response:
        # No name has a slash, so that nothing outside is reached; a directory is no file.
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
