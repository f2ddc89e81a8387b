"""What only real processes show: commands, Prefect's server, programs of agents, kills."""
