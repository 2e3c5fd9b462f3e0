"""Training scripts and evaluation."""
