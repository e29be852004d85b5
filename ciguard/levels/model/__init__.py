"""Level `model`: guided mutation of layer graphs (LEMON)."""
