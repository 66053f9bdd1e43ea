"""Pictures that are drawn once or not at all: for tests of files and of the words of pages, not of lines."""

import io
from importlib import import_module


def pictures(patch):
    """Each kind of picture of the commands is drawn once, from the data of the first call.

    Pages are put together anew, and files are opened, written and replaced as ever.
    """
    for module, name in ("page", "figures"), ("leaderboard_page", "figures"), ("plot_queries", "runs_figure"):
        keep(patch, module, name, lambda *_: 0)
    keep(patch, "frame", "pictures", id)
    saved(patch)


def saved(patch):
    """In each format one picture is drawn: its bytes are those of all others."""
    from matplotlib.figure import Figure

    real, known = Figure.savefig, {}

    def savefig(figure, out, **options):
        if not isinstance(out, io.BytesIO):  # a page's
            real(figure, out, **options)
            return
        form = options["format"]
        if form in known:
            out.write(known[form])
        else:
            real(figure, out, **options)
            known[form] = out.getvalue()

    patch.setattr(Figure, "savefig", savefig)


def no_layout(patch):
    """Pictures are drawn without a layout, which takes half of their time: for tests that do not look at places."""
    try:
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError:
        return
    patch.setattr(ConstrainedLayoutEngine, "execute", lambda self, whole: None)


def words_alone(patch, called=lambda _: None, first=0):
    """Pages have the captions of their pictures, of which the `first` are drawn. `called` is given each figure."""
    from hitcurve.report import frame

    real = frame.pictures

    def pictures(figure, number):
        called(figure)
        return real(figure, number) if number < first else ("", [], [], [])

    patch.setattr(frame, "pictures", pictures)


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
