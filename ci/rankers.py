"""What LightGBM, XGBoost and CatBoost print, against hitcurve's numbers of the scores they predict. See ci/rankers."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import catboost
import lightgbm
import numpy as np
import xgboost

import hitcurve as hc

DOCS = Path(__file__).resolve().parents[1] / "docs"
sys.path.insert(0, str(DOCS))
import run  # noqa: E402

CUTOFFS = (1, 3, 5, 10)
LABEL_GAIN = [0.0, 1.0, 2.0, 5.0, 20.0]
Row = tuple[str, float, dict[str, Any]]  # of a printed number: what it is, its value, and how hitcurve is asked for it


class Queries:
    """Queries of 1 to 59 items with levels 0 to 4, some of them 0 alone; the features are whole, so scores tie."""

    def __init__(self, number: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.sizes = rng.integers(1, 60, number)
        self.offsets = np.cumsum([0, *self.sizes])
        self.qid = np.repeat(np.arange(number), self.sizes)
        self.features = np.round(rng.normal(size=(len(self.qid), 5)))
        self.levels = np.clip(np.round(self.features[:, 0] + rng.normal(size=len(self.qid))), 0, 4).astype(int)


def with_lightgbm(train: Queries, valid: Queries) -> Iterator[tuple[np.ndarray, list[Row]]]:
    options = {"objective": "lambdarank", "metric": "ndcg", "eval_at": CUTOFFS, "num_leaves": 4, "learning_rate": 0.05,
               "num_threads": 1, "verbose": -1}
    for more, asked in ({}, {}), ({"label_gain": LABEL_GAIN}, {"gain": LABEL_GAIN}):
        data = lightgbm.Dataset(train.features, train.levels, group=train.sizes)
        seen = lightgbm.Dataset(valid.features, valid.levels, group=valid.sizes, reference=data)
        found: dict[str, Any] = {}
        record = lightgbm.record_evaluation(found)
        model = lightgbm.train(options | more, data, 10, valid_sets=[seen], callbacks=[record])
        title = f"LightGBM {lightgbm.__version__}{' '.join(['', *more])}"
        rows = [(f"{title} ndcg@{k}", found["valid_0"][f"ndcg@{k}"][-1], {"k": k} | asked) for k in CUTOFFS]
        yield model.predict(valid.features), rows


def with_xgboost(train: Queries, valid: Queries) -> Iterator[tuple[np.ndarray, list[Row]]]:
    data, seen = (xgboost.DMatrix(part.features, part.levels, qid=part.qid) for part in (train, valid))
    metrics: dict[str, dict[str, Any]] = {f"ndcg@{k}": {"k": k} for k in CUTOFFS}
    metrics |= {"ndcg@5-": {"k": 5, "empty": "zero"}, "ndcg": {"k": 32}}
    options = {"objective": "rank:ndcg", "eval_metric": list(metrics), "max_depth": 2, "eta": 0.05, "nthread": 1}
    for more, asked in ({}, {}), ({"ndcg_exp_gain": False}, {"gain": "linear"}):
        found: dict[str, Any] = {}
        model = xgboost.train(options | more, data, 10, evals=[(seen, "valid")], evals_result=found, verbose_eval=False)
        title = f"XGBoost {xgboost.__version__}{' '.join(['', *more])}"
        rows = [(f"{title} {name}", found["valid"][name][-1], how | asked) for name, how in metrics.items()]
        yield model.predict(seen), rows


def with_catboost(train: Queries, valid: Queries) -> Iterator[tuple[np.ndarray, list[Row]]]:
    data, seen = (catboost.Pool(part.features, part.levels, group_id=part.qid) for part in (train, valid))
    by_rank = 1 / np.arange(1, valid.sizes.max() + 1)
    metrics: dict[str, dict[str, Any]] = {"NDCG:type=Base": {}, "NDCG:type=Exp": {"gain": "exponential"}}
    for k in CUTOFFS:
        metrics[f"NDCG:top={k};type=Base"] = {"k": k}
        metrics[f"NDCG:top={k};type=Exp"] = {"k": k, "gain": "exponential"}
        metrics[f"NDCG:top={k};type=Base;denominator=Position"] = {"k": k, "discount": by_rank}
        metrics[f"NDCG:top={k};type=Exp;denominator=Position"] = {"k": k, "gain": "exponential", "discount": by_rank}
    model = catboost.CatBoost({"loss_function": "QueryRMSE", "iterations": 10, "depth": 2, "learning_rate": 0.05,
                               "thread_count": 1, "verbose": False, "allow_writing_files": False})  # fmt: skip
    model.fit(data)
    found = model.eval_metrics(seen, list(metrics), ntree_start=0, ntree_end=10, eval_period=10)
    rows = [(f"CatBoost {catboost.__version__} {name}", found[name][-1], how) for name, how in metrics.items()]
    yield model.predict(seen), rows


def metrics_of_the_page(train: Queries, valid: Queries) -> Iterator[tuple[str, float, float, float]]:
    """What is printed with the metrics that docs/learning-to-rank.md defines, hitcurve's number, and the tolerance."""
    text, names = (DOCS / "learning-to-rank.md").read_text(encoding="utf-8"), {}
    if failed := run.failures("learning-to-rank.md", text.partition("## torch\n")[0], names=names):
        raise SystemExit("\n".join(failed))
    asked = {"offsets": valid.offsets, "k": 3, "gain": "exponential"}

    data = lightgbm.Dataset(train.features, train.levels, group=train.sizes)
    seen = lightgbm.Dataset(valid.features, valid.levels, group=valid.sizes, reference=data)
    found: dict[str, Any] = {}
    ours = {"objective": "lambdarank", "metric": "None", "num_leaves": 4, "num_threads": 1, "verbose": -1}
    model = lightgbm.train(ours, data, 10, valid_sets=[seen], feval=names["ndcg_at_3"],
                           callbacks=[lightgbm.record_evaluation(found)])  # fmt: skip
    [(name, values)] = found["valid_0"].items()
    yield f"LightGBM {name}", values[-1], hc.mean_ndcg(valid.levels, model.predict(valid.features), **asked), 1e-12

    of_train, of_valid = (xgboost.DMatrix(part.features, part.levels, qid=part.qid) for part in (train, valid))
    found = {}
    options = {"objective": "rank:ndcg", "disable_default_eval_metric": True, "max_depth": 2, "nthread": 1}
    booster = xgboost.train(options, of_train, 10, evals=[(of_valid, "valid")], custom_metric=names["fair_ndcg"],
                            evals_result=found, verbose_eval=False)  # fmt: skip
    [(name, values)] = found["valid"].items()
    # XGBoost keeps six decimals of a metric that is not its own.
    yield f"XGBoost {name}", values[-1], hc.mean_ndcg(valid.levels, booster.predict(of_valid), **asked), 5.1e-7


