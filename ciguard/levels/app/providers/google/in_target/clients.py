"""Makes Google's clients, old and new, call ciguard: only their channel is replaced.

The client's own classes create the messages. So an application gets what the service would return:
repeated fields, enumerations, absent parts.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import time
from typing import Any, List

from ciguard.levels.app.in_target.asking import (
    Answering,
    Hearing,
    Json,
    refuse_addresses,
    refusing,
)
from ciguard.levels.app.in_target.hooks import Hook
from ciguard.levels.app.providers.google.in_target.messages import (
    RefusedError,
    answer_request,
    report_answers,
)

_SERVICES = (".googleapis.com", ".google.com")
MADE = {
    "vision": [("google.cloud.vision", "ImageAnnotatorClient")],
    "language": [("google.cloud.language", "LanguageServiceClient")],
    "speech": [("google.cloud.speech", "SpeechClient")],
}
"""Modules and classes of clients, by their names in the description."""
_OLD_CLIENT_ERROR = re.compile(
    r"cannot import name '(?:types|enums)' from 'google\.cloud\.(?P<imported>[a-z]+)"
    r"|No module named 'google\.cloud\.(?P<sought>[a-z]+)\w*\.(?:types|enums)'"
    r"|module 'google\.cloud\.(?P<read>[a-z]+)\w*' has no attribute '(?:types|enums)'"
)


class GoogleHook(Hook):
    """Intercepts Google's clients."""

    def intercept(self, answering: Answering) -> None:
        """Make all new clients call `answering`."""
        import google.auth
        import grpc
        from google.api_core import grpc_helpers
        from google.auth.credentials import AnonymousCredentials
        from google.oauth2 import service_account

        anonymous = AnonymousCredentials()  # type: ignore[no-untyped-call,unused-ignore]
        google.auth.default = lambda *_, **__: (anonymous, "ciguard")
        for place, name in (
            (grpc_helpers, "create_channel"),
            (grpc, "secure_channel"),  # for applications that create their own channel
            (grpc, "insecure_channel"),
        ):
            setattr(place, name, lambda *_, **__: _channel(answering))
        for name in ("from_service_account_file", "from_service_account_info"):
            setattr(service_account.Credentials, name, lambda *_, **__: anonymous)
        _refuse_other_channels()

    def observe(self, hearing: Hearing) -> None:
        """Make all new clients report the answers of their services to `hearing`.

        Answers of asynchronous and REST clients are not reported.
        """
        import grpc
        from google.api_core import grpc_helpers

        class Observer(grpc.UnaryUnaryClientInterceptor):  # type: ignore[misc,name-defined,unused-ignore]
            """Observes each call without changing it."""

            def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
                call = continuation(details, request)
                _report_answer(details.method, request, call, hearing)
                return call

        connect = grpc_helpers.create_channel
        grpc_helpers.create_channel = lambda *positional, **named: grpc.intercept_channel(
            connect(*positional, **named), Observer()
        )

    def client(self, name: str) -> Any:
        """Return a new client of the installed version, by its name in the description."""
        ((module, kind),) = MADE[name]
        return getattr(importlib.import_module(module), kind)()

    def advice(self, message: str) -> str:
        """Return advice on an exception that old clients would not raise; see `Hook`."""
        old = _OLD_CLIENT_ERROR.search(message)
        if old is None:
            return ""
        package = next(filter(None, old.groups()))
        return f"It is written for clients of before 2020, such as google-cloud-{package}<2"


HOOK = GoogleHook()


def _report_answer(method: str, request: Any, call: Any, hearing: Hearing) -> None:
    error = call.exception()
    if error is not None:
        outcome = {"error": {"code": error.code().name, "message": str(error.details())}}
    else:
        outcome = {"answer": content(call.result())}
    report_answers(method, content(request), outcome, hearing)


def content(message: Any) -> Json:
    """Return a message as JSON, with the field names of the message."""
    from google.protobuf import json_format

    return json_format.MessageToDict(plain(message), preserving_proto_field_name=True)


