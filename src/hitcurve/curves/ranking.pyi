LABELS: str
SCORES: str
