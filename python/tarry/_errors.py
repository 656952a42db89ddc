"""Exceptions: one class per status of the C library, all of them Error.

The texts are those of the program `tarry`."""
from __future__ import annotations

from typing import Dict, Type

from . import _tarry


class Error(Exception):
    """What went wrong, in one line that names the value at fault."""

    def __str__(self) -> str:  # a matrix shows itself in several
        return super().__str__().replace("\n", " ")


class NoMemory(Error, MemoryError):
    """There is not enough memory; nothing has changed."""


class BadArgument(Error, ValueError):
    """An argument cannot be used."""


class BadInput(Error, ValueError):
    """A file or a description cannot be understood."""


class InputOutputError(Error, OSError):
    """A file cannot be read or written."""


class NotFinite(Error, ValueError):
    """A number is nan or infinite."""


class TargetNotMet(Error, ArithmeticError):
    """A numerical target could not be met."""


class Cancelled(Error):
    """The call was cancelled by its progress function."""


class UnknownRound(Error, LookupError):
    """No such choice has been made."""


class ReportedTwice(Error, ValueError):
    """Another loss has been reported for this choice already."""


class BadLoss(Error, ValueError):
    """The loss is no number in the policy's range."""


class HorizonReached(Error):
    """All rounds of the horizon have been chosen."""


class BadState(Error, ValueError):
    """Not a saved state, or damaged."""


class NoSuchArm(Error, LookupError):
    """No such arm is available."""


class ProgramError(Error):
    """The program `tarry` is missing or has failed."""


_BY_STATUS: Dict[str, Type[Error]] = {
    "NO_MEMORY": NoMemory, "BAD_ARGUMENT": BadArgument, "BAD_INPUT": BadInput,
    "IO_ERROR": InputOutputError, "NOT_FINITE": NotFinite,
    "TARGET_NOT_MET": TargetNotMet, "CANCELLED": Cancelled,
    "UNKNOWN_ROUND": UnknownRound, "REPORTED_TWICE": ReportedTwice,
    "BAD_LOSS": BadLoss, "HORIZON_REACHED": HorizonReached,
    "BAD_STATE": BadState, "NO_SUCH_ARM": NoSuchArm,
}

for _class in (Error, ProgramError, *_BY_STATUS.values()):
    _class.__module__ = "tarry"

_tarry.set_errors(
    {name: _BY_STATUS.get(name, Error) for _, name, _ in _tarry.statuses})
