"""The campaign: one time-boxed run over levels and targets, as a generator of events.

`run(config)` connects the packages: provision, describe, replay, explore, confirm, compare. It does
not print: the caller, which iterates over the events, decides what to show.
"""

from ciguard.campaign.bisect import Bisection, bisect
from ciguard.campaign.budget import Budget
from ciguard.campaign.called_functions import CalledFunctions
from ciguard.campaign.conclude import IssuePlanner
from ciguard.campaign.extract import extract
from ciguard.campaign.factory import StreamFactory, digest_of_apis
from ciguard.campaign.group import Group, Member
from ciguard.campaign.history import PAGE_FILE, PAGE_MARK, Publishing
from ciguard.campaign.journal import JOURNAL
from ciguard.campaign.levels import (
    DirectTests,
    Investigator,
    LevelDefaults,
    RunnableLevel,
    WorkerNeeds,
)
from ciguard.campaign.lookup import knowledge_for, learned_constraints, shipped_knowledge
from ciguard.campaign.minimise import minimise
from ciguard.campaign.planned import read_plan
from ciguard.campaign.promotion import promotion
from ciguard.campaign.relating import RelationChooser
from ciguard.campaign.reproduce import debug, reproduce
from ciguard.campaign.run import run
from ciguard.campaign.sharding.cluster import folder_of as shard_folder
from ciguard.campaign.sharding.cluster import jobs_of, launch
from ciguard.campaign.sharding.merge import MergeInput, gather, merge
from ciguard.campaign.sharding.shard_process import ShardResult
from ciguard.campaign.shipped import shipped_files
from ciguard.campaign.stream import ExecutedBatch, Stream

__all__ = [
    "JOURNAL",
    "PAGE_FILE",
    "PAGE_MARK",
    "Bisection",
    "Budget",
    "CalledFunctions",
    "DirectTests",
    "ExecutedBatch",
    "Group",
    "Investigator",
    "IssuePlanner",
    "LevelDefaults",
    "Member",
    "MergeInput",
    "Publishing",
    "RelationChooser",
    "RunnableLevel",
    "ShardResult",
    "Stream",
    "StreamFactory",
    "WorkerNeeds",
    "bisect",
    "debug",
    "digest_of_apis",
    "extract",
    "gather",
    "jobs_of",
    "knowledge_for",
    "launch",
    "learned_constraints",
    "merge",
    "minimise",
    "promotion",
    "read_plan",
    "reproduce",
    "run",
    "shard_folder",
    "shipped_files",
    "shipped_knowledge",
]
