"""From verdicts to scores, and from scores to the leaderboard with its intervals and ranks.

Application. Writes no table: the stages `scores` and `leaderboard` do.
"""
