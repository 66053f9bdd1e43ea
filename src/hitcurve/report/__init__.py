"""What is shown of curves: text, pages, pictures."""
