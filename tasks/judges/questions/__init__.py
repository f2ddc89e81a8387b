"""The questions that judges are asked: a class each, beside its reply form, parsing and checks. A
file has those that belong together.

Pure. Writes no table. Each class says in `ask` how a model is asked; its prompt is the file of
`configs/prompts` that `prompt` names.
"""
