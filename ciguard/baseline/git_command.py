"""Git as a child process: no shell, no prompt, no hook, no option made of a setting's text."""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING

from ciguard.domain.text import visible, without_userinfo
from ciguard.errors import BaselineError
from ciguard.programs import run_program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "fetch.fsckObjects=true",
    "fetch.recurseSubmodules=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.version=2",
    "push.followTags=false",
    "push.gpgSign=false",
    "push.recurseSubmodules=no",
)
_OPTIONS = tuple(word for setting in _SETTINGS for word in ("-c", setting))
_VARIABLES = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
    "LC_ALL": "C",
    "GIT_AUTHOR_NAME": "ciguard",
    "GIT_AUTHOR_EMAIL": "ciguard@invalid",
    "GIT_COMMITTER_NAME": "ciguard",
    "GIT_COMMITTER_EMAIL": "ciguard@invalid",
}
_OF_ANOTHER_REPOSITORY = re.compile(
    r"GIT_(DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES"
    r"|NAMESPACE|PREFIX|SHALLOW_FILE|(AUTHOR|COMMITTER)_DATE|TRACE.*|REDIRECT_.*)"
)
_MAX_SAID = 2_000


class GitError(BaselineError):
    """Git answered with an error: the message says which command, and its words."""


class Git:
    """Runs git on one bare repository, or in the repository of a folder."""

    def __init__(self, repository: Path, *, name: str, limit_s: float) -> None:
        """Name the repository.

        Args:
            repository: its folder; `init` makes it.
            name: of the baseline, for messages.
            limit_s: how long one command may take.
        """
        self._repository = repository
        self._name = name
        self._limit_s = limit_s
        self.logins: tuple[tuple[str, str], ...] = ()
        """Settings that log in at the remote. They travel in the environment: others see argv."""

    def init(self) -> None:
        """Make the repository, without anything that a template would put there."""
        self.text("init", "--quiet", "--bare", "--template=", "--object-format=sha1")

    def text(self, *words: str, given: str = "", variables: Mapping[str, str] | None = None) -> str:
        """Return what a command prints, without the last line's end.

        Raises:
            GitError: if it fails.
            BaselineError: if there is no git, or it takes too long.
        """
        done = self.raw(*words, given=given, variables=variables)
        return done.decode("utf-8", "replace").removesuffix("\n")

    def raw(
        self, *words: str, given: str = "", variables: Mapping[str, str] | None = None
    ) -> bytes:
        """Return what a command prints.

        Raises:
            GitError: if it fails.
            BaselineError: if there is no git, or it takes too long.
        """
        environment = {**self._environment(), **(variables or {})}
        return self._run(words, given.encode(), {"GIT_DIR": str(self._repository), **environment})

    def outside(self, *words: str) -> str:
        """Return what a command prints that runs in the repository of the working directory.

        Raises:
            GitError: if it fails.
            BaselineError: if there is no git, or it takes too long.
        """
        return self.outside_raw(*words).decode("utf-8", "replace").removesuffix("\n")

    def outside_raw(self, *words: str, folder: Path | None = None) -> bytes:
        """Return what a command prints that runs in the repository of a folder.

        Raises:
            GitError: if it fails.
            BaselineError: if there is no git, or it takes too long.
        """
        return self._run(words, b"", self._environment(), folder=folder)

    def _environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not _OF_ANOTHER_REPOSITORY.fullmatch(k)}
        first = int(kept.get("GIT_CONFIG_COUNT") or 0)
        for number, (key, value) in enumerate(self.logins, start=first):
            kept[f"GIT_CONFIG_KEY_{number}"] = key
            kept[f"GIT_CONFIG_VALUE_{number}"] = value
        kept["GIT_CONFIG_COUNT"] = str(first + len(self.logins))
        return {**kept, **_VARIABLES}

    def _run(
        self,
        words: Sequence[str],
        given: bytes,
        environment: Mapping[str, str],
        *,
        folder: Path | None = None,
    ) -> bytes:
        program = shutil.which("git")
        if program is None:
            msg = f"{self._name}: there is no git. Install it, or do without what is kept in it."
            raise BaselineError(msg)
        try:
            ended = run_program(
                [program, *_OPTIONS, *words],
                limit_s=self._limit_s,
                given=given,
                folder=folder,
                environment=environment,
            )
        except TimeoutError as error:
            msg = f"{self._name}: git {words[0]} took more than {self._limit_s:g} s. Run again."
            raise BaselineError(msg) from error
        if ended.code:
            text = ended.complaint + ended.text
            msg = f"{self._name}: git {words[0]}: {self._harmless(text)}"
            raise GitError(msg)
        return ended.output

    def _harmless(self, said: str) -> str:
        """Return git's words on one line, without what logs in."""
        for _, value in self.logins:
            said = said.replace(value, "***")
        return visible(without_userinfo(" ".join(said.split())), limit=_MAX_SAID)
