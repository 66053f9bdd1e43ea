"""Code that every other package uses: checks of arguments, threads, files, pickles and optional libraries."""
