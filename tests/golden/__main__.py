"""Writes the golden files anew; look at what `git diff` says before you keep them."""

from tests.golden import write_all

write_all()
