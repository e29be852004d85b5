"""Install the programs that the tests start, and link them into a folder: the PATH of the tests.

    python setup/programs.py FOLDER

Exits with 2 and one line on standard error if a program is missing that cannot be installed here.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

DECLARED = Path(__file__).with_name("programs.toml")


def main(folder: Path) -> int:
    """Provide all declared programs in `folder`, and return the exit code."""
    declared = tomllib.loads(DECLARED.read_text("utf-8"))
    packages, browsers = declared["packages"], declared["browsers"]
    if _missing(packages) or _without_browser(browsers):
        wanted = _missing(packages) + _without_browser(browsers)
        _install(wanted)
    if _without_browser(browsers) and not _install_browser():
        return _refuse(_missing(packages) + _without_browser(browsers))
    if missing := _missing(packages):
        return _refuse(missing)
    _link(folder, [name for names in (packages | browsers).values() for name in names])
    return 0


def _missing(packages: dict[str, list[str]]) -> list[str]:
    return [name for name, programs in packages.items() if not all(map(shutil.which, programs))]


def _without_browser(browsers: dict[str, list[str]]) -> list[str]:
    return [name for name, programs in browsers.items() if not any(map(shutil.which, programs))]


def _install(packages: list[str]) -> None:
    """Install Debian packages as root or with sudo, where that is possible without a question."""
    privilege = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if shutil.which("apt-get") is None or not (privilege == [] or shutil.which("sudo")):
        return
    _say(f"Installing {' '.join(packages)}")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update"], ["install", "--yes", "--no-install-recommends", *packages]):
        command = [*privilege, "apt-get", "--quiet=2", *words]
        if subprocess.run(command, check=False, env=environment, capture_output=True).returncode:
            return


def _install_browser() -> bool:
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def _refuse(packages: list[str]) -> int:
    _say(
        f"make: the tests need programs that are not installed. On Debian or Ubuntu: "
        f"sudo apt-get install {shlex.join(packages)}"
    )
    return 2


def _link(folder: Path, programs: list[str]) -> None:
    """Fill the folder with links to the programs, and with `python3`, which is that of `.venv`.

    What is right already stays as it is: tests may be running.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = {program: path for program in programs if (path := shutil.which(program))}
    for entry in folder.iterdir():
        if entry.name not in {*paths, "python3"}:
            entry.unlink()
    for program, path in paths.items():
        link = folder / program
        if not (link.is_symlink() and link.readlink() == Path(path)):
            link.unlink(missing_ok=True)
            link.symlink_to(path)
    python = folder / "python3"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n', "utf-8")
    python.chmod(0o755)


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).absolute()))
