"""Constraints mined from documentation (DocTer): sentences to rules, rules to constraints.

Read in the order of the pipeline: sentences, normalise, structure, mine, learn, rules, abstract,
concrete, extract. Pure but for `files`, which also finds the rules that come with the package.
"""

from ciguard.knowledge.mining.abstract import RuleBook
from ciguard.knowledge.mining.dependencies import dependencies, generation_order
from ciguard.knowledge.mining.extract import Extracted, extract, prediction, united
from ciguard.knowledge.mining.files import extract_from_file, learn_from_files, shipped_rules
from ciguard.knowledge.mining.learn import learn
from ciguard.knowledge.mining.parameter_texts import ParameterText, TextSource
from ciguard.knowledge.mining.rules import MiningRule, RuleSet, Thresholds

__all__ = [
    "Extracted",
    "MiningRule",
    "ParameterText",
    "RuleBook",
    "RuleSet",
    "TextSource",
    "Thresholds",
    "dependencies",
    "extract",
    "extract_from_file",
    "generation_order",
    "learn",
    "learn_from_files",
    "prediction",
    "shipped_rules",
    "united",
]
