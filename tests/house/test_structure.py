"""No package and no module depends on itself by way of others, lazy imports counted."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import ancrage

ROOT = Path(ancrage.__file__).parent
Graph = dict[str, set[str]]


def modules() -> dict[str, ast.Module]:
    """The syntax tree of every module by its dotted name."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = ("ancrage", *path.relative_to(ROOT).with_suffix("").parts)
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_bytes())
    return found


def imported(tree: ast.Module, known: set[str]) -> Iterator[str]:
    """The modules of ours that a module imports anywhere in it, but for type checkers alone."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting.extend(node.orelse)
            continue
        waiting.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in known else node.module


def module_graph() -> Graph:
    trees = modules()
    return {name: set(imported(tree, set(trees))) - {name} for name, tree in trees.items()}


def package_of(module: str) -> str:
    return ".".join(module.split(".")[:2])


def package_graph() -> Graph:
    graph: Graph = {}
    for name, targets in module_graph().items():
        own = package_of(name)
        graph.setdefault(own, set()).update(map(package_of, targets))
        graph[own].discard(own)
    return graph


def cycle(graph: Graph) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = module_graph()
    assert len(graph) > 150
    assert "ancrage.cli.reporting" in graph
    assert cycle(graph) == []


def test_no_package_imports_itself_by_way_of_others() -> None:
    graph = package_graph()
    assert {"ancrage.runs", "ancrage.report"} <= graph["ancrage.cli"], "lazy imports count"
    assert cycle(graph) == []


@pytest.mark.parametrize("part", ["replay", "calibration", "judges", "compare", "cli", "langfuse"])
def test_the_report_knows_nothing_of_who_adds_to_it(part: str) -> None:
    assert f"ancrage.{part}" not in package_graph()["ancrage.report"]


def test_a_cycle_would_be_found() -> None:
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}})
