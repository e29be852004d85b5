"""Level `code`: model programs, split into blocks and reassembled from mutated blocks (MoCo)."""
