"""The order in which a stream runs the batches of its level, and the feedback between them."""

from ciguard.campaign.batches.contract import BatchSource, Turn, UnknownProgressError
from ciguard.campaign.batches.feedback import WINDOW, Feedback, pack, unpack
from ciguard.campaign.batches.indexed import IndexedBatches
from ciguard.campaign.batches.visited import VisitedBatches

__all__ = [
    "WINDOW",
    "BatchSource",
    "Feedback",
    "IndexedBatches",
    "Turn",
    "UnknownProgressError",
    "VisitedBatches",
    "pack",
    "unpack",
]
