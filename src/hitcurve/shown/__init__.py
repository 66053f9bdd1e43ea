"""What people see in a terminal and in a notebook: tables, leaderboards, progress."""
