"""The response that a service gives in a call of the application."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation


@dataclass(frozen=True, slots=True)
class StubResponse:
    """The stub response of one operation."""

    operation: Operation
    title: str
    """Short description of the response for reports."""
    content: Json
    """Response in the service's message format."""
    keys: tuple[str, ...] = ()
    """Names or texts of the results in the response."""
    kind: str = ""
    """Type of the only entity in the response; empty if it does not matter."""
    error: str = ""
    """Error code of a refusal, whose message is the title; empty for other responses."""
    depends_on_content: bool = False
    """True for a refusal because of the request's content."""
    text: bytes = b""
    """Text that the service refuses; empty if the response does not depend on the text."""
    is_still_running: bool = False
    """True if a job is still running when its result is first requested."""
    is_random: bool = False
    """True if the results were drawn at random: perhaps no real input leads to them."""

    @property
    def is_refusal(self) -> bool:
        """True if the service refuses the request."""
        return bool(self.error or self.text)

    def to_json(self) -> Json:
        """Return the response in the format that `in_target` reads."""
        if self.error:
            return {"error": {"code": str(self.error), "message": self.title}}
        if self.is_still_running:
            return {"answer": self.content, "under_way": True}
        return {"answer": self.content}
