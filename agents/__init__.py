"""Baseline agents: they see observations and action masks, nothing else."""
