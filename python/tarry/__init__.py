"""Decisions while the outcomes are still on their way.

    d = tarry.design(arms)                            optimal designs
    p = tarry.Policy("recommended", arms, ...)        choose and observe, live
    r = tarry.run(["recommended", "lints"], ...)      policies side by side
    tarry.bound(...), tarry.paper(...)                what the paper promises
    tarry.Client(url)                                 the decision service

Losses are minimised; say maximize=True for rewards.  Rounds count from 1, arms
from 0.  Everything random is a function of the seed."""
from ._arrays import read_arms
from ._design import Design, design
from ._errors import (BadArgument, BadInput, BadLoss, BadState, Cancelled,
                      Error, HorizonReached, InputOutputError, NoMemory,
                      NoSuchArm, NotFinite, ProgramError, ReportedTwice, TargetNotMet,
                      UnknownRound)
from ._policy import Certificate, Pending, Policy, describe, policies
from ._tarry import Choice, Random
from ._tarry import version as __version__
from ._lab import Experiment, PolicyBase, run
from ._results import Mean, PolicyResult, Results
from ._world import DelayBase, Problem, Sample, View, World
from ._program import Paper, bound, catalogue, examine, paper, program
from .client import AsyncClient, Client, Decision, ServiceError, Unreachable

__all__ = [
    "AsyncClient", "BadArgument", "BadInput", "BadLoss", "BadState",
    "Cancelled", "Certificate", "Choice", "Client", "Decision", "DelayBase",
    "Design", "Error", "Experiment", "HorizonReached", "InputOutputError",
    "Mean", "NoMemory", "NoSuchArm", "NotFinite", "Paper", "Pending", "Policy", "PolicyBase",
    "PolicyResult", "Problem", "ProgramError", "Random", "ReportedTwice",
    "Results", "Sample", "ServiceError", "TargetNotMet", "UnknownRound", "Unreachable",
    "View", "World", "bound", "catalogue", "describe", "design", "examine",
    "paper", "policies", "program", "read_arms", "run",
]
