"""`configs/leaderboard.yaml`: how agents are listed on every board."""

from tasks.configuration.folders import CONFIGS, ConfigSource
from tasks.configuration.inversion import Share
from tasks.configuration.loading import ConfigModel, load_merged


class LeaderboardSettings(ConfigModel):
    """The settings of all boards."""

    completeness: Share
    """The share of assignments, 0-1, of which an agent must have a report to be ranked."""


def load_leaderboard_settings(configs: ConfigSource = CONFIGS) -> LeaderboardSettings:
    """Load the settings.

    Raises:
        ConfigurationError: the file cannot be read or is invalid.
    """
    return load_merged("leaderboard.yaml", LeaderboardSettings, configs)