def rows_of_page(tool: str) -> Iterator[tuple[list[str], list[str]]]:
    """Of a tool's rows of the table in docs/presets.md: the names of its metrics, and the calls."""
    for line in (DOCS / "presets.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| **") and f"**{tool}**" in (first := line.split("|")[1]):
            yield first.split("`")[1::2], line.split("|")[2].split("`")[1::2]


def printed_by_lightgbm(train: Queries, valid: Queries) -> Iterator[tuple[Any, dict[str, float]]]:
    """The scores of each model and the metrics that are printed for them, by name. As below, of levels 0 and 1."""
    data = lightgbm.Dataset(train.features, train.levels >= 2, group=train.sizes)
    seen = lightgbm.Dataset(valid.features, valid.levels >= 2, group=valid.sizes, reference=data)
    found: dict[str, Any] = {}
    options = {"objective": "lambdarank", "metric": ["ndcg", "map", "auc", "average_precision"], "eval_at": [10],
               "num_leaves": 4, "num_threads": 1, "verbose": -1}  # fmt: skip
    model = lightgbm.train(options, data, 10, valid_sets=[seen], callbacks=[lightgbm.record_evaluation(found)])
    yield model.predict(valid.features), {name: values[-1] for name, values in found["valid_0"].items()}


def printed_by_xgboost(train: Queries, valid: Queries) -> Iterator[tuple[Any, dict[str, float]]]:
    for groups in True, False:
        data, seen = (xgboost.DMatrix(part.features, part.levels >= 2, **({"qid": part.qid} if groups else {}))
                      for part in (train, valid))  # fmt: skip
        metrics = ["ndcg@10", "map@10", "map@10-", "pre@10"] if groups else ["auc", "aucpr"]
        options = {"objective": "rank:map" if groups else "binary:logistic", "eval_metric": metrics, "max_depth": 2,
                   "nthread": 1}  # fmt: skip
        found: dict[str, Any] = {}
        model = xgboost.train(options, data, 10, evals=[(seen, "valid")], evals_result=found, verbose_eval=False)
        yield model.predict(seen), {name: values[-1] for name, values in found["valid"].items()}


def printed_by_catboost(train: Queries, valid: Queries) -> Iterator[tuple[Any, dict[str, float]]]:
    of_groups = ["NDCG:top=10", "NDCG:top=10;type=Exp", "DCG:top=10;type=Base", "MAP:top=10", "MRR:top=10",
                 "RecallAt:top=10", "PrecisionAt:top=10", "QueryAUC"]  # fmt: skip
    for metrics in of_groups, ["PRAUC"]:
        groups = metrics is of_groups
        data, seen = (catboost.Pool(part.features, (part.levels >= 2) * 1, group_id=part.qid if groups else None)
                      for part in (train, valid))  # fmt: skip
        model = catboost.CatBoost({"loss_function": "QueryRMSE" if groups else "Logloss", "iterations": 10, "depth": 2,
                                   "thread_count": 1, "verbose": False, "allow_writing_files": False})  # fmt: skip
        model.fit(data)
        found = {}
        for name in metrics:
            [values] = model.eval_metrics(seen, [name], ntree_start=9, ntree_end=10).values()
            found[name] = values[-1]
        yield model.predict(seen), found


