"""Azure's client for speech asks ciguard: a library of its own, which sends by no Python.

So its recognizers are asked here in its place. They read settings and files as always; what they
hear is noted where audio is given to them. No connection is opened, and no microphone.
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
    Answering,
    Hearing,
    Json,
    UnknownOperationError,
    refusing,
)
from ciguard.levels.app.providers.azure.in_target.sounds import SOURCE, heard, note_audio, ticks

_PACKAGE = "azure.cognitiveservices.speech"
_ONCE, _LATER = "recognize_once", "recognize_once_async"
_BY_CALLBACK = (
    "start_continuous_recognition", "start_continuous_recognition_async",
    "start_keyword_recognition", "start_keyword_recognition_async",
)  # fmt: skip
_OTHERS = re.compile(
    r"(?!Speech)\w+Recognizer|\w+(?:Synthesizer|Transcriber|Translator|Connector|Client)"
    r"|Connection|Conversation|Meeting"
)
"""What asks services too: their names."""
_CODES = {
    "UNAUTHENTICATED": "AuthenticationFailure", "INVALID_ARGUMENT": "BadRequest",
    "OUT_OF_RANGE": "BadRequest", "RESOURCE_EXHAUSTED": "TooManyRequests",
    "PERMISSION_DENIED": "Forbidden", "DEADLINE_EXCEEDED": "ServiceTimeout",
    "UNAVAILABLE": "ServiceUnavailable",
}  # fmt: skip
"""By codes of gRPC; a recording has the client's own."""
_DETAILED = "SpeechServiceResponse_RequestDetailedResultTrueFalse"
_IN_DETAIL = {
    "Confidence": "confidence", "Lexical": "lexical", "ITN": "itn", "MaskedITN": "masked_itn",
    "Display": "display",
}  # fmt: skip


def intercept(answering: Answering) -> bool:
    """Have every recognizer ask `answering`; return whether the client is installed."""

    def stand_between(speech: Any) -> None:
        note_audio(speech, has_microphone=False)
        _refuse_others(speech)

        def once(recognizer: Any) -> Any:
            return _result(speech, recognizer, _ONCE, answering)

        def later(recognizer: Any) -> Any:
            return _future(speech, lambda: _result(speech, recognizer, _LATER, answering))

        setattr(speech.SpeechRecognizer, _ONCE, once)
        setattr(speech.SpeechRecognizer, _LATER, later)

    return _when_imported(stand_between)


def observe(hearing: Hearing) -> bool:
    """Have every recognizer ask its service, and `hearing` told the answers.

    Nothing is told of what a microphone hears, and of answers that come by callback.
    """

    def stand_between(speech: Any) -> None:
        note_audio(speech, has_microphone=True)
        asked_once = getattr(speech.SpeechRecognizer, _ONCE)
        asked_later = getattr(speech.SpeechRecognizer, _LATER)

        def once(recognizer: Any) -> Any:
            result = asked_once(recognizer)
            _hear(speech, recognizer, _ONCE, result, hearing)
            return result

        def later(recognizer: Any) -> Any:
            future = asked_later(recognizer)

            def got() -> Any:
                result = future.get()
                _hear(speech, recognizer, _LATER, result, hearing)
                return result

            return _future(speech, got)

        setattr(speech.SpeechRecognizer, _ONCE, once)
        setattr(speech.SpeechRecognizer, _LATER, later)

    return _when_imported(stand_between)


# --- when the application imports it -------------------------------------------------------------


def _when_imported(then: Callable[[Any], None]) -> bool:
    """Do something with the client once it is imported, which takes its time."""
    try:
        is_installed = importlib.util.find_spec(_PACKAGE) is not None
    except ImportError:
        return False
    if _PACKAGE in sys.modules:
        then(sys.modules[_PACKAGE])
    elif is_installed:
        sys.meta_path.insert(0, _Awaiting(then))
    return is_installed


class _Awaiting(MetaPathFinder):
    def __init__(self, then: Callable[[Any], None]) -> None:
        self._then = then
        self._is_seeking = False

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        del path, target
        if name != _PACKAGE or self._is_seeking:
            return None
        self._is_seeking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:  # whoever imports it again, after a failure, meets this again
            self._is_seeking = False
        loader: Any = spec.loader if spec is not None else None
        if loader is not None:
            load = loader.exec_module

            def exec_module(module: Any) -> None:
                load(module)
                self._then(module)

            loader.exec_module = exec_module
        return spec


# --- results -------------------------------------------------------------------------------------


def _result(speech: Any, recognizer: Any, operation: str, answering: Answering) -> Any:
    """Return what a recognizer returns: what was said, that nothing was, or why it was canceled."""
    content = heard(recognizer, operation)
    told: Dict[str, Any] = {"result_id": uuid.uuid4().hex}
    if not content:
        details = _canceled(speech, "EndOfStream", "NoError", "")
        return _made(speech, {**told, "reason": "Canceled", "cancellation_details": details})
    said = answering(operation, content)
    if "error" in said:
        return _made(speech, {**told, **_refused(speech, said["error"])})
    answer = said["answer"]
    told["duration"] = answer.get("duration", ticks(content))
    told["offset"] = answer.get("offset", 0)
    if not answer.get("text"):
        details = _like(
            speech.NoMatchDetails, {"reason": speech.NoMatchReason["InitialSilenceTimeout"]}
        )
        return _made(speech, {**told, "reason": "NoMatch", "no_match_details": details})
    is_detailed = _is_detailed(speech, recognizer)
    told["json"] = json.dumps(_in_json(answer, told, is_detailed=is_detailed))
    return _made(speech, {**told, "reason": "RecognizedSpeech", "text": answer["text"]})


