"""The paths of Google's services, in REST and in gRPC."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ciguard.levels.app.providers.codes import Code, ServiceError

VERSIONS = {
    "vision": ("v1", "v1p1beta1", "v1p2beta1", "v1p3beta1", "v1p4beta1"),
    "language": ("v1", "v1beta2"),
    "speech": ("v1", "v1p1beta1"),
}
"""Of each service; all of one ask and answer alike."""
_REST = re.compile(
    r"/(?P<version>v\w+)/(?:projects/[^/:]+/(?:locations/[^/:]+/)?)?(?P<verb>\w+:\w+)"
)


@dataclass(frozen=True, slots=True)
class GoogleRoute:
    """One method of a service."""

    service: str
    interface: str
    name: str
    verb: str
    """Of REST, with what it is done to."""

    def method(self, version: str) -> str:
        """Return the path of gRPC."""
        return f"/google.cloud.{self.service}.{version}.{self.interface}/{self.name}"


ROUTES = (
    GoogleRoute("vision", "ImageAnnotator", "BatchAnnotateImages", "images:annotate"),
    GoogleRoute("language", "LanguageService", "AnalyzeSentiment", "documents:analyzeSentiment"),
    GoogleRoute("language", "LanguageService", "AnalyzeEntities", "documents:analyzeEntities"),
    GoogleRoute(
        "language", "LanguageService", "AnalyzeEntitySentiment", "documents:analyzeEntitySentiment"
    ),
    GoogleRoute("language", "LanguageService", "ClassifyText", "documents:classifyText"),
    GoogleRoute("speech", "Speech", "Recognize", "speech:recognize"),
    GoogleRoute("speech", "Speech", "LongRunningRecognize", "speech:longrunningrecognize"),
)
_BY_VERB = {route.verb: route for route in ROUTES}
_METHODS = {route.method(version): route for route in ROUTES for version in VERSIONS[route.service]}


def routed(path: str) -> tuple[GoogleRoute, str]:
    """Return the route of a path, and the path of its method in gRPC.

    Args:
        path: of REST, `/v1/images:annotate`, or of gRPC; what follows a `?` does not matter.

    Raises:
        ServiceError: if nothing here answers that.
    """
    path = path.partition("?")[0]
    found = _REST.fullmatch(path)
    if found is not None and found["verb"] in _BY_VERB:
        route = _BY_VERB[found["verb"]]
        path = route.method(found["version"])
        if path not in _METHODS:
            known = ", ".join(VERSIONS[route.service])
            msg = f"Not answered here in this version. Known are {known}."
            raise ServiceError(Code.UNIMPLEMENTED, msg)
    if path not in _METHODS:
        known = f"{', '.join(_BY_VERB)}, and the same by gRPC"
        msg = f"Not answered here. Known are {known}; JSON of AWS and Azure beside them."
        raise ServiceError(Code.UNIMPLEMENTED, msg)
    return _METHODS[path], path
