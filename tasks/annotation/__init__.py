"""Sheets that people label: sampled, blinded, written, read back, and compared with judges.

Application. Writes `annotation_items` and `human_labels`.
"""
