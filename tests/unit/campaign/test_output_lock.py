from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ciguard.campaign.output_lock import lock_output
from ciguard.errors import ExitCode, OutputError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_second_run_in_a_folder_is_refused_until_the_first_ends(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "run"

    with lock_output(folder):
        with pytest.raises(OutputError, match="another run") as refused, lock_output(folder):
            pass
        assert refused.value.exit_code == ExitCode.USAGE
    with lock_output(folder):
        assert folder.is_dir()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")

    refused = pytest.raises(OutputError, match="Choose another folder")
    with refused, lock_output(tmp_path / "file" / "run"):
        pass
