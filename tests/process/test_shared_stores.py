"""Several processes write one baseline and one folder of issues at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ciguard.baseline.store import FolderStore
from ciguard.trackers import LocalTracker

ROOT = Path(__file__).parents[2]
PROCESSES = 4

SAVE = """
import sys
from pathlib import Path
from ciguard.baseline.store import FolderStore
from baseline_examples import record
for n in range(5):
    name = "v1:%016x" % (int(sys.argv[2]) * 5 + n)
    FolderStore(Path(sys.argv[1])).save({name: record(name)})
"""
FILE = """
import sys
from ciguard.trackers import LocalTracker
from ciguard.trackers.contract import Report
tracker = LocalTracker(sys.argv[1])
report = Report(fingerprint="v1:0123456789abcdef", title="t", body="b", slug=f"api{sys.argv[2]}")
tracker.comment(tracker.open(report), f"process {sys.argv[2]}")
"""


def run_together(program: str, folder: Path) -> None:
    children = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(folder), str(number)],
            cwd=ROOT / "tests" / "examples",
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(PROCESSES)
    ]
    errors = [child.communicate(timeout=120)[1] for child in children]
    assert [child.returncode for child in children] == [0] * PROCESSES, errors


def test_no_process_loses_another_s_records(tmp_path: Path) -> None:
    run_together(SAVE, tmp_path)

    assert len(FolderStore(tmp_path).load()) == PROCESSES * 5


def test_processes_that_file_one_bucket_at_once_make_one_issue(tmp_path: Path) -> None:
    run_together(FILE, tmp_path)

    issue = LocalTracker(tmp_path).find("v1:0123456789abcdef")
    files = list(tmp_path.glob("*.md"))

    assert issue is not None
    assert len(files) == 1
    text = files[0].read_text()
    assert text.count("opened") == 1
    assert all(f"process {number}" in text for number in range(PROCESSES))
