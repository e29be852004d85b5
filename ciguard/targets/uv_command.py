"""Execution of uv: its environment, its progress, and its errors with secrets masked."""

from __future__ import annotations

import logging
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import uv

from ciguard.targets.children import run_child
from ciguard.targets.variables import is_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

log = logging.getLogger(__name__)

_USERINFO = re.compile(r"(?<=://)[^/\s]+@")
_QUERY_SECRET = re.compile(r"(?i)([?&][^=&\s]*(?:token|key|secret|password|sig)[^=&\s]*=)[^&\s]+")
_PROGRESS = re.compile(r"\s*(Downloading|Building) .+")
_PROGRESS_LINE = re.compile(
    r"\s*(Using|Resolved|Prepared|Downloading|Downloaded|Building|Built|warning:)\b"
)
_TAIL_LINES = 12

# These variables would make uv use another environment than the requested one.
_REMOVED_VARIABLES = (
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "UV_PYTHON",
    "UV_SYSTEM_PYTHON",
    "UV_TORCH_BACKEND",
)
_UV_VARIABLE_BY_PIP_VARIABLE = {
    "PIP_INDEX_URL": "UV_DEFAULT_INDEX",
    "PIP_TRUSTED_HOST": "UV_INSECURE_HOST",
    "PIP_CERT": "SSL_CERT_FILE",
    "PIP_DEFAULT_TIMEOUT": "UV_HTTP_TIMEOUT",
    "PIP_EXTRA_INDEX_URL": "UV_EXTRA_INDEX_URL",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class UvOutcome:
    """Result of a run of uv."""

    returncode: int
    """Exit status of uv."""
    error_output: str
    """Last lines of uv's error output, with secrets masked."""

    @property
    def is_success(self) -> bool:
        """True if uv succeeded."""
        return self.returncode == 0


def run_uv(
    arguments: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    on_progress: Callable[[str], None],
) -> UvOutcome:
    """Run uv and return its result; an exception such as Ctrl-C kills uv first.

    Args:
        arguments: the arguments of uv.
        folder: the working folder.
        environment: all environment variables of uv.
        on_progress: a callback for downloads and builds, one line each.
    """
    argv = [uv.find_uv_bin(), "--no-progress", "--color", "never", *arguments]
    log.debug("running %s", mask_secrets(" ".join(argv)))
    lines: list[str] = []
    with run_child(
        argv,
        folder=folder,
        environment=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        for line in process.stderr or ():
            lines.append(mask_secrets(line.rstrip()))
            if _PROGRESS.fullmatch(lines[-1]):
                on_progress(_uncapitalised(lines[-1].strip()))
    return UvOutcome(returncode=process.returncode, error_output=_last_errors(lines))


def uv_environment(outer: Mapping[str, str]) -> dict[str, str]:
    """Return the outer environment without secrets, and with pip's index settings for uv.

    Building a source distribution runs its code, which must not see the job's tokens. Settings of
    pip and uv are kept, since an index may need them.
    """
    variables = {
        name: value
        for name, value in outer.items()
        if name not in _REMOVED_VARIABLES
        and (name.startswith(("UV_", "PIP_")) or not is_secret(name))
    }
    for pip_name, uv_name in _UV_VARIABLE_BY_PIP_VARIABLE.items():
        if outer.get(pip_name):
            variables.setdefault(uv_name, outer[pip_name])
    if outer.get("PIP_EXTRA_INDEX_URL"):
        # pip takes the best version of all indexes; uv by default only uses the first index that
        # has the package.
        variables.setdefault("UV_INDEX_STRATEGY", "unsafe-best-match")
    links = find_links(outer)
    if links:
        variables["UV_FIND_LINKS"] = ",".join(links)
    return variables


def index_arguments(outer: Mapping[str, str]) -> tuple[str, ...]:
    """Return uv's arguments for `PIP_NO_INDEX`; uv has no environment variable for it."""
    is_off = outer.get("PIP_NO_INDEX", "").lower() in {"", "0", "false", "no", "off"}
    return () if is_off else ("--no-index",)


def find_links(outer: Mapping[str, str]) -> list[str]:
    """Return the addresses and absolute folders where uv looks for further wheels."""
    links = outer.get("UV_FIND_LINKS", "").split(",") if outer.get("UV_FIND_LINKS") else None
    if links is None:
        links = outer.get("PIP_FIND_LINKS", "").split()
    links = [link.strip() for link in links if link.strip()]
    return [link if "://" in link else os.fspath(Path(link).resolve()) for link in links]


def mask_secrets(text: str) -> str:
    """Return the text with user names, passwords and tokens in URLs masked."""
    return _QUERY_SECRET.sub(r"\1***", _USERINFO.sub("***@", text))


def _last_errors(lines: Sequence[str]) -> str:
    errors = [line for line in lines if line.strip() and not _PROGRESS_LINE.match(line)]
    return "\n".join(errors[-_TAIL_LINES:])


def _uncapitalised(line: str) -> str:
    """Return uv's line with a lower-case first letter: `downloading torch (182.9MiB)`."""
    return line[0].lower() + line[1:]
