"""What stands between an application and the client of the service. Runs in the application."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ciguard.levels.app.in_target.hooks import Hook

if TYPE_CHECKING:
    from ciguard.levels.app.in_target.asking import AnswerCallback, AnswerFunction


class NotesHook(Hook):
    """Answers in the place of `Notes.send`."""

    def intercept(self, get_answer: AnswerFunction) -> None:
        """Have every client ask `get_answer`; see `Hook`."""
        from planted.notes import Notes, NotesError  # noqa: PLC0415 - the application's

        def send(_: Any, operation: str, content: bytes) -> Any:
            said = get_answer(operation, content)
            if "error" in said:
                raise NotesError(said["error"]["message"])
            return said["answer"]

        setattr(Notes, "send", send)  # noqa: B010 - its type is of a method

    def observe(self, on_answer: AnswerCallback) -> None:
        """Have every client ask the service, and `on_answer` told of it; see `Hook`."""
        from planted.notes import Notes  # noqa: PLC0415 - the application's

        ask = Notes.send

        def send(notes: Any, operation: str, content: bytes) -> Any:
            answer = ask(notes, operation, content)
            on_answer(operation, content, {"answer": answer})
            return answer

        setattr(Notes, "send", send)  # noqa: B010 - its type is of a method

    def client(self, name: str) -> Any:
        """Return a client; see `Hook`."""
        from planted.notes import Notes  # noqa: PLC0415 - the application's

        del name
        return Notes("http://127.0.0.1")


HOOK = NotesHook()
