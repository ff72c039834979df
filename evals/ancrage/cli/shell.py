"""What every command shares: how it is declared, the types of its options, how it ends.

A command is a plain function. ``ancrage`` reads its signature through click, ``invoke`` through
Invoke; the values and the ending are the same.
"""

import inspect
import math
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import click

from ancrage.cli.shield import perform
from ancrage.errors import ExitCode

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from invoke.tasks import Task


class _Range(click.ParamType[float]):
    """A number of one kind, within bounds."""

    def __init__(
        self, kind: type[int] | type[float], low: float | None = None, high: float | None = None
    ) -> None:
        self.kind, self.low, self.high = kind, low, high
        self.name = "N" if kind is int else "X"

    @property
    def words(self) -> str:
        """What to give, such as ``a whole number from 0 to 65535``."""
        noun = "a whole number" if self.kind is int else "a number"
        if self.low is None:
            return noun
        at_least = f"{noun} of at least {self.low}"
        return at_least if self.high is None else f"{noun} from {self.low} to {self.high}"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            number = self.kind(value)
        except (ValueError, OverflowError):
            number = math.nan
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        if not (math.isfinite(number) and low <= number <= high):
            self.fail(f"{value}: give {self.words}", param, ctx)
        return number


Count = Annotated[int, _Range(int, 1)]
"""A whole number of at least 1, such as how many things happen at once."""
Size = Annotated[int, _Range(int, 0)]
"""A whole number of at least 0, such as a budget of tokens."""
Port = Annotated[int, _Range(int, 0, 65535)]
Amount = Annotated[float, _Range(float, 0)]
"""A number of at least 0, such as a budget of money."""
Share = Annotated[float, _Range(float, 0, 1)]
"""A fraction, from 0 to 1."""

MOST_CHOICES = 4
"""Choices that are shown in the place of the value."""


@dataclass(frozen=True)
class Command:
    """A command: its function, its words, and the parameters that its signature declares."""

    function: Callable[..., ExitCode | None]
    help: dict[str, str]
    positional: frozenset[str]
    example: str
    parameters: tuple[click.Parameter, ...] = field(init=False)

    def __post_init__(self) -> None:
        declared = []
        for given, group in _parameters(self.function):
            for option in _options(given, group) if group else (given,):
                kind = _Kind.of(option, self.function)
                if kind.words:
                    self.help.setdefault(_typed(option.name), kind.words)
                declared.append(self._parameter(option, kind))
        object.__setattr__(self, "parameters", tuple(declared))

    @property
    def name(self) -> str:
        """As it is typed."""
        return _typed(self.function.__name__)

    @property
    def words(self) -> str:
        """The whole docstring."""
        return inspect.getdoc(self.function) or ""

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return self.words.partition("\n")[0]

    def _parameter(self, given: inspect.Parameter, kind: "_Kind") -> click.Parameter:
        name, variadic = given.name, given.kind is inspect.Parameter.VAR_POSITIONAL
        required = given.default is inspect.Parameter.empty and not variadic
        if required or variadic or name in self.positional:
            nargs = -1 if variadic else 1
            return click.Argument([name], type=kind.type, required=required, nargs=nargs)
        typed = _typed(name)
        words = self.help.get(typed, "")
        if kind.type is click.BOOL:
            return click.Option([name, f"--{typed}"], is_flag=True, help=words)
        shown = bool(given.default) and "default:" not in words
        metavar = None
        if isinstance(kind.type, click.Choice) and len(kind.type.choices) > MOST_CHOICES:
            # They would not fit on a narrow terminal in one word.
            metavar, words = "NAME", f"{words} One of: {', '.join(kind.type.choices)}."
        return click.Option(
            [name, f"--{typed}"],
            type=kind.type,
            multiple=kind.many,
            default=None if kind.many else given.default,
            show_default=shown,
            metavar=metavar,
            help=words,
        )

    def run(self, values: dict[str, Any]) -> int:
        """Call the function and say in one line what went wrong, if anything did.

        Returns:
            The exit status.
        """
        before: list[Any] = []
        rest: tuple[str, ...] = ()
        options: dict[str, Any] = {}
        for given, group in _parameters(self.function):
            if group:
                typed = {option.name: values.get(option.name) for option in fields(group)}
                chosen = {name: value for name, value in typed.items() if value not in (None, ())}
                options[given.name] = replace(given.default, **chosen)
            elif given.kind is inspect.Parameter.VAR_POSITIONAL:
                rest = tuple(values.get(given.name) or ())
                before, options = [*options.values()], {}
            elif values.get(given.name) is not None:
                options[given.name] = values[given.name]
        return perform(self.name, lambda: self.function(*before, *rest, **options))

    def task(self) -> "Task[Any]":
        """The command as an Invoke task; there, optional positionals are options."""
        from invoke.exceptions import Exit
        from invoke.tasks import Task

        from ancrage.program import under_invoke

        def body(_: object, **typed: Any) -> None:
            under_invoke(self.name)
            try:
                values = {
                    str(parameter.name): self._converted(parameter, typed)
                    for parameter in self.parameters
                }
            except click.BadParameter as error:
                raise Exit(f"{self.name}: {explain(error)}", code=ExitCode.WRONG_USE) from None
            if code := self.run(values):
                raise Exit(code=code)

        keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [inspect.Parameter("_", keyword)]
        for parameter in self.parameters:
            flag = isinstance(parameter, click.Option) and parameter.is_flag
            default: Any = [] if _many(parameter) else False if flag else None
            if parameter.required:
                default = inspect.Parameter.empty
            parameters.append(inspect.Parameter(str(parameter.name), keyword, default=default))
        body.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        body.__doc__ = self.words
        return Task(
            body,
            name=self.name,
            help=self.help,
            iterable=[str(given.name) for given in self.parameters if _many(given)],
            auto_shortflags=False,
        )

    @staticmethod
    def _converted(parameter: click.Parameter, typed: dict[str, Any]) -> Any:
        value = typed.get(str(parameter.name))
        if value is None or value == []:
            return None
        try:
            if isinstance(value, list):
                return [parameter.type.convert(item, parameter, None) for item in value]
            return parameter.type.convert(value, parameter, None)
        except click.BadParameter as error:
            error.param = parameter
            raise


