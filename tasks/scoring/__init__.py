"""Aggregate scores into the leaderboard, with intervals and ranks.

Application. Writes no table: the stages `scores` and `leaderboard` do.
"""
