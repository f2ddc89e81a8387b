"""The Prefect flows, a module each, and the modules that serve and run them.

May import everything but the command line. Writes nothing itself: its stages do.
"""

from tasks.processes.dumpable import forbid_dumps

# Commands, served runs and servers all begin here, whoever starts them; their environment has keys.
forbid_dumps()
