"""One call on a host, and what is said of it, also where no answer came back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import ciguard
from ciguard.execution import Answer, Answered, ProcessEnded, StackLine, TimedOut
from ciguard.functions.hosting.verdicts import (
    TIMEOUT_KEY,
    CallFailure,
    Discarded,
    FailureKind,
    Verdict,
    verdict_from_json,
)
from ciguard.functions.in_target.calling.judging import is_users

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.domain.values import Json
    from ciguard.functions.hosting.host import ProgramHost
    from ciguard.functions.specs.programs import ProgramFile

_OWN = str(Path(ciguard.__file__).parent)


@dataclass(frozen=True, slots=True)
class Execution:
    """Calls the functions of one program."""

    host: ProgramHost
    program: ProgramFile
    limit_s: float
    """Seconds that a call may take."""

    def verdict(self, call: Json) -> Verdict:
        """Make a call and judge it."""
        return self._judged(self.host.call(self.program, call, limit_s=self.limit_s))

    def script_verdict(self, arguments: Iterable[str]) -> Verdict:
        """Run the program as a script and judge it."""
        given = list(arguments)
        return self._judged(self.host.run_as_script(self.program, given, limit_s=self.limit_s))

    def _judged(self, answer: Answer) -> Verdict:
        match answer:
            case Answered(content):
                if "status" in content:
                    return verdict_from_json(content)
                # A new process had to import the program once more, and could not.
                return Discarded(str(content.get("error") or content.get("skip")))
            case ProcessEnded(cause, is_signal, frames):
                kind = FailureKind.CRASH if is_signal else FailureKind.EXIT
                return self._failure(kind, cause, _MESSAGES[kind].format(cause=cause), frames)
            case TimedOut(frames):
                said = f"takes longer than {self.limit_s:g} s, and cannot be interrupted"
                return self._failure(FailureKind.TIMEOUT, "CallTimeout", said, frames)

    def _failure(
        self, kind: FailureKind, name: str, message: str, frames: tuple[StackLine, ...]
    ) -> CallFailure:
        file = str(self.program.file)
        own = tuple(frame for frame in frames if not _is_machinery(frame))
        last = next((frame for frame in reversed(own) if is_users(frame.file, file)), None)
        place = f" {last.file}:{last.function}" if last is not None else ""
        key = TIMEOUT_KEY if kind is FailureKind.TIMEOUT else f"{name}{place}"
        return CallFailure(kind=kind, type=name, message=message, frames=own, key=key)


_MESSAGES = {
    FailureKind.CRASH: "the interpreter was ended by {cause}",
    FailureKind.EXIT: "the interpreter ended with {cause}",
}


def _is_machinery(frame: StackLine) -> bool:
    return frame.file.startswith((_OWN, "<frozen "))
