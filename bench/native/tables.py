"""Tables in Markdown."""


def table(*names):
    print("| " + " | ".join(names) + " |\n|" + "---|" * len(names), flush=True)
    return lambda *cells: print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def ratio(value, other, digits=2):
    return f"{value / other:.{digits}f}" if value and other else ""
