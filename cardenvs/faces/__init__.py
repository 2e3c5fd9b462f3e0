"""The engine as other libraries want to see it."""
