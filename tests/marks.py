"""Quotation marks in delimited text, letter by letter."""


def open_mark(text, delimiter=",", blanks=False):
    """The line of the first quotation mark that opens a cell, and, below that line, nothing or text follows its end."""
    line, state, opened = 1, "start", 0
    for letter in text.replace("\r\n", "\n").replace("\r", "\n"):
        if state == "quoted":
            state = "closed" if letter == '"' else state
        elif state == "closed" and letter == '"':
            state = "quoted"
        elif letter in delimiter + "\n":
            state = "start"
        elif state == "closed" and line > opened:
            return opened
        elif state == "start" and letter == '"':
            state, opened = "quoted", line
        elif not (state == "start" and letter == " " and blanks):
            state = "other"
        line += letter == "\n"
    return opened if state == "quoted" else None
