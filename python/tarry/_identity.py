"""What a journal knows Python code by: a digest of all that can be read of it.

Code is read as the interpreter runs it, by bytecode and constants, not by its
text: a file edited after its import changes nothing until it is imported again,
and a comment never does.  From an object the digest follows its class and bases,
its settings and arrays, defaults, closures, and the globals, functions and
attributes of modules that its code names, and theirs in turn.  Of the standard
library and of installed packages it takes name and version; tarry is known by
its build.  What code reads by itself (files, the network) is not seen."""
from __future__ import annotations

import copyreg
import dis
import hashlib
import importlib
import importlib.util
import os
import pickle
import sys
import sysconfig
import types
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

import numpy as np

from ._errors import BadArgument

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis),
          type(NotImplemented), range)
_C_MEMBERS = (types.MethodDescriptorType, types.WrapperDescriptorType,
              types.GetSetDescriptorType, types.MemberDescriptorType,
              types.ClassMethodDescriptorType)
#: of a class: texts, and what Python derives from the rest
_DERIVED = {"__dict__", "__weakref__", "__module__", "__doc__", "_abc_impl",
            "__annotations__", "__annotate__", "__annotate_func__",
            "__annotations_cache__", "__firstlineno__",
            "__static_attributes__", "__dataclass_fields__",
            "__dataclass_params__", "__abstractmethods__"}
_PICKLING = {"__reduce__", "__reduce_ex__", "__getstate__", "__getnewargs__",
             "__getnewargs_ex__"}
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_STANDARD = tuple({sysconfig.get_path(name)
                   for name in ("stdlib", "platstdlib")})


class _Unreadable(Exception):
    pass


def _place(module: Optional[str]) -> Optional[str]:
    """Name and version of the package a module is of; None: the user's."""
    top = (module or "").partition(".")[0]
    if top in ("tarry", "__main__"):  # a script, a notebook
        return top if top == "tarry" else None
    loaded = sys.modules.get(top)
    file = getattr(loaded, "__file__", None) or ""
    if {"site-packages", "dist-packages"} & set(file.split(os.sep)):
        return "%s %s" % (top, getattr(loaded, "__version__", ""))
    if top in sys.stdlib_module_names and (not file or
                                           file.startswith(_STANDARD)):
        return "python %d.%d" % sys.version_info[:2]
    return None


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object and those within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _names(function: types.FunctionType
           ) -> Tuple[List[str], List[str], Set[str]]:
    """The globals, the modules to import and the attributes it names."""
    used, imported, attributes = set(), set(), set()
    package = function.__globals__.get("__package__") or ""
    for code in _codes(function.__code__):
        attributes |= set(code.co_names)
        before: List[Any] = [0, None]  # level and names of an import
        for step in dis.get_instructions(code):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                used.add(step.argval)
            elif step.opname == "IMPORT_NAME":
                level = before[0] if isinstance(before[0], int) else 0
                imported.add("." * level + step.argval)
            before = [before[1], step.argval]
    found = set()
    for name in imported:
        try:
            found.add(importlib.util.resolve_name(name, package))
        except (ImportError, ValueError):
            pass
    return sorted(used), sorted(found), attributes


def _is_filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True


