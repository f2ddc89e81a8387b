"""The published protocols: what a case is judged by, and the figures of its verdicts.

Pure: may import judges, extraction, metrics and the ground; no protocol imports another. No
table.
"""
