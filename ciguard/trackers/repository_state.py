"""What is known of a repository's settings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchRules:
    """The active rules of rulesets for one branch, which need not exist."""

    kinds: frozenset[str]
    """Types of rules, such as `required_signatures`."""
    required_checks: tuple[str, ...]
    """Names of checks without which nothing is merged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryState:
    """What decides whether runs can write."""

    default_branch: str
    is_archived: bool
    is_fork: bool
    has_issues: bool
    may_push: bool | None
    """Of this token; None if GitHub does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryRunner:
    """A runner that is registered for the repository alone."""

    labels: frozenset[str]
    """In lower case: GitHub compares them so."""
    is_online: bool
