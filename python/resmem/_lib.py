"""libresmem_c.so by ctypes: where it is, its structs, its functions, its errors."""
import ctypes
import os
import pathlib
from ctypes import POINTER, c_char_p, c_double, c_float, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from typing import Iterator

ABI_VERSION = 1
_NAME = "libresmem_c.so"


class Matrix(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("rows", c_int64), ("columns", c_int64), ("stride", c_int64)]


class Output(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("rows", c_int64), ("columns", c_int64)]


class Rows(ctypes.Structure):
    _fields_ = [("keys", Matrix), ("logits", Matrix), ("labels", c_void_p), ("targets", Matrix),
                ("ids", c_void_p), ("sources", POINTER(c_char_p)), ("roles", c_void_p),
                ("slices", POINTER(c_char_p))]


REPORT = ctypes.CFUNCTYPE(c_int, c_void_p, c_char_p, c_int64, c_int64)


class Watch(ctypes.Structure):
    _fields_ = [("report", REPORT), ("user", c_void_p), ("cancel", POINTER(c_int32))]


class OpenOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("skip_checksums", c_int32), ("exact", c_int32)]


class BuildOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("regression", c_int32), ("overwrite", c_int32),
                ("key_type", c_char_p), ("form", c_char_p), ("top", c_int64),
                ("half_residuals", c_int32), ("cross_fitted", c_int32), ("k", c_int64),
                ("sigma", c_float), ("temperature", c_float), ("classes", POINTER(c_char_p)),
                ("model", c_char_p), ("layer", c_char_p), ("recall", c_double), ("seed", c_uint64),
                ("watch", Watch), ("key_transform", c_char_p), ("tags", POINTER(c_char_p))]


class Info(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("rows", c_int64), ("capacity", c_int64), ("dim", c_int64),
                ("outputs", c_int64), ("segments", c_int64), ("bytes", c_int64),
                ("regression", c_int32), ("in_ram", c_int32), ("tuned", c_int32),
                ("cross_fitted", c_int32), ("has_logits", c_int32), ("has_sources", c_int32),
                ("k", c_int64), ("sigma", c_float), ("temperature", c_float)]


class AppendOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("token", c_char_p), ("watch", Watch), ("tags", POINTER(c_char_p))]


class IndexOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("recall", c_double), ("code_bits", c_int32),
                ("threads", c_int32), ("queries", Matrix), ("seed", c_uint64), ("watch", Watch)]


class TuneOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("k", c_void_p), ("k_count", c_int64), ("sigma", c_void_p),
                ("sigma_count", c_int64), ("temperature", c_void_p), ("temperature_count", c_int64),
                ("objective", c_char_p), ("method", c_char_p), ("fpr_limit", c_double), ("folds", c_int64),
                ("seed", c_uint64), ("dry_run", c_int32), ("any_model", c_int32),
                ("threads", c_int32), ("watch", Watch), ("key_transform", c_char_p), ("fit_megabytes", c_int64)]


class PredictOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("method", c_char_p), ("k", c_int64), ("sigma", c_float),
                ("temperature", c_float), ("lambda_", c_float), ("threads", c_int32),
                ("watch", Watch), ("unknown_rate", c_double)]


class RowArrays(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("keys", c_void_p), ("residuals", c_void_p),
                ("logits", c_void_p), ("targets", c_void_p), ("labels", c_void_p),
                ("ids", c_void_p), ("deleted", c_void_p)]


class EvaluateOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("k", c_int64), ("sigma", c_float), ("temperature", c_float),
                ("no_baselines", c_int32), ("any_model", c_int32), ("leave_one_out", c_int32),
                ("sample", c_int64), ("coarse_of_class", c_void_p), ("keep_rows", c_int64),
                ("threads", c_int32), ("watch", Watch)]


