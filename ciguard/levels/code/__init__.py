"""Level `code`: model programs cut into blocks, and put together again (MoCo)."""
