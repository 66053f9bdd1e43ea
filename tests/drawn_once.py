"""Pictures that are drawn once or not at all: for tests of files and of the words of pages, not of lines."""

from importlib import import_module


def pictures(patch):
    """Each kind of picture of the commands is drawn once, from the data of the first call.

    Pages are put together anew, and files are opened, written and replaced as ever.
    """
    for module, name in ("page", "figures"), ("leaderboard_page", "figures"), ("plot_queries", "runs_figure"):
        keep(patch, module, name, lambda *_: 0)
    keep(patch, "frame", "pictures", id)
    saved(patch, id)


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


def words_alone(patch, called=lambda _: None):
    """Pages have the captions of their pictures, which are not drawn: `called` is given each figure."""
    patch.setattr("hitcurve.report.frame.pictures", lambda figure, _: called(figure) or ("", [], [], []))


def keep(patch, module, name, which):
    """The function of a module of the report is called once for each value of `which`."""
    module, known = import_module(f"hitcurve.report.{module}"), {}
    real = getattr(module, name)

    def call(first, *others, **options):
        key = which(first)
        if key not in known:
            known[key] = first, real(first, *others, **options)  # an argument that is kept is no other's id
        made = known[key][1]
        return [*made] if isinstance(made, list) else made

    patch.setattr(module, name, call)
