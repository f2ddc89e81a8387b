"""One file per way to get a report out of an agent."""
