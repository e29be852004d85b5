"""Makes Azure's speech client call ciguard.

The client is a native library, which sends requests without Python; so the methods of its
recognizers are replaced. Recognizers read settings as without ciguard. Their audio sources are
recorded when an application configures them. No connection or microphone is opened.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import pkgutil
import re
import sys
import uuid
from importlib.abc import MetaPathFinder
from typing import Any, Callable, Dict, Optional

from ciguard.levels.app.in_target.asking import (
    AnswerCallback,
    AnswerFunction,
    Json,
    UnknownOperationError,
    unsupported_function,
)
from ciguard.levels.app.providers.azure.in_target.sounds import (
    SOURCE,
    read_audio,
    record_audio_sources,
    ticks,
)

_PACKAGE = "azure.cognitiveservices.speech"
_RECOGNIZE, _RECOGNIZE_ASYNC = "recognize_once", "recognize_once_async"
_CALLBACK_METHODS = (
    "start_continuous_recognition", "start_continuous_recognition_async",
    "start_keyword_recognition", "start_keyword_recognition_async",
)  # fmt: skip
_OTHER_CLASSES = re.compile(
    r"(?!Speech)\w+Recognizer|\w+(?:Synthesizer|Transcriber|Translator|Connector|Client)"
    r"|Connection|Conversation|Meeting"
)
"""Names of the classes that call services, apart from `SpeechRecognizer`."""
_CODES = {
    "UNAUTHENTICATED": "AuthenticationFailure", "INVALID_ARGUMENT": "BadRequest",
    "OUT_OF_RANGE": "BadRequest", "RESOURCE_EXHAUSTED": "TooManyRequests",
    "PERMISSION_DENIED": "Forbidden", "DEADLINE_EXCEEDED": "ServiceTimeout",
    "UNAVAILABLE": "ServiceUnavailable",
}  # fmt: skip
"""Code of gRPC → code of the client; recordings have the code of the client already."""
_DETAILED = "SpeechServiceResponse_RequestDetailedResultTrueFalse"
_DETAIL_FIELDS = {
    "Confidence": "confidence", "Lexical": "lexical", "ITN": "itn", "MaskedITN": "masked_itn",
    "Display": "display",
}  # fmt: skip
"""Field of a detailed result in the service's JSON → field in the client's answers."""


def intercept(get_answer: AnswerFunction) -> bool:
    """Make all recognizers call `get_answer`; return whether the client is installed."""

    def replace_methods(speech: Any) -> None:
        record_audio_sources(speech, has_microphone=False)
        _refuse_others(speech)

        def recognize(recognizer: Any) -> Any:
            return _result(speech, recognizer, _RECOGNIZE, get_answer)

        def recognize_async(recognizer: Any) -> Any:
            return _future(
                speech, lambda: _result(speech, recognizer, _RECOGNIZE_ASYNC, get_answer)
            )

        setattr(speech.SpeechRecognizer, _RECOGNIZE, recognize)
        setattr(speech.SpeechRecognizer, _RECOGNIZE_ASYNC, recognize_async)

    return _when_imported(replace_methods)


def observe(on_answer: AnswerCallback) -> bool:
    """Make all recognizers report the answers of their services to `on_answer`.

    Answers about the sound of a microphone, and answers by callback, are not reported.
    """

    def wrap_methods(speech: Any) -> None:
        record_audio_sources(speech, has_microphone=True)
        recognize_once = getattr(speech.SpeechRecognizer, _RECOGNIZE)
        recognize_once_async = getattr(speech.SpeechRecognizer, _RECOGNIZE_ASYNC)

        def recognize(recognizer: Any) -> Any:
            result = recognize_once(recognizer)
            _report_answer(speech, recognizer, _RECOGNIZE, result, on_answer)
            return result

        def recognize_async(recognizer: Any) -> Any:
            future = recognize_once_async(recognizer)

            def get() -> Any:
                result = future.get()
                _report_answer(speech, recognizer, _RECOGNIZE_ASYNC, result, on_answer)
                return result

            return _future(speech, get)

        setattr(speech.SpeechRecognizer, _RECOGNIZE, recognize)
        setattr(speech.SpeechRecognizer, _RECOGNIZE_ASYNC, recognize_async)

    return _when_imported(wrap_methods)


# --- import of the client ------------------------------------------------------------------------


def _when_imported(callback: Callable[[Any], None]) -> bool:
    """Call a function with the client's module as soon as the application imports the client.

    ciguard itself does not import it, as the import is slow. Return whether it is installed.
    """
    try:
        is_installed = importlib.util.find_spec(_PACKAGE) is not None
    except ImportError:
        return False
    if _PACKAGE in sys.modules:
        callback(sys.modules[_PACKAGE])
    elif is_installed:
        sys.meta_path.insert(0, _ImportHook(callback))
    return is_installed


class _ImportHook(MetaPathFinder):
    def __init__(self, callback: Callable[[Any], None]) -> None:
        self._callback = callback
        self._is_searching = False

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        del path, target
        if name != _PACKAGE or self._is_searching:
            return None
        self._is_searching = True
        try:
            spec = importlib.util.find_spec(name)
        finally:  # after a failed import, the next one is intercepted too
            self._is_searching = False
        loader: Any = spec.loader if spec is not None else None
        if loader is not None:
            load = loader.exec_module

            def exec_module(module: Any) -> None:
                load(module)
                self._callback(module)

            loader.exec_module = exec_module
        return spec


# --- results -------------------------------------------------------------------------------------


def _result(speech: Any, recognizer: Any, operation: str, get_answer: AnswerFunction) -> Any:
    """Return the result of a recognizer: a transcript, no match or a cancellation."""
    content = read_audio(recognizer, operation)
    fields: Dict[str, Any] = {"result_id": uuid.uuid4().hex}
    if not content:
        details = _cancellation_details(speech, "EndOfStream", "NoError", "")
        return _result_object(
            speech, {**fields, "reason": "Canceled", "cancellation_details": details}
        )
    outcome = get_answer(operation, content)
    if "error" in outcome:
        return _result_object(speech, {**fields, **_error_fields(speech, outcome["error"])})
    answer = outcome["answer"]
    fields["duration"] = answer.get("duration", ticks(content))
    fields["offset"] = answer.get("offset", 0)
    if not answer.get("text"):
        details = _instance_with(
            speech.NoMatchDetails, {"reason": speech.NoMatchReason["InitialSilenceTimeout"]}
        )
        return _result_object(speech, {**fields, "reason": "NoMatch", "no_match_details": details})
    is_detailed = _is_detailed(speech, recognizer)
    fields["json"] = json.dumps(_service_json(answer, fields, is_detailed=is_detailed))
    return _result_object(speech, {**fields, "reason": "RecognizedSpeech", "text": answer["text"]})


def _is_detailed(speech: Any, recognizer: Any) -> bool:
    """Return whether the application has requested detailed results."""
    setting = recognizer.properties.get_property(getattr(speech.PropertyId, _DETAILED))
    return str(setting).lower() == "true"


def _service_json(answer: Json, fields: Dict[str, Any], *, is_detailed: bool) -> Json:
    """Return an answer in the JSON format of the service."""
    content = {
        "Id": fields["result_id"],
        "RecognitionStatus": "Success",
        "DisplayText": answer["text"],
        "Offset": fields["offset"],
        "Duration": fields["duration"],
        "Channel": 0,
    }
    if not is_detailed:
        return content
    alternatives = [
        {
            service_name: alternative[client_name]
            for service_name, client_name in _DETAIL_FIELDS.items()
            if client_name in alternative
        }
        for alternative in answer.get("n_best", ())
    ]
    return {**content, "NBest": alternatives}


def _error_fields(speech: Any, error: Json) -> Json:
    """Return the fields of a result that reports an error."""
    code = _CODES.get(error["code"], error["code"])
    known = speech.CancellationErrorCode.__members__
    name = code if code in known else "ServiceError"
    details = _cancellation_details(speech, "Error", name, error["message"])
    fields = {"reason": "Canceled", "cancellation_details": details}
    return {**fields, "error_json": error["message"]}


def _result_object(speech: Any, fields: Dict[str, Any]) -> Any:
    """Return a result that is an instance of the client's own class."""
    properties = {
        getattr(speech.PropertyId, name): fields[key]
        for name, key in (
            ("SpeechServiceResponse_JsonResult", "json"),
            ("SpeechServiceResponse_JsonErrorDetails", "error_json"),
        )
        if fields.get(key)
    }
    values = {
        "offset": 0, "duration": 0, "channel": 0, "commit_token": 0, "text": "", "json": "",
        "error_json": "", "cancellation_details": None, "no_match_details": None, **fields,
        "reason": speech.ResultReason[fields["reason"]], "properties": properties,
    }  # fmt: skip
    return _instance_with(speech.SpeechRecognitionResult, values)