def command(
    *,
    help: dict[str, str],
    positional: Iterable[str] = (),
    example: str = "",
) -> Callable[[Callable[..., ExitCode | None]], Command]:
    """Declare a command.

    Parameters without a default are positional and required, ``*names`` take any number, and
    those named in ``positional`` are positional and may be left out; the others are options. The
    annotation gives an option's type: ``str``, ``int``, ``float``, ``bool``, ``Literal[…]``,
    ``list[str]`` (can be repeated), or ``Annotated`` with a click type, such as ``Count``.
    A parameter that is a dataclass stands for its fields, which are options that several commands
    share; their help is in their ``Annotated`` types, their defaults in the parameter's own.
    ``help`` has a line for every other parameter, ``example`` a command line without the
    program's name (default: the name and what is required).
    The function may return an ``ExitCode``; anything but ``OK`` ends the process with it.
    """

    def declare(function: Callable[..., ExitCode | None]) -> Command:
        needed = [
            given.name.upper()
            for given, _ in _parameters(function)
            if given.default is inspect.Parameter.empty
            and given.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        ]
        words = example or " ".join([_typed(function.__name__), *needed])
        return Command(function, help, frozenset(positional), words)

    return declare


def explain(error: click.ClickException) -> str:
    """What was wrong with what was typed: ``--port 99999: give a whole number from 0 to 65535``."""
    given = error.param if isinstance(error, click.BadParameter) else None
    if given is None or isinstance(error, click.MissingParameter):
        return error.format_message().rstrip(".")
    name = given.opts[0] if isinstance(given, click.Option) else (given.name or "").upper()
    return f"{name} {error.message}".rstrip(".")


def _typed(name: str) -> str:
    return name.strip("_").replace("_", "-")


def _many(parameter: click.Parameter) -> bool:
    return parameter.multiple or parameter.nargs == -1


def _parameters(
    function: Callable[..., Any],
) -> "Iterator[tuple[inspect.Parameter, type[DataclassInstance] | None]]":
    """What a function takes; with each parameter that is a dataclass, that class."""
    for given in inspect.signature(function).parameters.values():
        group = type(given.default)
        yield given, group if is_dataclass(group) else None


def _options(
    given: inspect.Parameter, group: "type[DataclassInstance]"
) -> Iterator[inspect.Parameter]:
    """The fields of a dataclass as parameters, with the defaults that this command gives them."""
    hints = get_type_hints(group, include_extras=True)
    for option in fields(group):
        default = getattr(given.default, option.name)
        keyword = inspect.Parameter.KEYWORD_ONLY
        yield inspect.Parameter(
            option.name, keyword, default=default, annotation=hints[option.name]
        )


class _Kind(NamedTuple):
    """What an annotation says of an option: its click type, whether it is a list, its help."""

    type: click.ParamType[Any]
    many: bool = False
    words: str = ""

    @classmethod
    def of(cls, given: inspect.Parameter, function: Callable[..., Any]) -> "_Kind":
        annotation, words = given.annotation, ""
        if isinstance(annotation, str):
            annotation = eval(annotation, function.__globals__)  # noqa: S307  our own signature
        many = False
        kind: click.ParamType[Any] | None = None
        while get_origin(annotation) in (Annotated, Union, types.UnionType, list):
            first, *rest = get_args(annotation)
            if get_origin(annotation) is Annotated:
                words = next((said for said in rest if isinstance(said, str)), words)
                kind = next((said for said in rest if isinstance(said, click.ParamType)), kind)
            many = many or get_origin(annotation) is list
            annotation = first
        if get_origin(annotation) is Literal:
            kind = click.Choice(get_args(annotation))
        plain: dict[object, click.ParamType[Any]] = {
            bool: click.BOOL, int: _Range(int), float: _Range(float)
        }  # fmt: skip
        return cls(kind or plain.get(annotation, click.STRING), many, words)
