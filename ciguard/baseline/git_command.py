"""Git as a child process, without a shell, prompts or hooks."""

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
_REPOSITORY_VARIABLE = re.compile(
    r"GIT_(DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES"
    r"|NAMESPACE|PREFIX|SHALLOW_FILE|(AUTHOR|COMMITTER)_DATE|TRACE.*|REDIRECT_.*)"
)
_MAX_MESSAGE_LENGTH = 2_000


class GitError(BaselineError):
    """Git failed; the message has the command and git's error output."""


class Git:
    """Runs git commands on a bare repository of its own, or in the repository of a folder."""

    def __init__(self, repository: Path, *, name: str, limit_s: float) -> None:
        """Create a runner for a repository, which need not exist yet.

        Args:
            repository: folder of the repository; `init` creates it.
            name: name of the baseline in messages.
            limit_s: timeout of one command, in seconds.
        """
        self._repository = repository
        self._name = name
        self._limit_s = limit_s
        self.logins: tuple[tuple[str, str], ...] = ()
        """Git settings with credentials, as pairs of key and value. They are passed as environment
        variables, since other users can read command lines."""

    def init(self) -> None:
        """Create the repository, without hooks and other files of a template."""
        self.text("init", "--quiet", "--bare", "--template=", "--object-format=sha1")

    def text(self, *words: str, given: str = "", variables: Mapping[str, str] | None = None) -> str:
        """Run a command on the bare repository; return its output without the last line end.

        Args:
            words: the command and its arguments.
            given: the text for the command's standard input.
            variables: further environment variables.

        Raises:
            GitError: if the command fails.
            BaselineError: if git is missing or exceeds its timeout.
        """
        output = self.raw(*words, given=given, variables=variables)
        return output.decode("utf-8", "replace").removesuffix("\n")

    def raw(
        self, *words: str, given: str = "", variables: Mapping[str, str] | None = None
    ) -> bytes:
        """Run a command on the bare repository, as `text` does; return its output.

        Raises:
            GitError: if the command fails.
            BaselineError: if git is missing or exceeds its timeout.
        """
        environment = {**self._environment(), **(variables or {})}
        return self._run(words, given.encode(), {"GIT_DIR": str(self._repository), **environment})

    def outside(self, *words: str) -> str:
        """Run a command in the repository of the working directory; return its output as text.

        Raises:
            GitError: if the command fails.
            BaselineError: if git is missing or exceeds its timeout.
        """
        return self.outside_raw(*words).decode("utf-8", "replace").removesuffix("\n")

    def outside_raw(self, *words: str, folder: Path | None = None) -> bytes:
        """Run a command in the repository of a folder; return its output.

        Args:
            words: the command and its arguments.
            folder: a folder of the repository; None for the working directory.

        Raises:
            GitError: if the command fails.
            BaselineError: if git is missing or exceeds its timeout.
        """
        return self._run(words, b"", self._environment(), folder=folder)

    def _environment(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not _REPOSITORY_VARIABLE.fullmatch(name)
        }
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
            msg = f"{self._name}: git was not found. Install git, or use a baseline in a folder."
            raise BaselineError(msg)
        try:
            completed = run_program(
                [program, *_OPTIONS, *words],
                limit_s=self._limit_s,
                given=given,
                folder=folder,
                environment=environment,
            )
        except TimeoutError as error:
            msg = f"{self._name}: git {words[0]} did not end within {self._limit_s:g} s. Run again."
            raise BaselineError(msg) from error
        if completed.code:
            text = completed.complaint + completed.text
            msg = f"{self._name}: git {words[0]}: {self._safe_message(text)}"
            raise GitError(msg)
        return completed.output

    def _safe_message(self, text: str) -> str:
        """Return git's output on one line, without credentials."""
        for _, value in self.logins:
            text = text.replace(value, "***")
        return visible(without_userinfo(" ".join(text.split())), limit=_MAX_MESSAGE_LENGTH)
