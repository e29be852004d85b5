"""Makes a plan of a journey out of what somebody writes about it."""

import urllib.parse
from dataclasses import dataclass, field

from google.cloud import language_v1
from google.cloud.language_v1 import Entity

MAP = "https://www.openstreetmap.org/search?"


@dataclass
class Plan:
    """Where a journey goes."""

    destination: str
    stops: list[str] = field(default_factory=list)

    def links(self) -> list[str]:
        """Return a map for each place."""
        places = [*self.stops, self.destination]
        return [MAP + urllib.parse.urlencode({"query": place}) for place in places]


def entities_of(text: str) -> list[Entity]:
    """Return what a text mentions, the most important first."""
    client = language_v1.LanguageServiceClient()
    document = language_v1.Document(content=text, type_=language_v1.Document.Type.PLAIN_TEXT)
    response = client.analyze_entities(
        request={"document": document, "encoding_type": language_v1.EncodingType.UTF8}
    )
    return sorted(response.entities, key=lambda entity: entity.salience, reverse=True)


def plan_trip(text: str) -> Plan | None:
    """Return the plan; the place that a text is most about is where the journey ends."""
    places = [
        entity.name
        for entity in entities_of(text)
        if entity.type_ in {Entity.Type.LOCATION, Entity.Type.ADDRESS} and entity.name != "home"
    ]
    plan = Plan(places[0])
    for place in places[1:]:
        if place not in plan.stops:
            plan.stops.append(place)
    return plan
