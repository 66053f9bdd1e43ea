"""The nDCG that LightGBM, XGBoost and CatBoost print, against hitcurve's of the scores they predict. See ci/rankers."""

import sys
from collections.abc import Iterator
from typing import Any

import catboost
import lightgbm
import numpy as np
import xgboost

import hitcurve as hc

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
    print(f"{wrong} numbers differ")
    return int(wrong > 0)  # an int: sys.exit takes a number of numpy for an error


if __name__ == "__main__":
    sys.exit(main())
