"""Level `model`: mutants of layer graphs, run on several targets and compared (LEMON)."""

from ciguard.levels.model.words import checked_text, rate_text, suspect

__all__ = ["checked_text", "rate_text", "suspect"]
