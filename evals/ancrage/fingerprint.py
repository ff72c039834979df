"""Versions made of behaviour: they change when a verdict could, and at no other time.

A version is a hash over the syntax trees, without comments and docstrings, of the definitions
that a piece of code can reach inside this package, and of the data files those name. Reach is
found as in rapid type analysis (Bacon & Sweeney, OOPSLA 1996): a name leads to its definition,
through imports; of a class that is reached count its fields, its special methods and those
methods whose name occurs as an attribute in code that is reached.
"""

import ast
import hashlib
import inspect
import json
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent
_ROOT = __name__.split(".", 1)[0]
_DIGITS = 12
_DATA = (".toml", ".json", ".txt", ".npz", ".csv", ".j2")

Root = str | Callable[..., object]


@cache
def code_version(*roots: Root) -> str:
    """12 hexadecimal digits over all that ``roots`` depend on.

    A root is a function or class, ``package.module:name``, or ``package.module`` for all that
    the module defines. Code outside this package counts with its own module's definitions.
    """
    reach = _Reach()
    for root in roots:
        reach.add_root(root)
    return reach.digest()


def content_version(*parts: object) -> str:
    """12 hexadecimal digits over values that JSON can hold: configuration, prompts, versions."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


_Imports = dict[str, tuple[str, str | None]]
_Method = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class _Module:
    """The top-level definitions of a module, and where its imported names come from."""

    name: str
    path: Path | None
    definitions: dict[str, tuple[ast.stmt, ...]]
    """By name: the statements that bind it, in order."""
    imported: _Imports
    """By local name: the module, and the name in it; None for the module itself."""


@dataclass
class _Reach:
    """The definitions reached so far, and the attributes that their code mentions."""

    reached: dict[tuple[str, str], str] = field(default_factory=dict)
    """By module and name (``Class.method`` for members): the syntax tree as text."""
    files: dict[str, str] = field(default_factory=dict)
    attributes: set[str] = field(default_factory=set)
    _waiting: dict[tuple[str, str], list[_Method]] = field(default_factory=dict)
    """Of each class reached: its members whose name was not mentioned yet."""
    _own: dict[str, _Module] = field(default_factory=dict)
    """Modules known by their objects alone, such as those of a notebook."""

    def add_root(self, root: Root) -> None:
        if isinstance(root, str):
            module, _, name = root.partition(":")
            found = self._module(module)
            if found is None:
                raise ValueError(f"no module {module!r}")
            for defined in [name] if name else list(found.definitions):
                self._add(module, defined)
        else:
            self._add_object(root)
        self._settle()

    def digest(self) -> str:
        return content_version(sorted(self.reached.items()), sorted(self.files.items()))

    def _add_object(self, root: Callable[..., object]) -> None:
        name = root.__module__
        found = self._module(name)
        qualified = root.__qualname__.split(".")[0]
        if found is not None and qualified in found.definitions:
            self._add(name, qualified)
            return
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(root)))
        except (OSError, TypeError, SyntaxError):  # typed at a prompt: its bytecode is all there is
            code = root.__code__
            self.reached[name, root.__qualname__] = f"{code.co_code!r}{code.co_consts!r}"
            return
        self._own[name] = _read(name, None, ast.parse(""), vars(sys.modules[name]))
        self._visit(self._own[name], root.__qualname__, tree)

    def _add(self, module_name: str, name: str) -> None:
        module = self._module(module_name)
        if module is None or (module_name, name) in self.reached:
            return
        if name not in module.definitions:
            self._follow(module, name)
            return
        self.reached[module_name, name] = ""
        for statement in module.definitions[name]:
            if isinstance(statement, ast.ClassDef):
                self._add_class(module, statement)
            else:
                self._visit(module, name, statement)

    def _add_class(self, module: _Module, statement: ast.ClassDef) -> None:
        shell, methods = _split(statement)
        self._waiting[module.name, statement.name] = methods
        self._visit(module, statement.name, shell)

    def _settle(self) -> None:
        """Take in members until no code that is reached mentions one that is not."""
        moved = True
        while moved:
            moved = False
            for (module_name, owner), members in list(self._waiting.items()):
                wanted = [member for member in members if self._used(member)]
                module = self._module(module_name)
                if not wanted or module is None:
                    continue
                moved = True
                self._waiting[module_name, owner] = [m for m in members if m not in wanted]
                for member in wanted:
                    self._visit(module, f"{owner}.{member.name}", member)

    def _used(self, member: _Method) -> bool:
        runs_by_itself = any("validator" in ast.dump(mark) for mark in member.decorator_list)
        return member.name in self.attributes or runs_by_itself

    def _visit(self, module: _Module, name: str, tree: ast.AST) -> None:
        facts = _facts(tree, module.name, module.path)
        key = module.name, name
        self.reached[key] = self.reached.get(key, "") + facts.text
        self.attributes |= facts.attributes
        for owner, attribute in facts.dotted:
            imported = facts.imports.get(owner) or module.imported.get(owner)
            if imported and imported[1] is None:
                self._add(imported[0], attribute)
        for used in facts.names:
            self._name(module, facts.imports, used)
        for text in facts.strings:
            self._text(module, facts.imports, text)

    def _name(self, module: _Module, local: _Imports, name: str) -> None:
        if name in local:
            source, attribute = local[name]
            if attribute is not None:
                self._add(source, attribute)
        else:
            self._add(module.name, name)

    def _text(self, module: _Module, local: _Imports, text: str) -> None:
        """A string may name a data file beside the module, or hold an annotation."""
        if text.endswith(_DATA) and module.path and len(text) < 100:
            file = module.path.parent / text
            if file.is_file():
                content = hashlib.sha256(file.read_bytes()).hexdigest()
                self.files[f"{module.name}/{text}"] = content
        elif text.replace("|", "").replace(" ", "").replace("_", "").isalnum():
            for word in text.replace("|", " ").split():
                if word[0].isupper():
                    self._name(module, local, word)

    def _follow(self, module: _Module, name: str) -> None:
        imported = module.imported.get(name)
        if imported and imported[1] is not None:
            self._add(imported[0], imported[1])

    def _module(self, name: str) -> _Module | None:
        if name in self._own:
            return self._own[name]
        return _module(name)


@dataclass(frozen=True)
class _Facts:
    """What a definition is and mentions."""

    text: str
    names: frozenset[str]
    attributes: frozenset[str]
    dotted: frozenset[tuple[str, str]]
    strings: frozenset[str]
    imports: _Imports


@cache
def _facts(tree: ast.AST, module: str, path: Path | None) -> _Facts:
    tree = _without_docstrings(tree)
    nodes = list(ast.walk(tree))
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    return _Facts(
        text=ast.dump(tree),
        names=frozenset(node.id for node in nodes if isinstance(node, ast.Name)),
        attributes=frozenset(node.attr for node in attributes),
        dotted=frozenset(
            (node.value.id, node.attr) for node in attributes if isinstance(node.value, ast.Name)
        ),
        strings=frozenset(
            node.value
            for node in nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ),
        imports=dict(_imports(tree, module, path)),
    )


@cache
def _split(statement: ast.ClassDef) -> tuple[ast.ClassDef, list[_Method]]:
    """A class without its plain methods, and those."""
    methods = [
        member
        for member in statement.body
        if isinstance(member, _Method) and not member.name.startswith("__")
    ]
    shell = ast.ClassDef(
        name=statement.name,
        bases=statement.bases,
        keywords=statement.keywords,
        body=[member for member in statement.body if member not in methods],
        decorator_list=statement.decorator_list,
    )
    return shell, methods


@cache
def _module(name: str) -> _Module | None:
    """A module of this package, or one of a user's that is imported; None for any other."""
    if name.split(".")[0] == _ROOT:
        base = _PACKAGE.joinpath(*name.split(".")[1:])
        path = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    else:
        loaded = sys.modules.get(name)
        file = getattr(loaded, "__file__", None)
        if not file or not file.endswith(".py") or "site-packages" in file or _standard(name):
            return None
        path = Path(file)
    if not path.is_file():
        return None
    return _read(name, path, ast.parse(path.read_bytes()), {})


