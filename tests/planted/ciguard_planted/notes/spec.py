"""The provider: one object, which the entry point names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.levels.app.providers.codes import Code, ServiceError
from ciguard.levels.app.providers.contract import Provider, ServiceLimits
from ciguard.levels.app.providers.described import DescribedMessages
from ciguard.levels.app.providers.description import read_description
from ciguard.levels.app.providers.request import Reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.request import ServiceRequest

_DESCRIPTION = read_description("ciguard_planted.notes")
_ANSWERED = ("things", "feeling")
_PATH = re.compile(r"/notes/v1/(?P<operation>\w+)")
_HEADERS = {"Content-Type": "application/json"}


class NotesService:
    """Answers requests by HTTP."""

    provider = "notes"

    def accepts(self, request: ServiceRequest) -> bool:
        """Return whether a request is for it, by its path."""
        return _PATH.fullmatch(request.path) is not None

    def title(self, request: ServiceRequest) -> str:
        """Return how a log calls a request: by its path."""
        return request.path

    def reply(self, request: ServiceRequest, get_answer: Callable[[str, bytes], Json]) -> Reply:
        """Answer a request; see `Services`."""
        operation = request.path.rpartition("/")[2]
        if request.method != "POST" or operation not in _ANSWERED:
            msg = f"Known are {', '.join(_ANSWERED)}."
            raise ServiceError(Code.UNIMPLEMENTED, msg)
        said = get_answer(operation, request.body)
        if "error" in said:
            raise ServiceError(said["error"]["code"], said["error"]["message"])
        return Reply(content=said["answer"], headers=_HEADERS)

    def refusal(self, request: ServiceRequest, error: ServiceError) -> Reply:
        """Return how it refuses a request."""
        del request
        return Reply(
            content={"message": error.message},
            status=Code(error.code).http_status,
            headers=_HEADERS,
            code=error.code,
            message=error.message,
        )


PROVIDER = Provider(
    description=_DESCRIPTION,
    hook="ciguard_planted.notes.hook",
    messages=DescribedMessages(_DESCRIPTION),
    answered=_ANSWERED,
    limits=ServiceLimits(no_image="There is no image.", no_text="There is no text."),
    services=NotesService,
    scores=frozenset({"sure", "score"}),
)