PRINTED = {"LightGBM": printed_by_lightgbm, "XGBoost": printed_by_xgboost, "CatBoost": printed_by_catboost}


def calls_of_presets(train: Queries, valid: Queries) -> Iterator[tuple[str, float, float, float]]:
    """As above, of the rankers' rows of the table in docs/presets.md, whose calls are taken from there."""
    y = (valid.levels >= 2).astype(int)
    for tool, printed in PRINTED.items():
        rows, seen = list(rows_of_page(tool)), set()
        for scores, found in printed(train, valid):
            given = {"hc": hc, "np": np, "y": y, "s": scores, "qid": valid.qid, "offsets": valid.offsets}
            for names, (ours, *more) in rows:
                options = ["", *more] if more else [""] * len(names)
                for name, option in zip(names, options, strict=True):
                    if name in found:
                        seen.add(name)
                        written = ours.removesuffix(")") + f", {option})" if option else ours
                        yield f"{tool} {name}: {written}", found[name], eval(written, given), 1e-12
        if missing := {name for names, _ in rows for name in names} - seen:
            raise SystemExit(f"docs/presets.md has {tool}'s {missing}, which are not compared")


def means_of_presets(train: Queries, valid: Queries) -> Iterator[tuple[str, float, float, float]]:
    """As above, of the presets themselves, and of what the page says beside them."""
    y = (valid.levels >= 2).astype(int)
    for tool, printed in PRINTED.items():
        for scores, found in printed(train, valid):
            curves = hc.HitCurves(y, scores, offsets=valid.offsets)
            gains = hc.GainCurves(y, scores, offsets=valid.offsets)
            for metric, preset, measure in (
                ("map@10", "map", ""), ("map@10-", "map-", ""), ("average_precision", "average_precision", ""),
                ("aucpr", "aucpr", ""), ("MAP:top=10", "map", ""), ("MRR:top=10", "mrr", "RR@10"),
                ("PRAUC", "prauc", ""), ("RecallAt:top=10", "recall", "R@10"),
                ("PrecisionAt:top=10", "precision", "P(norm=ranked)@10"),
                ("DCG:top=10;type=Base", "dcg", "DCG@10"),
            ):  # fmt: skip
                if metric not in found:
                    continue
                arguments = hc.PRESETS[f"{tool} {preset}"] | ({"measure": measure} if measure else {})
                if measure:
                    ours = (gains if preset == "dcg" else curves).mean(**arguments)
                elif "empty" in arguments:
                    ours = hc.mean_average_precision(y, scores, offsets=valid.offsets, k=10, **arguments)
                else:
                    ours = hc.average_precision(y, scores, **arguments)
                yield f"{tool} {metric}: preset {tool} {preset}", found[metric], ours, 1e-12


def main() -> int:
    train, valid = Queries(200, seed=1), Queries(300, seed=2)
    empty = int((np.maximum.reduceat(valid.levels, valid.offsets[:-1]) == 0).sum())
    print(f"{len(valid.sizes)} queries, {len(valid.levels)} items; {empty} queries have no relevant item")
    print(f"{'':58}{'printed':>10}{'hitcurve':>10}   {'worst':>8}{'expected':>10}{'best':>8}")
    wrong = 0
    for preset, models in (
        ("LightGBM", with_lightgbm(train, valid)), ("XGBoost", with_xgboost(train, valid)),
        ("CatBoost", with_catboost(train, valid)),
    ):  # fmt: skip
        fair = {name: value for name, value in hc.PRESETS[preset].items() if name not in ("tiebreak", "ties")}
        for scores, rows in models:
            for title, printed, how in rows:
                ranking = valid.levels, scores
                ours = hc.mean_ndcg(*ranking, offsets=valid.offsets, **(hc.PRESETS[preset] | how))
                ties = [hc.mean_ndcg(*ranking, offsets=valid.offsets, ties=reading, **(fair | how))
                        for reading in ("worst", "expected", "best")]
                differ = abs(printed - ours) > 1e-12
                wrong += differ
                print(f"{title:58}{printed:10.6f}{ours:10.6f}   {ties[0]:8.4f}{ties[1]:10.4f}{ties[2]:8.4f}"
                      f"{'  DIFFERENT' if differ else ''}")
    print("The examples of the pages")
    for show in metrics_of_the_page, calls_of_presets, means_of_presets:
        for title, printed, ours, tolerance in show(train, valid):
            differ = not abs(printed - ours) <= tolerance
            wrong += differ
            print(f"{title}\n{'':58}{printed:10.6f}{ours:10.6f}{'  DIFFERENT' if differ else ''}")
    print(f"{wrong} numbers differ")
    return int(wrong > 0)  # an int: sys.exit takes a number of numpy for an error


if __name__ == "__main__":
    sys.exit(main())
