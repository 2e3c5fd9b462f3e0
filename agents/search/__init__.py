"""Agents that search: they sample worlds from what they see, and look ahead in each."""
