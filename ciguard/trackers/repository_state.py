"""Data about a repository's settings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchRules:
    """The active rules of all rulesets for one branch; the branch need not exist."""

    kinds: frozenset[str]
    """Types of the rules, such as `required_signatures`."""
    required_checks: tuple[str, ...]
    """Names of the checks that a merge requires."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryState:
    """The general settings of a repository."""

    default_branch: str
    is_archived: bool
    is_fork: bool
    has_issues: bool
    may_push: bool | None
    """True if the token may push; None if GitHub does not report it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryRunner:
    """A self-hosted runner that is registered for the repository, not for its organisation."""

    labels: frozenset[str]
    """Labels in lower case, since GitHub ignores case."""
    is_online: bool