def _is_detailed(speech: Any, recognizer: Any) -> bool:
    wanted = recognizer.properties.get_property(getattr(speech.PropertyId, _DETAILED))
    return str(wanted).lower() == "true"


def _in_json(answer: Json, told: Dict[str, Any], *, is_detailed: bool) -> Json:
    """Return an answer as the service has it."""
    content = {
        "Id": told["result_id"],
        "RecognitionStatus": "Success",
        "DisplayText": answer["text"],
        "Offset": told["offset"],
        "Duration": told["duration"],
        "Channel": 0,
    }
    if not is_detailed:
        return content
    best = [
        {theirs: one[own] for theirs, own in _IN_DETAIL.items() if own in one}
        for one in answer.get("n_best", ())
    ]
    return {**content, "NBest": best}


def _refused(speech: Any, error: Json) -> Json:
    code = _CODES.get(error["code"], error["code"])
    known = speech.CancellationErrorCode.__members__
    name = code if code in known else "ServiceError"
    details = _canceled(speech, "Error", name, error["message"])
    told = {"reason": "Canceled", "cancellation_details": details}
    return {**told, "error_json": error["message"]}


def _made(speech: Any, told: Dict[str, Any]) -> Any:
    """Return a result of the client's own type."""
    properties = {
        getattr(speech.PropertyId, name): told[own]
        for name, own in (
            ("SpeechServiceResponse_JsonResult", "json"),
            ("SpeechServiceResponse_JsonErrorDetails", "error_json"),
        )
        if told.get(own)
    }
    values = {
        "offset": 0, "duration": 0, "channel": 0, "commit_token": 0, "text": "", "json": "",
        "error_json": "", "cancellation_details": None, "no_match_details": None, **told,
        "reason": speech.ResultReason[told["reason"]], "properties": properties,
    }  # fmt: skip
    return _like(speech.SpeechRecognitionResult, values)


def _canceled(speech: Any, reason: str, code: str, message: str) -> Any:
    values = {
        "reason": speech.CancellationReason[reason],
        "code": speech.CancellationErrorCode[code],
        "error_details": message,
    }
    return _like(speech.CancellationDetails, values)


def _like(kind: Any, values: Dict[str, Any]) -> Any:
    """Return an object of a class with other values, without what the library has of it."""

    def told(name: str) -> property:
        return property(lambda _: values[name])

    members: Dict[str, Any] = {name: told(name) for name in values}
    members["__init__"] = lambda _: None
    return type(kind.__name__, (kind,), members)()


def _future(speech: Any, get: Callable[[], Any]) -> Any:
    """Return what is asked for a result later; it has one only."""
    results: list[Any] = []

    def got(_: Any) -> Any:
        if not results:
            results.append(get())
        return results[0]

    members = {"__init__": lambda _: None, "get": got}
    return type("ResultFuture", (speech.ResultFuture,), members)()


# --- what is refused, and what is told ------------------------------------------------------------


def _refuse_others(speech: Any) -> None:
    """Refuse answers by callback, and whatever else asks a service."""
    for name in _BY_CALLBACK:
        for kind in (speech.Recognizer, speech.SpeechRecognizer):
            setattr(kind, name, refusing(f"azure {name} (its answers come by callback)"))
    own = (found for found in pkgutil.iter_modules(speech.__path__) if found.name[:3] != "lib")
    for found in own:  # what is native is loaded by these
        importlib.import_module(f"{_PACKAGE}.{found.name}")
    modules = [one for name, one in sys.modules.items() if name.startswith(_PACKAGE)]
    for module in modules:
        for name, kind in list(vars(module).items()):
            is_of_it = inspect.isclass(kind) and kind.__module__.startswith(_PACKAGE)
            if is_of_it and _OTHERS.fullmatch(name):
                setattr(module, name, _Other(name))


class _Other:
    """In the place of a class whose objects ask services: they can be made, and not used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *_: Any, **__: Any) -> Any:
        return self

    def __getattr__(self, name: str) -> Any:
        what = f"azure {self._name}.{name}"
        raise UnknownOperationError(what)


def _hear(speech: Any, recognizer: Any, operation: str, result: Any, hearing: Hearing) -> None:
    """Tell what a service has said to what a recognizer has heard."""
    if getattr(recognizer, SOURCE, None) is None:
        return
    content = heard(recognizer, operation)
    said = _said(speech, result)
    if content and said is not None:
        hearing(operation, content, said)


def _said(speech: Any, result: Any) -> Optional[Json]:
    """Return what a result says; None of one that only ends."""
    if result.reason == speech.ResultReason.Canceled:
        details = result.cancellation_details
        if details.reason != speech.CancellationReason.Error:
            return None
        return {"error": {"code": details.code.name, "message": str(details.error_details)}}
    answer: Dict[str, Any] = {"offset": result.offset, "duration": result.duration}
    if result.reason != speech.ResultReason.RecognizedSpeech:
        return {"answer": {**answer, "text": ""}}
    best = json.loads(result.json or "{}").get("NBest", [])
    answer["n_best"] = [
        {own: one[theirs] for theirs, own in _IN_DETAIL.items() if theirs in one} for one in best
    ]
    return {"answer": {**answer, "text": result.text}}
