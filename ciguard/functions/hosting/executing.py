"""Makes a call in a host's process, and returns a verdict even if the process crashes or hangs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import ciguard
from ciguard.execution import (
    Answer,
    Answered,
    HostedDefectError,
    ProcessEnded,
    StackLine,
    TimedOut,
)
from ciguard.functions.hosting.verdicts import (
    TIMEOUT_KEY,
    CallFailure,
    Discarded,
    FailureKind,
    Undecided,
    Verdict,
    defect_report,
    verdict_from_json,
)
from ciguard.functions.in_target.calling.judging import is_user_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ciguard.domain.values import Json
    from ciguard.functions.hosting.host import ProgramHost
    from ciguard.functions.specs.programs import ProgramFile

_CIGUARD_FOLDER = str(Path(ciguard.__file__).parent)


@dataclass(frozen=True, slots=True)
class Execution:
    """Makes calls of one program's functions."""

    host: ProgramHost
    program: ProgramFile
    limit_s: float
    """Timeout of a call, in seconds."""

    def verdict(self, call: Json) -> Verdict:
        """Make a call, and return its verdict.

        Args:
            call: JSON form of a `ciguard.functions.specs.Call`.
        """
        return self._verdict_of(lambda: self.host.call(self.program, call, limit_s=self.limit_s))

    def script_verdict(self, arguments: Iterable[str]) -> Verdict:
        """Run the program as a script with command-line arguments, and return its verdict."""
        words = list(arguments)
        return self._verdict_of(
            lambda: self.host.run_as_script(self.program, words, limit_s=self.limit_s)
        )

    def _verdict_of(self, request: Callable[[], Answer]) -> Verdict:
        """Return the verdict on a call, from the answer or the end of its process."""
        try:
            answer = request()
        except HostedDefectError as error:
            return Undecided(defect_report(error))
        match answer:
            case Answered(content):
                if "status" in content:
                    return verdict_from_json(content)
                # The program was imported again in a new process, and this import failed.
                return Discarded(str(content.get("error") or content.get("skip")))
            case ProcessEnded(cause, is_signal, frames):
                kind = FailureKind.CRASH if is_signal else FailureKind.EXIT
                return self._failure(kind, cause, _MESSAGES[kind].format(cause=cause), frames)
            case TimedOut(frames):
                message = f"takes longer than {self.limit_s:g} s, and cannot be interrupted"
                return self._failure(FailureKind.TIMEOUT, "CallTimeout", message, frames)

    def _failure(
        self, kind: FailureKind, name: str, message: str, frames: tuple[StackLine, ...]
    ) -> CallFailure:
        """Return the failure of a call that ended its process or exceeded its timeout."""
        file = str(self.program.file)
        user_frames = tuple(frame for frame in frames if not _is_machinery(frame))
        last = next(
            (frame for frame in reversed(user_frames) if is_user_file(frame.file, file)), None
        )
        place = f" {last.file}:{last.function}" if last is not None else ""
        key = TIMEOUT_KEY if kind is FailureKind.TIMEOUT else f"{name}{place}"
        return CallFailure(kind=kind, type=name, message=message, frames=user_frames, key=key)


_MESSAGES = {
    FailureKind.CRASH: "the interpreter crashed with {cause}",
    FailureKind.EXIT: "the interpreter terminated with {cause}",
}


def _is_machinery(frame: StackLine) -> bool:
    """Return whether a frame is one of ciguard or of Python's import system."""
    return frame.file.startswith((_CIGUARD_FOLDER, "<frozen "))
