"""The questions that judges are asked: a file each, with request, reply form, parsing and checks.

Pure. Writes no table. Each class says in `ask` how a model is asked; its prompt is the file of
`configs/prompts` that `prompt` names.
"""