_P = POINTER
_TEXT = _P(c_void_p)  # char**, which resmem_free() frees
_FUNCTIONS = {
    "open": [c_char_p, _P(OpenOptions), _P(c_void_p)],
    "build": [c_char_p, _P(Rows), _P(BuildOptions), _P(c_void_p)],
    "save": [c_void_p, c_char_p, c_int32, _P(Watch)],
    "files_read": [c_void_p, _P(c_void_p)],
    "files_open": [c_int64, _P(c_char_p), _P(c_void_p), _P(c_size_t), _P(OpenOptions), _P(c_void_p)],
    "get_info": [c_void_p, _P(Info)],
    "describe": [c_void_p, _TEXT],
    "classes": [c_void_p, _TEXT],
    "append": [c_void_p, _P(Rows), _P(Watch)],
    "append_with": [c_void_p, _P(Rows), _P(AppendOptions), _P(c_int32)],
    "set_wait": [c_void_p, c_double],
    "delete": [c_void_p, c_void_p, c_int64],
    "delete_where": [c_void_p, c_char_p, _P(c_int64)],
    "read_tags": [c_void_p, c_void_p, c_int64, _TEXT],
    "where": [c_void_p, c_char_p, _P(c_void_p)],
    "compact": [c_void_p, c_int32, _P(Watch)],
    "snapshot_take": [c_void_p, c_char_p, c_char_p],
    "snapshot_drop": [c_void_p, c_char_p],
    "rollback": [c_void_p, c_char_p, _P(Watch)],
    "diff": [c_void_p, c_char_p, c_char_p, _TEXT],
    "find_in_snapshots": [c_void_p, c_void_p, c_int64, _TEXT],
    "set_parameters": [c_void_p, c_int64, c_float, c_float],
    "reload": [c_void_p],
    "verify": [c_void_p, _P(Watch)],
    "index": [c_void_p, _P(IndexOptions)],
    "remove_index": [c_void_p],
    "tune": [c_void_p, _P(Rows), _P(TuneOptions), _TEXT],
    "undo_tuning": [c_void_p, _P(Watch)],
    "distance_percentiles": [c_void_p, _P(Matrix), c_int32, _P(Watch), c_void_p],
    "predict": [c_void_p, _P(Matrix), _P(Matrix), _P(PredictOptions), _P(Output), _P(Output)],
    "neighbors": [c_void_p, _P(Matrix), c_int64, c_void_p, c_int32, _P(Watch), c_void_p, c_void_p, c_void_p],
    "weights": [c_void_p, c_int64, c_int64, c_float, c_void_p],
    "export": [c_void_p, c_char_p, _P(c_char_p), c_int64, _P(Watch)],
    "read_rows": [c_void_p, c_void_p, c_int64, _P(RowArrays)],
    "find_ids": [c_void_p, c_void_p, c_int64, c_void_p],
    "explain": [c_void_p, _P(Matrix), _P(Matrix), _P(PredictOptions), _P(c_uint64), _TEXT],
    "evaluate": [c_void_p, _P(Rows), _P(EvaluateOptions), _TEXT],
    "doctor": [c_void_p, _P(Rows), _P(EvaluateOptions), _TEXT],
    "report": [c_char_p, _TEXT],
}
_OTHERS = {
    "abi_version": (c_int32, []),
    "version": (c_char_p, []),
    "code_name": (c_char_p, [c_int]),
    "last_error": (c_char_p, []),
    "free": (None, [c_void_p]),
    "close": (None, [c_void_p]),
    "path": (c_char_p, [c_void_p]),
    "answer": (c_char_p, [c_void_p]),
    "files_count": (c_int64, [c_void_p]),
    "files_name": (c_char_p, [c_void_p, c_int64]),
    "files_bytes": (c_void_p, [c_void_p, c_int64, _P(c_size_t)]),
    "files_free": (None, [c_void_p]),
}


