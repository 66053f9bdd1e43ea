"""What the tests of retrieval compute slowly, in several files."""


def slow_ranking(docs):
    """trec_eval's order."""
    return [doc for doc, _ in sorted(sorted(docs.items(), reverse=True), key=lambda item: -item[1])]
