"""Claims, facts, citations and sentences, taken out of texts without a model.

Pure: may import judges, metrics and the ground. Writes no table.
"""
