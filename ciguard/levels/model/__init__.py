"""Level `model`: mutants of layer graphs, whose runs on several targets are compared.

The method is that of the LEMON paper.
"""
