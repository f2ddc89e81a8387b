"""Annotation sheets for people: drawn, blinded, written, imported, and compared with judges.

Application. Writes `annotation_items` and `human_labels`.
"""
