"""The rules of the games, and what a seat sees of them."""
