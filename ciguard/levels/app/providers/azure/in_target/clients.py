"""Azure's clients ask ciguard: what they send over HTTP is answered here, as the services would.

Clients of azure-core and of msrest send by requests, whose adapter is replaced. They write
requests, read responses and raise their exceptions as always; no credential is asked for.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import sys
from typing import Any, Callable, Dict

from ciguard.levels.app.in_target.asking import (
    Answering,
    Hearing,
    Json,
    refuse_addresses,
)
from ciguard.levels.app.in_target.hooks import Hook
from ciguard.levels.app.providers.azure.in_target import speech
from ciguard.levels.app.providers.azure.in_target.messages import (
    STREAM,
    AzureRequest,
    Reads,
    answered,
    heard,
)

_SERVICES = (
    ".cognitiveservices.azure.com", ".cognitive.microsoft.com", ".services.ai.azure.com",
    ".speech.microsoft.com", ".speech.azure.us", ".speech.azure.cn",
)  # fmt: skip
_ENDPOINT, _KEY = "https://example.cognitiveservices.azure.com/", "0123456789abcdef" * 2
MADE = {
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
"""Modules and classes of clients, by their names among the descriptions."""


class AzureHook(Hook):
    """Stands between an application and Azure's clients."""

    def intercept(self, answering: Answering) -> None:
        """Have every client ask `answering`, whenever it was made."""
        reads = Reads()

        def send(_: Any, request: Any, **__: Any) -> Any:
            asked = _asked(request, _body(request))
            return _response(request, *answered(asked, answering, reads))

        _stand_between(send, has_others=speech.intercept(answering))
        _need_nothing()
        refuse_addresses(_SERVICES, "something of Azure, without its clients")

    def observe(self, hearing: Hearing) -> None:
        """Have every client ask its service, and `hearing` told the answers."""
        reads = Reads()

        def send(inner: Any, request: Any, **named: Any) -> Any:
            body = _body(request)
            if not isinstance(request.body, (str, bytes, type(None))):  # it can be read once only
                is_sized = "Content-Length" in request.headers
                request.body = io.BytesIO(body) if is_sized else iter([body])
            response = inner.send(request, **named)
            reply = (response.status_code, response.headers, _content(response))
            heard(_asked(request, body), reply, reads, hearing)
            return response

        _stand_between(send, has_others=speech.observe(hearing))

    def client(self, name: str) -> Any:
        """Return a new client, with a key that nobody has, by its name among the descriptions.

        Where there are two of the name, it is the one that the application has imported.

        Raises:
            ValueError: if it cannot be made before it is known what it is asked about.
        """
        if name not in MADE:
            msg = "it is made with what it is asked about"
            raise ValueError(msg)
        several = sorted(MADE[name], key=lambda one: one[0] not in sys.modules)
        module, kind = several[0]
        making = getattr(importlib.import_module(module), kind)
        if "cognitiveservices" in module:
            from msrest.authentication import (
                CognitiveServicesCredentials,
            )

            return making(_ENDPOINT, CognitiveServicesCredentials(_KEY))
        from azure.core.credentials import AzureKeyCredential

        return making(_ENDPOINT, AzureKeyCredential(_KEY))


HOOK = AzureHook()


def _stand_between(send: Callable[..., Any], *, has_others: bool) -> None:
    """Have clients of both kinds send by a function, which is given what else would."""
    clients = [_core(send), _msrest(send)]
    if not any(clients) and not has_others:
        msg = "neither azure.core nor msrest nor azure.cognitiveservices.speech can be imported"
        raise ImportError(msg)


def _core(send: Callable[..., Any]) -> bool:
    try:
        from azure.core.pipeline.transport import RequestsTransport
    except ImportError:
        return False
    begin = RequestsTransport.open

    def begun(transport: Any) -> None:
        begin(transport)
        _mount(transport.session, send)

    setattr(RequestsTransport, "open", begun)  # noqa: B010 - its type is of one transport
    return True


def _need_nothing() -> None:
    """Have clients neither wait before they ask again, nor ask for a token."""
    with contextlib.suppress(ImportError):
        from azure.core.pipeline import policies
        from azure.core.pipeline.transport import RequestsTransport

        setattr(RequestsTransport, "sleep", lambda *_: None)  # noqa: B010 - as above
        setattr(policies.BearerTokenCredentialPolicy, "on_request", lambda *_: None)  # noqa: B010


def _msrest(send: Callable[..., Any]) -> bool:
    try:
        from msrest.universal_http.requests import RequestsHTTPSender
    except ImportError:
        return False
    begin = RequestsHTTPSender._init_session  # noqa: SLF001 - what each session goes through

    def begun(sender: Any, session: Any) -> None:
        begin(sender, session)
        _mount(session, send)

    setattr(RequestsHTTPSender, "_init_session", begun)  # noqa: B010 - likewise
    return True


def _mount(session: Any, send: Callable[..., Any]) -> None:
    from requests.adapters import BaseAdapter

    class Between(BaseAdapter):  # type: ignore[misc,unused-ignore]
        """Sends in the place of another adapter."""

        def __init__(self, inner: Any) -> None:
            super().__init__()
            self.inner = inner

        def send(self, request: Any, *_: Any, **named: Any) -> Any:  # type: ignore[override,unused-ignore]
            return send(self.inner, request, **named)

        def close(self) -> None:
            self.inner.close()

    for protocol in ("https://", "http://"):
        inner = session.get_adapter(protocol)
        if type(inner).__name__ != Between.__name__:
            session.mount(protocol, Between(inner))


def _body(request: Any) -> bytes:
    body = request.body or b""
    if isinstance(body, str):
        return body.encode()
    if hasattr(body, "read"):
        return bytes(body.read())
    return bytes(body) if isinstance(body, (bytes, bytearray)) else b"".join(body)


def _asked(request: Any, body: bytes) -> AzureRequest:
    """Return a request with what its body says; nothing of one that is no JSON."""
    content: Json = body
    if STREAM not in request.headers.get("Content-Type", ""):
        try:
            content = json.loads(body)
        except ValueError:
            content = None
    return AzureRequest(request.method, request.url, content)


def _content(response: Any) -> Json:
    """Return what a response says; None if that is no JSON."""
    try:
        return response.json()
    except ValueError:
        return None


def _response(request: Any, status: int, headers: Dict[str, str], content: Json) -> Any:
    from requests.adapters import HTTPAdapter
    from urllib3 import HTTPResponse

    body = json.dumps(content).encode()
    told = {"Content-Type": "application/json", "Content-Length": f"{len(body)}", **headers}
    raw = HTTPResponse(io.BytesIO(body), told, status, preload_content=False)
    return HTTPAdapter().build_response(request, raw)