def _refuse_other_channels() -> None:
    """Refuse the calls of REST and asynchronous clients, which use another channel."""
    import grpc
    from google.api_core import grpc_helpers_async

    grpc_helpers_async.create_channel = refusing("an asynchronous client")
    asynchronous = getattr(grpc, "aio", None)
    for name in ("secure_channel", "insecure_channel"):
        if asynchronous is not None:
            setattr(asynchronous, name, refusing("an asynchronous client"))
    refuse_addresses(_SERVICES, "a client that speaks REST")
    with contextlib.suppress(ImportError):
        from google.auth.transport import requests

        requests.AuthorizedSession.request = refusing(  # type: ignore[method-assign,unused-ignore]
            "a client that speaks REST"
        )


def _channel(answering: Answering) -> Any:
    import grpc

    class Channel(grpc.Channel):  # type: ignore[misc,name-defined,unused-ignore]
        """Answers calls without a network."""

        def unary_unary(
            self,
            method: str,
            request_serializer: Any = None,
            response_deserializer: Any = None,
            *_: Any,
            **__: Any,
        ) -> Any:
            return _Method(method, request_serializer, response_deserializer, answering)

        def unary_stream(self, method: str, *_: Any, **__: Any) -> Any:
            return refusing(method)

        stream_unary = stream_stream = unary_stream

        def subscribe(self, callback: Any, *_: Any, **__: Any) -> None:
            del callback

        def unsubscribe(self, callback: Any) -> None:
            del callback

        def close(self) -> None:
            """Do nothing: no connection is open."""

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: object) -> None:
            self.close()

    return Channel()


class _Call:
    """Completed call, as passed to interceptors of the client."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def result(self, timeout: Any = None) -> Any:
        del timeout
        return self._answer

    def exception(self, timeout: Any = None) -> None:
        del timeout

    def trailing_metadata(self) -> List[Any]:
        return []

    def add_done_callback(self, callback: Any) -> None:
        callback(self)

    def done(self) -> bool:
        return True


class _Method:
    """One method of a service."""

    def __init__(
        self, method: str, serializer: Any, deserializer: Any, answering: Answering
    ) -> None:
        self._method = method
        self._serializer = serializer
        self._deserializer = deserializer
        self._answering = answering

    def __call__(self, request: Any, timeout: Any = None, *_: Any, **__: Any) -> Any:
        from google.protobuf import json_format

        empty = plain(self._deserializer(b""))
        try:
            answer = self._answer_in_time(content(request), timeout)
        except RefusedError as error:
            raise _grpc_error(error) from None
        json_format.ParseDict(answer, empty, ignore_unknown_fields=True)
        return self._deserializer(empty.SerializeToString())

    def _answer_in_time(self, request: Json, timeout_s: Any) -> Json:
        """Return an answer after its delay; raise like a channel if the deadline expires."""
        delays_s: List[float] = []

        def answering(operation: str, about: bytes) -> Json:
            outcome = self._answering(operation, about)
            delays_s.append(outcome.get("late_s", 0.0))
            return outcome

        try:
            return answer_request(self._method, request, answering)
        finally:
            if timeout_s is not None and sum(delays_s) > timeout_s:
                time.sleep(timeout_s)
                error = {"code": "DEADLINE_EXCEEDED", "message": "Deadline Exceeded"}
                raise RefusedError(error)
            time.sleep(sum(delays_s))

    def with_call(self, request: Any, timeout: Any = None, *_: Any, **__: Any) -> Any:
        answer = self(request, timeout)
        return answer, _Call(answer)

    def future(self, request: Any, timeout: Any = None, *_: Any, **__: Any) -> _Call:
        return _Call(self(request, timeout))


def plain(message: Any) -> Any:
    """Return the protobuf message in one of proto-plus, or the message itself."""
    plain = getattr(type(message), "pb", None)
    return message if plain is None else plain(message)


def _grpc_error(error: RefusedError) -> Exception:
    """Return the exception that a channel raises for an error of the service."""
    import grpc

    class Refused(grpc.RpcError):  # type: ignore[misc,name-defined,unused-ignore]
        """Like the exception of grpc: error and failed call in one object."""

        def code(self) -> Any:
            return grpc.StatusCode[error.code]

        def details(self) -> str:
            return error.message

        def trailing_metadata(self) -> List[Any]:
            return []

        initial_metadata = trailing_metadata

        def result(self, timeout: Any = None) -> Any:
            del timeout
            raise self

        def exception(self, timeout: Any = None) -> Any:
            del timeout
            return self

        def done(self) -> bool:
            return True

    return Refused(error.message)
