"""Level `api`: one call of one public function, layer or tensor method at a time."""
