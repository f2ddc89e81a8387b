"""What a change can reach, and the stamps of what has passed since (CONTRIBUTING.md)."""
