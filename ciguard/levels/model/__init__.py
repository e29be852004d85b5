"""Level `model`: mutants of layer graphs, run on several targets and compared (LEMON)."""
