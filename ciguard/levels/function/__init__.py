"""Level `function`: calls of the user's annotated functions (aNNoTest)."""
