"""Runs and judgments: TREC files, dicts and tables in, values per query out."""
