"""Makes Azure's clients call ciguard: their HTTP requests are answered here.

Clients that use azure-core or msrest send HTTP requests by the package `requests`, whose adapter is
replaced. They write requests, parse responses and raise their exceptions as without ciguard.
Credentials are not checked.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import sys
from typing import Any, Callable, Dict

from ciguard.levels.app.in_target.asking import (
    AnswerCallback,
    AnswerFunction,
    Json,
    refuse_addresses,
)
from ciguard.levels.app.in_target.hooks import Hook
from ciguard.levels.app.providers.azure.in_target import speech
from ciguard.levels.app.providers.azure.in_target.messages import (
    STREAM,
    AzureRequest,
    ReadOperations,
    answer_request,
    report_answers,
)

_SERVICES = (
    ".cognitiveservices.azure.com", ".cognitive.microsoft.com", ".services.ai.azure.com",
    ".speech.microsoft.com", ".speech.azure.us", ".speech.azure.cn",
)  # fmt: skip
_ENDPOINT, _KEY = "https://example.cognitiveservices.azure.com/", "0123456789abcdef" * 2
CLIENT_CLASSES = {
    "vision": [("azure.cognitiveservices.vision.computervision", "ComputerVisionClient")],
    "image analysis": [("azure.ai.vision.imageanalysis", "ImageAnalysisClient")],
    "face": [
        ("azure.ai.vision.face", "FaceClient"),
        ("azure.cognitiveservices.vision.face", "FaceClient"),
    ],
    "text analytics": [("azure.ai.textanalytics", "TextAnalyticsClient")],
    "text analytics of before version 3": [
        ("azure.cognitiveservices.language.textanalytics", "TextAnalyticsClient")
    ],
}
"""Client's name in the description → module and class of each package that has the client."""


class AzureHook(Hook):
    """Intercepts Azure's clients."""

    def intercept(self, get_answer: AnswerFunction) -> None:
        """Make all clients, also existing ones, call `get_answer`."""
        read_operations = ReadOperations()

        def send(_: Any, request: Any, **__: Any) -> Any:
            parsed = _azure_request(request, _body(request))
            return _response(request, *answer_request(parsed, get_answer, read_operations))

        _replace_adapters(send, has_speech=speech.intercept(get_answer))
        _skip_waiting_and_tokens()
        refuse_addresses(_SERVICES, "a service of Azure, without its clients")

    def observe(self, on_answer: AnswerCallback) -> None:
        """Make all clients report the answers of their services to `on_answer`."""
        read_operations = ReadOperations()

        def send(inner: Any, request: Any, **named: Any) -> Any:
            body = _body(request)
            # A stream can be read only once.
            if not isinstance(request.body, (str, bytes, type(None))):
                is_sized = "Content-Length" in request.headers
                request.body = io.BytesIO(body) if is_sized else iter([body])
            response = inner.send(request, **named)
            reply = (response.status_code, response.headers, _content(response))
            report_answers(_azure_request(request, body), reply, read_operations, on_answer)
            return response

        _replace_adapters(send, has_speech=speech.observe(on_answer))

    def client(self, name: str) -> Any:
        """Return a new client with a placeholder key, by its name in the description.

        If two packages have the client, the one that the application has imported is used.

        Raises:
            ValueError: if the client needs the content of its requests when it is created.
        """
        if name not in CLIENT_CLASSES:
            msg = "the client is created with the content of its requests"
            raise ValueError(msg)
        candidates = sorted(
            CLIENT_CLASSES[name], key=lambda candidate: candidate[0] not in sys.modules
        )
        module, kind = candidates[0]
        client_class = getattr(importlib.import_module(module), kind)
        if "cognitiveservices" in module:
            from msrest.authentication import (
                CognitiveServicesCredentials,
            )

            return client_class(_ENDPOINT, CognitiveServicesCredentials(_KEY))
        from azure.core.credentials import AzureKeyCredential

        return client_class(_ENDPOINT, AzureKeyCredential(_KEY))


HOOK = AzureHook()


