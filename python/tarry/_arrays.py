"""Arrays as the C library takes them; nothing is copied that fits already."""
from __future__ import annotations

import os
from typing import Any, Iterable, List, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _tarry
from ._errors import BadArgument

Array = npt.NDArray[Any]
ArmsLike = Union[Any, str, "os.PathLike[str]"]


def unmasked(value: Any, what: str) -> Array:
    """An array of what is given, all of it: a masked value is a missing one,
    and NumPy would give what stands beneath the mask."""
    parts = [value]
    if isinstance(value, (list, tuple)) and any(
            issubclass(kind, np.ma.MaskedArray)
            for kind in set(map(type, value))):
        parts = list(value)
    for part in parts:
        if isinstance(part, np.ma.MaskedArray) and np.any(part.mask):
            raise BadArgument("%s: masked values are missing ones" % what)
    return np.asarray(value)


def numbers(value: Any, what: str, rank: int) -> Array:
    """A C-ordered float64 array of this rank."""
    try:
        array = unmasked(value, what)
        if array.dtype.kind == "c":
            raise TypeError("complex")
        if array.dtype.kind not in "fiub":
            array = np.asarray(value, dtype=np.float64)
    except BadArgument:
        raise
    except (TypeError, ValueError) as error:
        raise BadArgument("%s: not an array of numbers: %s" % (what, error))
    if array.ndim != rank:
        raise BadArgument("%s: an array of rank %d is needed, not %d"
                          % (what, rank, array.ndim))
    return np.require(array, dtype=np.float64, requirements=["C", "A"])


def counts(value: Any, what: str) -> Array:
    """A flat uint64 array of whole numbers."""
    array = unmasked(value, what)
    if array.size == 0:
        array = array.astype(np.uint64)
    if array.dtype.kind == "f" and np.all(array == np.floor(array)):
        with np.errstate(invalid="ignore"):
            array = array.astype(np.int64)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise BadArgument("%s: a list of whole numbers is needed" % what)
    if array.dtype == np.int64 and array.flags.c_contiguous and \
            array.flags.aligned:
        return array.view(np.uint64)  # below 0 is far above all rounds
    return np.ascontiguousarray(array).astype(np.int64).view(np.uint64) \
        if array.dtype.kind == "i" else \
        np.require(array, dtype=np.uint64, requirements=["C", "A"])


def whole(value: Any, what: str, most: int) -> int:
    """A whole number from 0 to `most`; 1e6 is one."""
    try:
        number = -1 if isinstance(value, (str, bytes)) else int(value)
    except (TypeError, ValueError, OverflowError):
        number = -1
    if not 0 <= number <= most or number != value:
        raise BadArgument("%s: not a whole number from 0 to %d: '%s'"
                          % (what, most, value))
    return number


def read_arms(path: Union[str, "os.PathLike[str]"]
              ) -> Tuple[Array, Optional[List[str]]]:
    """Reads an arm file, CSV or NumPy: the arms, a row each, and their names
    (None if the file has none).

    Errors name file, line and value, as those of the program do."""
    data, n_arms, dim, names = _tarry.read_arms(path)
    return np.frombuffer(data).reshape(n_arms, dim), names


def read_names(names: Optional[Iterable[str]], n_arms: int
               ) -> Optional[Tuple[str, ...]]:
    if names is None:
        return None
    texts = tuple(str(name) for name in names)
    if len(texts) != n_arms:
        raise BadArgument("names: %d for %d arms" % (len(texts), n_arms))
    if len(set(texts)) != n_arms:
        raise BadArgument("names: some name twice")
    return texts


def arms_and_names(arms: ArmsLike, names: Optional[Iterable[str]] = None
                   ) -> Tuple[Array,
                              Optional[Tuple[str, ...]]]:
    """Arms from an array, a data frame (whose index names them, if it has
    texts), a file, or a number of arms without features."""
    if isinstance(arms, (str, os.PathLike)):
        array, found = read_arms(arms)
        names = found if names is None else names
    elif isinstance(arms, (int, np.integer)) and not isinstance(arms, bool):
        if not 1 <= arms <= 20000:
            raise BadArgument("arms: not from 1 to 20000: '%d'" % arms)
        array = np.eye(int(arms))
    else:
        frame: Any = arms
        index = list(frame.index) if hasattr(frame, "columns") else []
        if names is None and index and \
                all(isinstance(name, str) for name in index):
            names = index
        array = numbers(arms, "arms", 2)
    return array, read_names(names, len(array))
