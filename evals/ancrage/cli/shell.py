"""What every command shares: how it is declared, the types of its options, how it ends.

A command is a plain function. ``ancrage`` reads its signature through click, ``invoke`` through
Invoke; the values and the ending are the same.
"""

import inspect
import math
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

import click

from ancrage.cli.shield import perform
from ancrage.errors import ExitCode

if TYPE_CHECKING:
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

MODEL_OPTIONS = {
    "dry-run": "Say how many calls it would make, with an estimate of tokens and cost, and stop.",
    "budget-tokens": "Stop before this many tokens are spent; 0 spends none (default: no bound).",
    "budget-cost": "Stop before this much money is spent, by [prices]; 0 spends none "
    "(default: no bound).",
    "no-cache": "Call the model also where its answer to the very same call is on disk.",
    "concurrency": "Calls or answers under way at once.",
}
"""Help of the options that every command takes that can call a model."""


@dataclass(frozen=True)
class Command:
    """A command: its function, its words, and the parameters that its signature declares."""

    function: Callable[..., ExitCode | None]
    help: dict[str, str]
    positional: frozenset[str]
    example: str
    parameters: tuple[click.Parameter, ...] = field(init=False)

    def __post_init__(self) -> None:
        signature = inspect.signature(self.function, eval_str=False).parameters.values()
        declared = [self._parameter(each) for each in signature if not _context(each)]
        object.__setattr__(self, "parameters", tuple(declared))

    @property
    def name(self) -> str:
        """As it is typed."""
        return self.function.__name__.strip("_").replace("_", "-")

    @property
    def words(self) -> str:
        """The whole docstring."""
        return inspect.getdoc(self.function) or ""

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return self.words.partition("\n")[0]

    def _parameter(self, given: inspect.Parameter) -> click.Parameter:
        name, variadic = given.name, given.kind is inspect.Parameter.VAR_POSITIONAL
        kind, many = _type(given, self.function)
        required = given.default is inspect.Parameter.empty and not variadic
        if required or variadic or name in self.positional:
            return click.Argument([name], type=kind, required=required, nargs=-1 if variadic else 1)
        typed = name.rstrip("_").replace("_", "-")
        words = self.help.get(typed, "")
        if kind is click.BOOL:
            return click.Option([name, f"--{typed}"], is_flag=True, help=words)
        shown = bool(given.default) and "default:" not in words
        metavar = None
        if isinstance(kind, click.Choice) and len(kind.choices) > MOST_CHOICES:
            # They would not fit on a narrow terminal in one word.
            metavar, words = "NAME", f"{words} One of: {', '.join(kind.choices)}."
        return click.Option(
            [name, f"--{typed}"],
            type=kind,
            multiple=many,
            default=None if many else given.default,
            show_default=shown,
            metavar=metavar,
            help=words,
        )

    def run(self, values: dict[str, Any]) -> int:
        """Call the function and say in one line what went wrong, if anything did.

        Returns:
            The exit status.
        """
        rest: tuple[str, ...] = ()
        options: dict[str, Any] = {}
        signature = inspect.signature(self.function).parameters.values()
        for given in signature:
            if _context(given):
                options[given.name] = None
            elif given.kind is inspect.Parameter.VAR_POSITIONAL:
                rest = tuple(values.get(given.name) or ())
            elif values.get(given.name) is not None:
                options[given.name] = values[given.name]
        if not rest:
            return perform(self.name, lambda: self.function(**options))
        before = [
            options.pop(given.name)
            for given in signature
            if given.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD and given.name in options
        ]
        return perform(self.name, lambda: self.function(*before, *rest, **options))

    def task(self) -> "Task[Any]":
        """The command as an Invoke task; there, optional positionals are options."""
        from invoke.exceptions import Exit
        from invoke.tasks import Task

        from ancrage.program import under_invoke

        def body(_: object, **typed: Any) -> None:
            under_invoke(self.name)
            try:
                values = {each.name: self._converted(each, typed) for each in self.parameters}
            except click.BadParameter as error:
                raise Exit(f"{self.name}: {explain(error)}", code=ExitCode.WRONG_USE) from None
            if code := self.run({str(name): value for name, value in values.items()}):
                raise Exit(code=code)

        keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [inspect.Parameter("_", keyword)]
        for each in self.parameters:
            default: Any = (
                []
                if _many(each)
                else False
                if isinstance(each, click.Option) and each.is_flag
                else None
            )
            empty = inspect.Parameter.empty
            parameters.append(
                inspect.Parameter(
                    str(each.name), keyword, default=empty if each.required else default
                )
            )
        body.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        body.__doc__ = self.words
        return Task(
            body,
            name=self.name,
            help=self.help,
            iterable=[str(each.name) for each in self.parameters if _many(each)],
            auto_shortflags=False,
        )

    @staticmethod
    def _converted(parameter: click.Parameter, typed: dict[str, Any]) -> Any:
        value = typed.get(str(parameter.name))
        if value is None or value == []:
            return None
        try:
            if isinstance(value, list):
                return [parameter.type.convert(each, parameter, None) for each in value]
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
    ``help`` has a line for every parameter, ``example`` a command line without the
    program's name (default: the name and what is required).
    The function may return an ``ExitCode``; anything but ``OK`` ends the process with it.
    """

    def declare(function: Callable[..., ExitCode | None]) -> Command:
        needed = [each.upper() for each in _required(function)]
        name = function.__name__.replace("_", "-")
        words = example or " ".join([name, *needed])
        return Command(function, help, frozenset(positional), words)

    return declare


def explain(error: click.ClickException) -> str:
    """What was wrong with what was typed: ``--port 99999: give a whole number from 0 to 65535``."""
    given = error.param if isinstance(error, click.BadParameter) else None
    if given is None or isinstance(error, click.MissingParameter):
        return error.format_message().rstrip(".")
    name = given.opts[0] if isinstance(given, click.Option) else (given.name or "").upper()
    return f"{name} {error.message}".rstrip(".")


def _required(function: Callable[..., Any]) -> list[str]:
    return [
        given.name
        for given in inspect.signature(function).parameters.values()
        if given.default is inspect.Parameter.empty
        and given.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        and not _context(given)
    ]


def _context(parameter: inspect.Parameter) -> bool:
    return parameter.name in {"context", "_"}


def _many(parameter: click.Parameter) -> bool:
    return parameter.multiple or parameter.nargs == -1


def _type(
    given: inspect.Parameter, function: Callable[..., Any]
) -> tuple[click.ParamType[Any], bool]:
    """The click type of a parameter, and whether it is a list."""
    annotation = given.annotation
    if isinstance(annotation, str):
        annotation = eval(annotation, function.__globals__)  # noqa: S307  our own signature
    if get_origin(annotation) in (Union, types.UnionType):
        annotation = next(each for each in get_args(annotation) if each is not types.NoneType)
    many = get_origin(annotation) is list
    if many:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) is Annotated:
        return get_args(annotation)[1], many
    if get_origin(annotation) is Literal:
        return click.Choice(get_args(annotation)), many
    plain = {bool: click.BOOL, int: _Range(int), float: _Range(float)}
    return plain.get(annotation, click.STRING), many
