"""What every layer stands on: checks of arguments, threads, files, pickles, and libraries that are extras."""
