"""Opens the barrier of a car park when somebody drives up to it."""

import logging
import time
from pathlib import Path

from google.cloud import vision

VEHICLES = {"Vehicle", "Car", "Van", "Truck", "Bus", "Taxi", "Motorcycle", "Land vehicle"}

log = logging.getLogger(__name__)


class GateCamera:
    """The camera at the barrier, whose pictures tell what stands there."""

    def __init__(self) -> None:
        """Connect to the service once, for all pictures."""
        self.client = vision.ImageAnnotatorClient()
        self.opened_at: list[float] = []

    def things_in(self, path: str) -> list[vision.LocalizedObjectAnnotation]:
        """Return what stands before the barrier, the surest first."""
        image = vision.Image(content=Path(path).read_bytes())
        things = self.client.object_localization(image=image).localized_object_annotations
        return sorted(things, key=lambda thing: thing.score, reverse=True)

    def picture_taken(self, path: str) -> bool:
        """Open the barrier if a picture shows a reason to; tell whether it was opened."""
        for thing in self.things_in(path):
            if thing.name in VEHICLES:
                log.info("%s before the barrier (%.0f %%)", thing.name, 100 * thing.score)
                self.opened_at.append(time.time())
                return True
        log.debug("nobody drives up in %s", path)
        return False


def watch(folder: Path, *, pause_s: float = 2.0) -> None:
    """Look at each new picture in a folder, for ever."""
    camera = GateCamera()
    known: set[Path] = set()
    while True:
        for picture in sorted(set(folder.glob("*.jpg")) - known):
            known.add(picture)
            camera.picture_taken(str(picture))
        time.sleep(pause_s)