def _standard(name: str) -> bool:
    return name.split(".")[0] in sys.stdlib_module_names


def _read(name: str, path: Path | None, tree: ast.Module, names: dict[str, object]) -> _Module:
    definitions: dict[str, list[ast.stmt]] = {}
    for statement in _statements(tree.body):
        for bound in _bound(statement):
            definitions.setdefault(bound, []).append(statement)
    module = _Module(name, path, {key: tuple(value) for key, value in definitions.items()}, {})
    module.imported.update(_imports(tree, name, path))
    for key, value in names.items():  # a notebook's names, by their objects
        source, attribute = getattr(value, "__module__", None), getattr(value, "__name__", None)
        if isinstance(source, str) and source != name and isinstance(attribute, str):
            module.imported[key] = source, attribute
    return module


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Top-level statements, those under ``if`` and ``try`` included."""
    for statement in body:
        if isinstance(statement, ast.If | ast.Try):
            for part in ("body", "orelse", "finalbody"):
                yield from _statements(getattr(statement, part, []))
            for handler in getattr(statement, "handlers", []):
                yield from _statements(handler.body)
        else:
            yield statement


def _bound(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Assign):
        targets: list[ast.expr] = statement.targets
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
        targets = [statement.target]
    else:
        return []
    return [
        node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)
    ]


def _imports(
    tree: ast.AST, module: str, path: Path | None
) -> Iterator[tuple[str, tuple[str, str | None]]]:
    """Local names that ``tree`` imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name, (alias.name, None)
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if node.level:
                parts = module.split(".")
                package = bool(path and path.name == "__init__.py")
                base = parts[: len(parts) - node.level + package]
                source = ".".join([*base, source] if source else base)
            for alias in node.names:
                submodule = _is_submodule(source, alias.name)
                target = (f"{source}.{alias.name}", None) if submodule else (source, alias.name)
                yield alias.asname or alias.name, target


@cache
def _is_submodule(package: str, name: str) -> bool:
    """Whether ``from package import name`` gives a module; a name that the package binds wins."""
    if package.split(".")[0] != _ROOT:
        return False
    base = _PACKAGE.joinpath(*package.split(".")[1:])
    if not (base / name).is_dir() and not (base / f"{name}.py").is_file():
        return False
    tree = ast.parse((base / "__init__.py").read_bytes())
    aliases = (
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module != package
        for alias in node.names
    )
    return name not in {*aliases, *(bound for node in tree.body for bound in _bound(node))}


def _without_docstrings(tree: ast.AST) -> ast.AST:
    """``tree`` without strings that stand as statements, types of arguments kept."""

    class Strip(ast.NodeTransformer):
        def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
            if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
                return None
            return self.generic_visit(node)

    return Strip().visit(ast.fix_missing_locations(tree))  # type: ignore[no-any-return]
