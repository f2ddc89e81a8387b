"""Data files that are installed with Evergreen."""
