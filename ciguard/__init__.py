"""ciguard: a regression guard for deep-learning libraries and the programs built on them."""

__version__ = "0.1.0"