class _Reader:
    """Digests of objects; each object once."""

    def __init__(self, tolerant: bool) -> None:
        self._tolerant = tolerant
        self._done: Dict[int, Tuple[Any, bytes]] = {}  # keeps them alive
        self._open: Dict[int, int] = {}
        self._modules: Set[int] = set()
        self._path: List[str] = []

    def of(self, x: Any) -> bytes:
        if type(x) in _PLAIN:
            return self._join([type(x).__name__, repr(x)])
        key = id(x)
        if key in self._done:
            return self._done[key][1]
        if key in self._open:  # a circle, told by its length
            return self._join(["again", str(len(self._open)
                                            - self._open[key])])
        self._open[key] = len(self._open)
        try:
            made = self._join([type(x).__qualname__] + self._parts(x))
        except RecursionError:
            made = self._cannot(x)
        finally:
            del self._open[key]
        self._done[key] = x, made
        return made

    @staticmethod
    def _join(parts: List[Any]) -> bytes:
        h = hashlib.blake2b(digest_size=16)
        for part in parts:
            data = part if isinstance(part, bytes) else \
                str(part).encode("utf-8", "surrogatepass")
            h.update(b"%d " % len(data))
            h.update(data)
        return h.digest()

    def _cannot(self, x: Any) -> bytes:
        if self._tolerant:
            return b"unreadable"
        raise _Unreadable("%s is a %s.%s" % (
            ".".join(self._path), type(x).__module__, type(x).__qualname__))

    def _named(self, pairs: Any) -> List[Any]:
        """Names and what they stand for."""
        parts: List[Any] = []
        for name, value in pairs:
            self._path.append(str(name))
            parts += [name, self.of(value)]
            self._path.pop()
        return parts

    def _parts(self, x: Any) -> List[Any]:
        if type(x) is np.ndarray and not x.dtype.hasobject:
            return [repr(x.dtype), str(x.shape), x.tobytes()]
        if type(x) in (tuple, list):
            return [self.of(item) for item in x]
        if type(x) in (dict, types.MappingProxyType):
            return self._dict(x)
        if type(x) in (set, frozenset):
            return sorted(self.of(item) for item in x)
        if isinstance(x, types.FunctionType):
            return self._function(x)
        if isinstance(x, types.CodeType):
            return self._code(x)
        if isinstance(x, type):
            return self._class(x)
        if isinstance(x, types.ModuleType):
            return self._module(x, set())
        if isinstance(x, types.MethodType):
            return [self.of(x.__func__), self.of(x.__self__)]
        if isinstance(x, (staticmethod, classmethod)):
            return [self.of(x.__func__)]
        if isinstance(x, property):
            return [self.of(part) for part in (x.fget, x.fset, x.fdel)]
        if isinstance(x, _C_MEMBERS):
            return [x.__name__, x.__objclass__.__qualname__]
        if isinstance(x, (types.BuiltinFunctionType, types.MethodWrapperType)):
            return self._builtin(x)
        if hasattr(x, "__wrapped__"):  # functools.lru_cache and its like
            return [self.of(type(x)), self.of(x.__wrapped__)]
        return self._instance(x)

    def _dict(self, x: Any) -> List[Any]:
        parts: List[Any] = []
        for key, value in x.items():
            parts.append(self.of(key))
            parts += self._named([(key, value)])[1:] \
                if isinstance(key, str) else [self.of(value)]
        return parts

    def _builtin(self, x: Any) -> List[Any]:
        owner = getattr(x, "__self__", None)
        if owner is not None and not isinstance(owner, types.ModuleType):
            return [x.__name__, self.of(owner)]
        place = _place(x.__module__)
        return [self._cannot(x)] if place is None else \
            [place, x.__module__, x.__name__]

    # ---- code --------------------------------------------------------------

    def _code(self, code: types.CodeType) -> List[Any]:
        return [code.co_code, code.co_argcount, code.co_posonlyargcount,
                code.co_kwonlyargcount, code.co_flags,
                repr((code.co_names, code.co_varnames, code.co_freevars,
                      code.co_cellvars)),
                getattr(code, "co_exceptiontable", b""),
                self.of(code.co_consts)]

    def _function(self, f: types.FunctionType) -> List[Any]:
        """Of a package's function only what it was given by the user."""
        place = _place(f.__globals__.get("__name__"))
        used, imported, attributes = _names(f)
        held = dict(zip(f.__code__.co_freevars, f.__closure__ or ()))
        parts = self._used({name: cell.cell_contents
                            for name, cell in held.items()
                            if _is_filled(cell)}, attributes)
        parts += [self.of(f.__defaults__), self.of(f.__kwdefaults__)]
        if place is not None:
            return parts + [place, f.__module__, f.__qualname__]
        return parts + [self.of(f.__code__)] + self._used(
            {name: f.__globals__[name] for name in used
             if name in f.__globals__}, attributes) + \
            self._imported(imported, attributes) + \
            self._named(sorted(vars(f).items()))

    def _used(self, values: Dict[str, Any], attributes: Set[str]
              ) -> List[Any]:
        parts: List[Any] = []
        for name, value in values.items():
            parts += [name] + self._module(value, attributes) \
                if isinstance(value, types.ModuleType) else \
                self._named([(name, value)])
        return parts

    def _imported(self, names: List[str], attributes: Set[str]
                  ) -> List[Any]:
        parts: List[Any] = []
        for name in names:
            try:
                parts += self._module(
                    sys.modules[name] if _place(name) and name in sys.modules
                    else importlib.import_module(name), attributes)
            except Exception:  # the code cannot import it either
                parts += [name, "missing"]
        return parts

    def _module(self, module: types.ModuleType, attributes: Set[str]
                ) -> List[Any]:
        """What is used of it."""
        place = _place(module.__name__)
        if place is not None or id(module) in self._modules:
            return [place or "again", module.__name__]
        self._modules.add(id(module))
        parts = [module.__name__] + self._used(
            {name: vars(module)[name]
             for name in sorted(attributes & set(vars(module)))}, attributes)
        self._modules.remove(id(module))
        return parts

    def _class(self, c: type) -> List[Any]:
        place = _place(c.__module__)
        if place is not None:
            return [place, c.__module__, c.__qualname__]
        if not c.__flags__ & _HEAP_TYPE:
            return [self._cannot(c)]
        members = sorted((name, value) for name, value in vars(c).items()
                         if name not in _DERIVED)
        return [c.__qualname__, self.of(type(c))] + \
            [self.of(base) for base in c.__bases__] + self._named(members)

    # ---- other objects -----------------------------------------------------

    def _instance(self, x: Any) -> List[Any]:
        kind = type(x)
        try:
            reduced = copyreg.dispatch_table[kind](x) \
                if kind in copyreg.dispatch_table else x.__reduce_ex__(4)
        except Exception:
            return [self.of(kind), self._cannot(x)]
        if isinstance(reduced, str):
            return self._global(x, reduced)
        function, arguments, state, items, pairs = (
            tuple(reduced) + (None,) * 3)[:5]
        parts = [self.of(kind), self.of(function), self.of(arguments),
                 self.of(state), self.of(list(items or ())),
                 self.of(list(pairs or ()))]
        if any(_PICKLING & set(vars(c)) for c in kind.__mro__
               if _place(c.__module__) is None):  # it may leave things out
            parts.append(self.of(getattr(x, "__dict__", None)))
        return parts

    def _global(self, x: Any, name: str) -> List[Any]:
        """What is pickled as the name of a global."""
        module = pickle.whichmodule(x, name)  # type: ignore[attr-defined]
        place = _place(module)
        if place is None or \
                getattr(sys.modules.get(module), name, None) is not x:
            return [self._cannot(x)]
        return [place, module, name]


def identity_of(thing: Any, version: Any = None) -> str:
    """A text that differs if anything does that decides what the object will
    do.  A version (not None) stands for what cannot be read."""
    reader = _Reader(version is not None)
    reader._path.append(type(thing).__name__)
    try:
        digest = reader.of(thing)
    except _Unreadable as error:
        raise BadArgument(
            "journal: %s, whose changes cannot be seen; give "
            "version=\"1\" beside the journal, and another version whenever "
            "it changes" % error)
    return "%s:%s" % ("" if version is None else version, digest.hex())
