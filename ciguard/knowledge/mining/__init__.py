"""Constraints mined from documentation (DocTer): rules are learned from sentences, and applied.

The modules in the order of the pipeline: sentences, normalise, structure, mine, learn, rules,
rule_book, concrete, extract. Only `files` does I/O; it also loads the rules shipped with ciguard.
"""

from ciguard.knowledge.mining.dependencies import dependencies, generation_order
from ciguard.knowledge.mining.explicit import EXPLICIT_RULES
from ciguard.knowledge.mining.extract import ExtractedConstraint, extract, merged_values, prediction
from ciguard.knowledge.mining.files import extract_from_file, learn_from_files, shipped_rules
from ciguard.knowledge.mining.learn import SHARED, learn, learn_all
from ciguard.knowledge.mining.parameter_texts import ParameterText, TextSource
from ciguard.knowledge.mining.rule_book import RuleBook
from ciguard.knowledge.mining.rules import MiningRule, RuleSet, Thresholds

__all__ = [
    "EXPLICIT_RULES",
    "SHARED",
    "ExtractedConstraint",
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
    "learn_all",
    "learn_from_files",
    "merged_values",
    "prediction",
    "shipped_rules",
]