def _cancellation_details(speech: Any, reason: str, code: str, message: str) -> Any:
    """Return the details of a cancelled result."""
    values = {
        "reason": speech.CancellationReason[reason],
        "code": speech.CancellationErrorCode[code],
        "error_details": message,
    }
    return _instance_with(speech.CancellationDetails, values)


def _instance_with(kind: Any, values: Dict[str, Any]) -> Any:
    """Return an instance of a subclass whose properties have these values, without native data."""

    def property_of(name: str) -> property:
        return property(lambda _: values[name])

    members: Dict[str, Any] = {name: property_of(name) for name in values}
    members["__init__"] = lambda _: None
    return type(kind.__name__, (kind,), members)()


def _future(speech: Any, get: Callable[[], Any]) -> Any:
    """Return a future whose result `get` returns; it is computed once, on request."""
    results: list[Any] = []

    def get_once(_: Any) -> Any:
        if not results:
            results.append(get())
        return results[0]

    members = {"__init__": lambda _: None, "get": get_once}
    return type("ResultFuture", (speech.ResultFuture,), members)()


# --- refused classes, and observed answers --------------------------------------------------------


def _refuse_others(speech: Any) -> None:
    """Make methods that report by callback, and other classes that call services, raise errors."""
    for name in _CALLBACK_METHODS:
        for kind in (speech.Recognizer, speech.SpeechRecognizer):
            setattr(kind, name, unsupported_function(f"azure {name} (it reports by callback)"))
    modules = (
        module for module in pkgutil.iter_modules(speech.__path__) if module.name[:3] != "lib"
    )
    for module in modules:  # imported, so that their classes are replaced below
        importlib.import_module(f"{_PACKAGE}.{module.name}")
    loaded = [module for name, module in sys.modules.items() if name.startswith(_PACKAGE)]
    for imported in loaded:
        for name, kind in list(vars(imported).items()):
            is_own_class = inspect.isclass(kind) and kind.__module__.startswith(_PACKAGE)
            if is_own_class and _OTHER_CLASSES.fullmatch(name):
                setattr(imported, name, _RefusedClass(name))


