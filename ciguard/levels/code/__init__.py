"""Level `code`: programs that build a model, split into blocks and rebuilt with mutated blocks.

The method is that of the MoCo paper: code dissection, mutation and assembly.
"""
