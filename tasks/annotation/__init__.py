"""Sheets that people label: sampled, blinded, written, and read back in."""
