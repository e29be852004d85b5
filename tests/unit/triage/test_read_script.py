from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from finding_examples import finding

from ciguard.domain.findings import Bucket
from ciguard.domain.outcomes import Crashed
from ciguard.triage import read_script

if TYPE_CHECKING:
    from pathlib import Path


def with_script(name: str) -> Bucket:
    met = finding(Crashed("SIGSEGV"))
    return Bucket(fingerprint="v1:0123456789abcdef", grouping=(), finding=met, reproducer=name)


def test_the_script_of_a_bucket_is_read_whole(tmp_path: Path) -> None:
    text = "print()\n" * 30_000
    (tmp_path / "reproducers").mkdir()
    (tmp_path / "reproducers" / "a.py").write_text(text, "utf-8")

    assert read_script(tmp_path, with_script("reproducers/a.py")) == text


@pytest.mark.parametrize(
    "name",
    ["", ".", "gone.py", "../secret.py", "link.py", "up/secret.py", "circle.py", "a\0b", "bad.py"],
)
def test_what_is_no_readable_file_of_the_runs_folder_is_no_script(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / "secret.py").write_text("secret", "utf-8")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "link.py").symlink_to(tmp_path / "secret.py")
    (folder / "up").symlink_to(tmp_path)
    (folder / "circle.py").symlink_to("circle.py")
    (folder / "bad.py").write_bytes(b"\xff")

    assert read_script(folder, with_script(name)) == ""
    assert read_script(folder, with_script(str(tmp_path / "secret.py"))) == ""
