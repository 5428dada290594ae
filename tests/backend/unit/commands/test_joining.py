from pathlib import Path
from stat import S_IMODE

from iotide_server.commands.joining import write_private


def test_a_token_is_not_written_into_a_file_that_others_may_read(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("an older and longer token")
    path.chmod(0o644)
    write_private(path, "secret")
    assert (path.read_text(), S_IMODE(path.stat().st_mode)) == ("secret", 0o600)
