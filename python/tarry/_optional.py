"""Packages that only a few functions need: imported when one is called."""
from __future__ import annotations

import importlib
from typing import Any


def optional(name: str, purpose: str) -> Any:
    """The package; ImportError with one sentence where it is missing."""
    package = name.split(".")[0]
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as e:
        if str(e.name).split(".")[0] != package:
            raise
        raise ImportError(
            "tarry needs the package %s for %s, and it is not installed: "
            "install python3-%s (Debian) or `pip install %s`"
            % (package, purpose, package, package), name=package) from None
