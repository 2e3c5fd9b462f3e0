"""The tests; a package, so that no other `tests` on the path can take its place."""
