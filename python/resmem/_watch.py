"""Long work: a progress bar, a callback, and Ctrl-C.

Python hears Ctrl-C on its main thread only, and not while that thread is inside the library. So long
work that the main thread asks for is done by another one, while the main thread waits and listens.
"""
import ctypes
import sys
import threading
import time
from typing import Any, Callable, List, Optional, Tuple, Union

from . import _lib

Progress = Union[bool, None, Callable[[str, int, int], Any]]


class Bar:
    """One line on stderr, in a terminal and in a notebook."""

    def __init__(self) -> None:
        self._drawn = ""
        self._next = 0.0

    def draw(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self._next and not 0 < total <= done:
            return
        self._next = now + 0.1
        line = f"{stage:<12} {done:,}"  # where nobody knows how much there is
        if total > 0:
            filled = int(30 * done / total)
            line = f"{stage:<12} [{'#' * filled}{'.' * (30 - filled)}] {100 * done / total:3.0f} %  {done:,} of {total:,}"
        print("\r" + line.ljust(len(self._drawn)), end="", file=sys.stderr, flush=True)
        self._drawn = line

    def close(self) -> None:
        if self._drawn:
            print("\r" + " " * len(self._drawn) + "\r", end="", file=sys.stderr, flush=True)


class Watch:
    """What one call tells and hears."""

    def __init__(self, progress: Progress) -> None:
        self.failure: Optional[BaseException] = None
        self._latest: Optional[tuple] = None
        self._bar = Bar() if progress is True else None
        self._callback = progress if callable(progress) else None
        self._cancel = ctypes.c_int32(0)
        self.struct = _lib.Watch()
        self.struct.cancel = ctypes.pointer(self._cancel)
        if self._bar or self._callback:
            self.struct.report = _lib.REPORT(self._report)

    def _report(self, _user: Any, stage: bytes, done: int, total: int) -> int:
        try:
            self._latest = (stage.decode(), done, total)
            if self._callback and self._callback(*self._latest):
                return 1
            return 0
        except BaseException as error:  # a ctypes callback must not raise
            self.failure = error
            return 1

    def cancel(self) -> None:
        self._cancel.value = 1

    def draw(self) -> None:
        if self._bar and self._latest:
            self._bar.draw(*self._latest)

    def close(self) -> None:
        if self._bar:
            self._bar.close()


def _finish(code: int, error: Optional[BaseException], watch: Watch) -> None:
    if watch.failure is not None:
        raise watch.failure
    if error is not None:
        raise error


def run(function: Callable[..., int], watch: Watch, *arguments: Any) -> None:
    """Calls a function of the library that may take long."""
    if threading.current_thread() is not threading.main_thread():
        try:
            code = function(*arguments)
            _finish(code, _lib.error_of(code) if code else None, watch)
        finally:
            watch.close()
        return
    outcome: List[Tuple[int, Optional[BaseException]]] = []
    done = threading.Event()

    def work() -> None:
        try:
            code = function(*arguments)
            # The text of an error is kept for the thread that made the call.
            outcome.append((code, _lib.error_of(code) if code else None))
        except BaseException as error:
            outcome.append((-1, error))
        finally:
            done.set()

    worker = threading.Thread(target=work, name="resmem", daemon=True)
    worker.start()
    try:
        while not done.wait(0.1):
            watch.draw()
    except BaseException:  # KeyboardInterrupt, and whatever a signal handler raises
        watch.cancel()
        done.wait()
        worker.join()
        raise
    finally:
        watch.close()
    worker.join()
    code, error = outcome[0]
    _finish(code, error, watch)


def document(kind: Any, function: str, *arguments: Any, watch: Optional[Watch] = None) -> Any:
    """What a function gives as JSON, as an object of this kind."""
    text = ctypes.c_void_p()
    call = getattr(_lib.lib, "resmem_" + function)
    if watch is None:
        _lib.check(call(*arguments, ctypes.byref(text)))
    else:
        run(call, watch, *arguments, ctypes.byref(text))
    return kind(_lib.take_text(text))