def _replace_adapters(send: Callable[..., Any], *, has_speech: bool) -> None:
    """Make clients that use azure-core or msrest call a function instead of sending a request.

    Args:
        send: function that gets the original adapter and the request, and returns the response.
        has_speech: True if the speech client is installed, so that another client may be missing.

    Raises:
        ImportError: if no client is installed.
    """
    clients = [_patch_core(send), _patch_msrest(send)]
    if not any(clients) and not has_speech:
        msg = "neither azure.core nor msrest nor azure.cognitiveservices.speech can be imported"
        raise ImportError(msg)


def _patch_core(send: Callable[..., Any]) -> bool:
    """Replace the adapters of azure-core; return whether it is installed."""
    try:
        from azure.core.pipeline.transport import RequestsTransport
    except ImportError:
        return False
    open_transport = RequestsTransport.open

    def opened(transport: Any) -> None:
        open_transport(transport)
        _mount(transport.session, send)

    setattr(RequestsTransport, "open", opened)  # noqa: B010 - mypy refuses a plain assignment to a method
    return True


def _skip_waiting_and_tokens() -> None:
    """Make clients retry without waiting, and without requesting a token."""
    with contextlib.suppress(ImportError):
        from azure.core.pipeline import policies
        from azure.core.pipeline.transport import RequestsTransport

        setattr(RequestsTransport, "sleep", lambda *_: None)  # noqa: B010 - see `_patch_core`
        setattr(policies.BearerTokenCredentialPolicy, "on_request", lambda *_: None)  # noqa: B010 - see `_patch_core`


def _patch_msrest(send: Callable[..., Any]) -> bool:
    """Replace the adapters of msrest; return whether it is installed."""
    try:
        from msrest.universal_http.requests import RequestsHTTPSender
    except ImportError:
        return False
    original = RequestsHTTPSender._init_session  # noqa: SLF001 - no public method sees every session

    def init_session(sender: Any, session: Any) -> None:
        original(sender, session)
        _mount(session, send)

    setattr(RequestsHTTPSender, "_init_session", init_session)  # noqa: B010 - see `_patch_core`
    return True


def _mount(session: Any, send: Callable[..., Any]) -> None:
    """Replace the adapters of a session by one that calls a function."""
    from requests.adapters import BaseAdapter

    class ReplacedAdapter(BaseAdapter):  # type: ignore[misc,unused-ignore]
        """An adapter that calls `send` with the original adapter and the request."""

        def __init__(self, inner: Any) -> None:
            super().__init__()
            self.inner = inner

        def send(self, request: Any, *_: Any, **named: Any) -> Any:  # type: ignore[override,unused-ignore]
            return send(self.inner, request, **named)

        def close(self) -> None:
            self.inner.close()

    for protocol in ("https://", "http://"):
        inner = session.get_adapter(protocol)
        if type(inner).__name__ != ReplacedAdapter.__name__:
            session.mount(protocol, ReplacedAdapter(inner))


def _body(request: Any) -> bytes:
    """Return the body of a request as bytes; this reads streams to their end."""
    body = request.body or b""
    if isinstance(body, str):
        return body.encode()
    if hasattr(body, "read"):
        return bytes(body.read())
    return bytes(body) if isinstance(body, (bytes, bytearray)) else b"".join(body)


def _azure_request(request: Any, body: bytes) -> AzureRequest:
    """Return the request with its content: bytes for a stream, parsed JSON, or None if invalid."""
    content: Json = body
    if STREAM not in request.headers.get("Content-Type", ""):
        try:
            content = json.loads(body)
        except ValueError:
            content = None
    return AzureRequest(request.method, request.url, content)


def _content(response: Any) -> Json:
    """Return the parsed content of a response; None if it is not JSON."""
    try:
        return response.json()
    except ValueError:
        return None


def _response(request: Any, status: int, headers: Dict[str, str], content: Json) -> Any:
    """Return a response of the package `requests`, with JSON as its content."""
    from requests.adapters import HTTPAdapter
    from urllib3 import HTTPResponse

    body = json.dumps(content).encode()
    all_headers = {"Content-Type": "application/json", "Content-Length": f"{len(body)}", **headers}
    raw = HTTPResponse(io.BytesIO(body), all_headers, status, preload_content=False)
    return HTTPAdapter().build_response(request, raw)
