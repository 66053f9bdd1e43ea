"""Columns of labels and scores from files, streams and queries; rankings larger than memory."""
