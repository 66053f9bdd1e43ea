"""Output for people, in a terminal and in a notebook: tables, leaderboards, progress."""
