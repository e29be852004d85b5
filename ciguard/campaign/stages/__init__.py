"""What the stages of a run do, one module each, and what they need for it."""