class _RefusedClass:
    """Replaces a class that calls services: its objects can be created, but not used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *_: Any, **__: Any) -> Any:
        return self

    def __getattr__(self, name: str) -> Any:
        operation = f"azure {self._name}.{name}"
        raise UnknownOperationError(operation)


def _report_answer(
    speech: Any, recognizer: Any, operation: str, result: Any, on_answer: AnswerCallback
) -> None:
    """Report the outcome of a recognizer's audio to a callback."""
    if getattr(recognizer, SOURCE, None) is None:
        return
    content = read_audio(recognizer, operation)
    outcome = _outcome(speech, result)
    if content and outcome is not None:
        on_answer(operation, content, outcome)


def _outcome(speech: Any, result: Any) -> Optional[Json]:
    """Return a result as `{"answer": …}` or `{"error": …}`; None at the end of the audio."""
    if result.reason == speech.ResultReason.Canceled:
        details = result.cancellation_details
        if details.reason != speech.CancellationReason.Error:
            return None
        return {"error": {"code": details.code.name, "message": str(details.error_details)}}
    answer: Dict[str, Any] = {"offset": result.offset, "duration": result.duration}
    if result.reason != speech.ResultReason.RecognizedSpeech:
        return {"answer": {**answer, "text": ""}}
    alternatives = json.loads(result.json or "{}").get("NBest", [])
    answer["n_best"] = [
        {
            client_name: alternative[service_name]
            for service_name, client_name in _DETAIL_FIELDS.items()
            if service_name in alternative
        }
        for alternative in alternatives
    ]
    return {"answer": {**answer, "text": result.text}}
