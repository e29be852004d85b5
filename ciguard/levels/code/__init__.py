"""Level `code`: model programs cut into blocks, and put together anew (MoCo)."""