def _places() -> Iterator[str]:
    given = os.environ.get("RESMEM_LIBRARY")
    if given:
        yield given
        return
    package = pathlib.Path(__file__).resolve().parent
    yield str(package / _NAME)
    # The source tree, after a build.
    yield str(package.parents[1] / "build" / "release" / "capi" / _NAME)
    yield _NAME + f".{ABI_VERSION}"


def _load() -> ctypes.CDLL:
    tried = []
    for place in _places():
        if os.sep in place and not os.path.exists(place):
            tried.append(f"{place}: not there")
            continue
        try:
            return ctypes.CDLL(place)
        except OSError as error:
            tried.append(str(error))
    raise ImportError("resmem: its library was not found; build it (cmake --build build/release "
                      "--target resmem_c) or set RESMEM_LIBRARY. Tried: " + "; ".join(tried))


lib = _load()
for _name, _arguments in _FUNCTIONS.items():
    getattr(lib, "resmem_" + _name).argtypes = _arguments
    getattr(lib, "resmem_" + _name).restype = c_int
for _name, (_result, _arguments) in _OTHERS.items():
    getattr(lib, "resmem_" + _name).argtypes = _arguments
    getattr(lib, "resmem_" + _name).restype = _result
for _options in (OpenOptions, BuildOptions, AppendOptions, IndexOptions, TuneOptions, PredictOptions, EvaluateOptions):
    _snake = "".join("_" + c.lower() if c.isupper() else c for c in _options.__name__)
    _init = getattr(lib, f"resmem{_snake}_init")
    _init.argtypes, _init.restype = [_P(_options)], None
    _options.init = _init  # type: ignore[attr-defined]
if lib.resmem_abi_version() != ABI_VERSION:
    raise ImportError(f"resmem: the library has interface {lib.resmem_abi_version()}, "
                      f"this package wants {ABI_VERSION}; install both from the same version")


class ResmemError(Exception):
    """What the library said; every error of ours is one, and a usual Python exception as well."""

    code = ""  # "bad data", "corrupt", ...

    def __str__(self) -> str:  # KeyError would put it in quotes
        return str(self.args[-1]) if self.args else ""


class InvalidValue(ResmemError, ValueError):
    """Arrays or options that cannot be used, or that belong to another model."""


class UnknownId(ResmemError, KeyError):
    """No living row has this id."""


class MemoryFileError(ResmemError, OSError):
    """A memory's file that is broken, too new, or that the system refused to read or write."""


class MemoryNotFound(MemoryFileError, FileNotFoundError):
    """No memory at this path."""


class OutOfMemory(ResmemError, MemoryError):
    """Not enough memory."""


class Cancelled(ResmemError, RuntimeError):
    """The progress callback asked to stop."""


_CLASSES = {1: InvalidValue, 2: InvalidValue, 4: MemoryFileError, 5: MemoryFileError, 6: InvalidValue,
            7: InvalidValue, 8: MemoryFileError, 10: Cancelled}


def error_of(code: int) -> ResmemError:
    """The exception for a code of this thread's last call."""
    message = lib.resmem_last_error().decode("utf-8", "replace")
    if code == 3:
        kind = UnknownId if "the id " in message else InvalidValue if "no earlier tuning" in message else MemoryNotFound
    elif code == 9:
        kind = OutOfMemory if "memory to" in message or "more memory" in message or \
            "enough memory" in message else MemoryFileError
    else:
        kind = _CLASSES.get(code, ResmemError)
    error = kind(message)
    error.code = lib.resmem_code_name(code).decode()
    return error


def check(code: int) -> None:
    if code != 0:
        raise error_of(code)


def take_text(pointer: c_void_p) -> str:
    """A char* of the library, which is freed."""
    try:
        return ctypes.cast(pointer, c_char_p).value.decode()  # type: ignore[union-attr]
    finally:
        lib.resmem_free(pointer)


def options_of(kind):
    options = kind()
    kind.init(ctypes.byref(options))
    return options
