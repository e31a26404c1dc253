"""Does the prompt hold what the hidden text needs? On five real source trees, without a model, beside two baselines.

`lsp_complete/evaluation/retrieval.py` says what is counted, `trees.py` which trees these are and how they were chosen.
A development tree can be named with `--trees`; what is reported comes from the five alone.
"""

import argparse
import json
import sys
from contextlib import closing

from lsp_complete.config.paths import index_folder, tree_folder
from lsp_complete.context.index import Index
from lsp_complete.context.policy import Policy
from lsp_complete.evaluation.report import HEAD, Report, as_json, lines
from lsp_complete.evaluation.retrieval import evaluate
from lsp_complete.evaluation.trees import DEVELOPMENT, TREES, Tree, TreeError, fetched

# Better than the better baseline by so much, in each tree.
GOAL_FACTOR = 1.5


def run(arguments: list[str]) -> None:
    options = _options(arguments)
    print(HEAD)
    reports: dict[str, Report] = {}
    for tree in (tree for tree in (*TREES, *DEVELOPMENT) if tree.name in options.trees):
        try:
            reports[tree.name] = _measure(tree, options.num, options.seed)
        except TreeError as error:
            print(error, file=sys.stderr)
            continue
        print(*lines(tree.name, reports[tree.name]), sep="\n", flush=True)
    if options.json:
        print(json.dumps(as_json(reports)))
    is_complete = len(reports) == len(options.trees)
    sys.exit(0 if is_complete and all(report.factor() >= GOAL_FACTOR for report in reports.values()) else 1)


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench retrieval", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON line last")
    parser.add_argument("--num", type=int, default=100, help="holes of each kind in a tree")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--trees", nargs="*", default=[tree.name for tree in TREES])
    return parser.parse_args(arguments)


def _measure(tree: Tree, num: int, seed: int) -> Report:
    root = fetched(tree, tree_folder(), lambda line: print(line, file=sys.stderr))
    with closing(Index.open(root, index_folder(), Policy([root]))) as index:
        index.build()
        return evaluate(index, num, seed)
