"""Pictures that are drawn once: for tests of the files and of the words around pictures, not of their lines."""

from importlib import import_module


def pictures(patch):
    """Each kind of picture of the commands is drawn once, from the data of the first call.

    Pages are put together anew, and files are opened, written and replaced as ever.
    """
    for module, name, which in (("page", "figures", lambda *_: 0), ("leaderboard_page", "figures", lambda *_: 0),
                                ("plot_queries", "runs_figure", lambda *_: 0), ("frame", "pictures", id_of)):  # fmt: skip
        module = import_module(f"hitcurve.report.{module}")
        patch.setattr(module, name, kept(getattr(module, name), which))
    saved(patch, id_of)


def saved(patch, which=lambda *_: 0):
    """Figures of which `which` says the same are saved once in each format: these bytes are written again."""
    from matplotlib.figure import Figure

    real, known = Figure.savefig, {}

    def savefig(figure, out, **options):
        if not hasattr(out, "getvalue"):
            real(figure, out, **options)
            return
        key = which(figure), options["format"], type(out)
        if key not in known:
            real(figure, out, **options)
            known[key] = figure, out.getvalue()  # a figure that is kept is no other's id
        else:
            out.write(known[key][1])

    patch.setattr(Figure, "savefig", savefig)


def kept(real, which):
    """The function, which is called once for each value of `which`."""
    known = {}

    def call(first, *others, **options):
        key = which(first)
        if key not in known:
            known[key] = first, real(first, *others, **options)
        made = known[key][1]
        return [*made] if isinstance(made, list) else made

    return call


def id_of(figure, *_):
    return id(figure)
