from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from finding_examples import finding

from ciguard.domain.findings import Bucket
from ciguard.domain.outcomes import Crashed
from ciguard.triage import read_script

if TYPE_CHECKING:
    from pathlib import Path


def bucket_with_script(name: str) -> Bucket:
    crash = finding(Crashed("SIGSEGV"))
    return Bucket(fingerprint="v1:0123456789abcdef", grouping=(), finding=crash, reproducer=name)


def test_read_script_returns_the_whole_script(tmp_path: Path) -> None:
    text = "print()\n" * 30_000
    (tmp_path / "reproducers").mkdir()
    (tmp_path / "reproducers" / "a.py").write_text(text, "utf-8")

    assert read_script(tmp_path, bucket_with_script("reproducers/a.py")) == text


@pytest.mark.parametrize(
    "name",
    ["", ".", "gone.py", "../secret.py", "link.py", "up/secret.py", "circle.py", "a\0b", "bad.py"],
)
def test_read_script_outside_the_runs_folder_or_unreadable_is_empty(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / "secret.py").write_text("secret", "utf-8")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "link.py").symlink_to(tmp_path / "secret.py")
    (folder / "up").symlink_to(tmp_path)
    (folder / "circle.py").symlink_to("circle.py")
    (folder / "bad.py").write_bytes(b"\xff")

    assert read_script(folder, bucket_with_script(name)) == ""
    assert read_script(folder, bucket_with_script(str(tmp_path / "secret.py"))) == ""
