"""The engine: no file in here knows a game."""
