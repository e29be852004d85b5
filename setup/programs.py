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
    # Apart from each other: Ubuntu has no package of the browser, and apt-get installs all or none.
    for wanted in (_missing(packages), _without_browser(browsers)):
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
    privilege = [*_privilege(), "-n"] if _privilege() else []
    if not packages or shutil.which("apt-get") is None or not _works([*privilege, "true"]):
        return
    _say(f"Installing {' '.join(packages)}")
    apt_get = [*privilege, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "--quiet=2"]
    if _works([*apt_get, "update"]):
        _works([*apt_get, "install", "--yes", "--no-install-recommends", *packages])


def _privilege() -> list[str]:
    """Return what goes before a command that installs; images of containers have no sudo."""
    return [] if os.geteuid() == 0 else ["sudo"]


def _works(command: list[str]) -> bool:
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def _install_browser() -> bool:
    return _works([sys.executable, "-m", "playwright", "install", "chromium"])


def _refuse(packages: list[str]) -> int:
    command = " ".join([*_privilege(), "apt-get", "install", shlex.join(packages)])
    _say(f"make: the tests need programs that are not installed. On Debian or Ubuntu: {command}")
    return 2


def _link(folder: Path, programs: list[str]) -> None:
    """Fill the folder with links to the programs, and with `python3`, which is that of `.venv`.

    uv makes no environment of another environment's interpreter, so the one below it is there by
    its own name, such as python3.11. What is right already stays as it is: tests may be running.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = {program: path for program in programs if (path := shutil.which(program))}
    base = Path(sys.executable).resolve()
    paths[base.name] = str(base)
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
