"""What the interfaces of several kinds of agents share: HTTP with one key, jobs that are polled,
typed values from foreign JSON, the forms of answers.

Pure: may import `tasks.agents.kind` and models. Writes no table.
"""
