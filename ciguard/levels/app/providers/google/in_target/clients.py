"""Makes Google's clients, old and new, call ciguard: only their gRPC channel is replaced.

The client's own classes create the messages. An application therefore gets what the service would
return, such as repeated fields, enumerations and absent parts.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import time
from typing import Any, List

from ciguard.levels.app.in_target.asking import (
    AnswerCallback,
    AnswerFunction,
    Json,
    refuse_addresses,
    unsupported_function,
)
from ciguard.levels.app.in_target.hooks import Hook
from ciguard.levels.app.providers.google.in_target.messages import (
    RefusedError,
    answer_request,
    report_answers,
)

_SERVICES = (".googleapis.com", ".google.com")
CLIENT_CLASSES = {
    "vision": [("google.cloud.vision", "ImageAnnotatorClient")],
    "language": [("google.cloud.language", "LanguageServiceClient")],
    "speech": [("google.cloud.speech", "SpeechClient")],
}
"""Client's name in the description → module and class of the client."""
_OLD_CLIENT_ERROR = re.compile(
    r"cannot import name '(?:types|enums)' from 'google\.cloud\.(?P<imported>[a-z]+)"
    r"|No module named 'google\.cloud\.(?P<sought>[a-z]+)\w*\.(?:types|enums)'"
    r"|module 'google\.cloud\.(?P<read>[a-z]+)\w*' has no attribute '(?:types|enums)'"
)


class GoogleHook(Hook):
    """Intercepts Google's clients."""

    def intercept(self, get_answer: AnswerFunction) -> None:
        """Make all new clients call `get_answer`."""
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
            setattr(place, name, lambda *_, **__: _channel(get_answer))
        for name in ("from_service_account_file", "from_service_account_info"):
            setattr(service_account.Credentials, name, lambda *_, **__: anonymous)
        _refuse_other_channels()

    def observe(self, on_answer: AnswerCallback) -> None:
        """Make all new clients report the answers of their services to `on_answer`.

        Answers of asynchronous and REST clients are not reported.
        """
        import grpc
        from google.api_core import grpc_helpers

        class Observer(grpc.UnaryUnaryClientInterceptor):  # type: ignore[misc,name-defined,unused-ignore]
            """Observes each call without changing it."""

            def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
                call = continuation(details, request)
                _report_answer(details.method, request, call, on_answer)
                return call

        connect = grpc_helpers.create_channel
        grpc_helpers.create_channel = lambda *positional, **named: grpc.intercept_channel(
            connect(*positional, **named), Observer()
        )

    def client(self, name: str) -> Any:
        """Return a new client of the installed version, by its name in the description."""
        ((module, kind),) = CLIENT_CLASSES[name]
        return getattr(importlib.import_module(module), kind)()

    def advice(self, message: str) -> str:
        """Return the advice to install an old client if a newer one causes the exception."""
        old = _OLD_CLIENT_ERROR.search(message)
        if old is None:
            return ""
        package = next(filter(None, old.groups()))
        return (
            f"The code was written for a client from before 2020, such as google-cloud-{package}<2"
        )


HOOK = GoogleHook()


def _report_answer(method: str, request: Any, call: Any, on_answer: AnswerCallback) -> None:
    """Report the outcome of a completed call to a callback."""
    error = call.exception()
    if error is not None:
        outcome = {"error": {"code": error.code().name, "message": str(error.details())}}
    else:
        outcome = {"answer": content(call.result())}
    report_answers(method, content(request), outcome, on_answer)


def content(message: Any) -> Json:
    """Return a message as JSON, with the message's names of fields."""
    from google.protobuf import json_format

    return json_format.MessageToDict(protobuf_message(message), preserving_proto_field_name=True)


def _refuse_other_channels() -> None:
    """Make REST clients and asynchronous clients, which use other channels, raise an error."""
    import grpc
    from google.api_core import grpc_helpers_async

    grpc_helpers_async.create_channel = unsupported_function("an asynchronous client")
    asynchronous = getattr(grpc, "aio", None)
    for name in ("secure_channel", "insecure_channel"):
        if asynchronous is not None:
            setattr(asynchronous, name, unsupported_function("an asynchronous client"))
    refuse_addresses(_SERVICES, "a client that uses REST")
    with contextlib.suppress(ImportError):
        from google.auth.transport import requests

        requests.AuthorizedSession.request = unsupported_function(  # type: ignore[method-assign,unused-ignore]
            "a client that uses REST"
        )


def _channel(get_answer: AnswerFunction) -> Any:
    """Return a gRPC channel that answers calls without a network."""
    import grpc

    class Channel(grpc.Channel):  # type: ignore[misc,name-defined,unused-ignore]
        """A gRPC channel that answers calls without a network."""

        def unary_unary(
            self,
            method: str,
            request_serializer: Any = None,
            response_deserializer: Any = None,
            *_: Any,
            **__: Any,
        ) -> Any:
            return _Method(method, request_serializer, response_deserializer, get_answer)

        def unary_stream(self, method: str, *_: Any, **__: Any) -> Any:
            return unsupported_function(method)

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
        self, method: str, serializer: Any, deserializer: Any, get_answer: AnswerFunction
    ) -> None:
        self._method = method
        self._serializer = serializer
        self._deserializer = deserializer
        self._get_answer = get_answer

    def __call__(self, request: Any, timeout: Any = None, *_: Any, **__: Any) -> Any:
        from google.protobuf import json_format

        empty = protobuf_message(self._deserializer(b""))
        try:
            answer = self._answer_in_time(content(request), timeout)
        except RefusedError as error:
            raise _grpc_error(error) from None
        json_format.ParseDict(answer, empty, ignore_unknown_fields=True)
        return self._deserializer(empty.SerializeToString())

    def _answer_in_time(self, request: Json, timeout_s: Any) -> Json:
        """Return the answer after its injected delay.

        Args:
            request: message of the request, as JSON.
            timeout_s: timeout of the client, in seconds; None for none.

        Raises:
            RefusedError: if the service refuses the request, or the delay exceeds the timeout.
        """
        delays_s: List[float] = []

        def get_answer(operation: str, content: bytes) -> Json:
            outcome = self._get_answer(operation, content)
            delays_s.append(outcome.get("late_s", 0.0))
            return outcome

        try:
            return answer_request(self._method, request, get_answer)
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


def protobuf_message(message: Any) -> Any:
    """Return the protobuf message that a message of proto-plus wraps; others are unchanged."""
    unwrap = getattr(type(message), "pb", None)
    return message if unwrap is None else unwrap(message)


def _grpc_error(error: RefusedError) -> Exception:
    """Return the exception that a channel raises for an error of the service."""
    import grpc

    class Refused(grpc.RpcError):  # type: ignore[misc,name-defined,unused-ignore]
        """An exception of grpc, which is also the failed call."""

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
