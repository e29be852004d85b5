"""What is wrong with conditions by their text alone: sub-conditions that nothing can change."""
