"""What keeps ciguard from being set up is said in one line, before anything is done."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from surroundings import PROGRAMS, ROOT

PREFLIGHT = ROOT / "setup" / "preflight.sh"


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """Return a folder with all that the check needs, to be changed by a test."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("df", "dirname", "g++", "git", "id", "rm", "uname"):
        (folder / name).symlink_to((PROGRAMS / name).resolve())
    (folder / "python3.11").symlink_to(sys.executable)
    return folder


def replace(programs: Path, name: str, script: str) -> None:
    (programs / name).unlink()
    (programs / name).write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    (programs / name).chmod(0o755)


def checked(
    programs: Path, folder: Path, python: str = "python3.11"
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", PREFLIGHT, python, folder / "cache" / "ciguard"],
        cwd=folder,
        env={"PATH": str(programs)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_machine_that_has_everything_passes_in_silence(programs: Path, tmp_path: Path) -> None:
    done = checked(programs, tmp_path)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [path.name for path in tmp_path.iterdir()] == ["bin"]


@pytest.mark.parametrize(("system", "advice"), [("Darwin", "container"), ("MINGW64_NT", "WSL 2")])
def test_other_system_is_refused(programs: Path, tmp_path: Path, system: str, advice: str) -> None:
    replace(programs, "uname", f"echo {system}")

    assert_refused(checked(programs, tmp_path), "needs Linux", advice)


@pytest.mark.parametrize("name", ["git", "g++"])
def test_missing_program_is_named(programs: Path, tmp_path: Path, name: str) -> None:
    (programs / name).unlink()

    assert_refused(checked(programs, tmp_path), f"{name} is missing", "apt-get install")


def test_missing_python_is_named(programs: Path, tmp_path: Path) -> None:
    done = checked(programs, tmp_path, "python3.99")

    assert_refused(done, "python3.99 is missing", "make PYTHON=")


@pytest.mark.parametrize(
    ("user", "advice"), [("0", ": apt-get install"), ("1000", ": sudo apt-get install")]
)
@pytest.mark.parametrize("missing", ["g++", "python3.11"])
def test_root_is_not_sent_to_a_sudo_that_containers_lack(
    programs: Path, tmp_path: Path, missing: str, user: str, advice: str
) -> None:
    (programs / missing).unlink()
    replace(programs, "id", f"echo {user}")

    assert_refused(checked(programs, tmp_path), f"{missing} is missing", advice)


def test_another_python_that_is_there_is_named(programs: Path, tmp_path: Path) -> None:
    (programs / "python3.11").rename(programs / "python3.13")
    (programs / "python3").symlink_to("python3.13")

    assert_refused(checked(programs, tmp_path), "python3.11 is missing", "make PYTHON=python3.13")


def test_an_old_python_is_not_named(programs: Path, tmp_path: Path) -> None:
    (programs / "python3.11").unlink()
    (programs / "python3").write_text("#!/bin/sh\nexit 1\n", "utf-8")
    (programs / "python3").chmod(0o755)

    assert_refused(checked(programs, tmp_path), "apt-get install python3.11 python3.11-venv")


def test_shim_of_a_python_that_is_not_installed_is_refused(programs: Path, tmp_path: Path) -> None:
    replace(programs, "python3.11", "echo 'python3.11: command not found' >&2; exit 127")

    assert_refused(checked(programs, tmp_path), "does not start", "make PYTHON=")


def test_python_without_venv_is_refused(programs: Path, tmp_path: Path) -> None:
    replace(programs, "python3.11", 'case "$2" in *ensurepip*) exit 1;; esac')

    assert_refused(checked(programs, tmp_path), "virtual environments", "python3-venv")


def test_full_disk_is_refused_with_what_is_needed(programs: Path, tmp_path: Path) -> None:
    replace(programs, "df", "echo Filesystem; echo /dev/sda 9000 8900 100 99% /")

    assert_refused(checked(programs, tmp_path), "100 MiB", "6144 MiB", "CIGUARD_CACHE")


def test_provisioned_machine_needs_less_disk(programs: Path, tmp_path: Path) -> None:
    replace(programs, "df", "echo Filesystem; echo /dev/sda 9000 8000 1000 88% /")
    (tmp_path / "cache" / "ciguard" / "environments").mkdir(parents=True)

    assert checked(programs, tmp_path).returncode == 0


def test_checkout_that_cannot_be_written_is_refused(programs: Path) -> None:
    assert_refused(checked(programs, Path("/proc")), "/proc cannot be written")


def test_make_elsewhere_than_in_the_checkout_is_refused(tmp_path: Path) -> None:
    done = subprocess.run(
        ["/usr/bin/env", "make", "-f", ROOT / "Makefile", "guard"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert "make -C FOLDER" in done.stderr
    assert list(tmp_path.iterdir()) == []


def assert_refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr
