"""The open memory behind `AgentMemory` and `AsyncAgentMemory`.

A Python thread takes the messages of the native part, whose own threads run no Python code: the interpreter at its end
would stop such a thread within Python code, and the process would abort.
"""

from __future__ import annotations

import atexit
import itertools
import os
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import _native
from .errors import MemoryCallError
from .outcome import Answer
from .reach import Reach

__all__ = ["Function", "Handle"]

#: How long `close` waits for summaries and vectors, in seconds.
FOLLOW_UPS = 5.0

#: How long the program, at its end, waits for calls on other threads, in seconds.
CALLS_AT_EXIT = 1.0

#: How long `close` waits for the thread that takes the messages, in seconds.
LAST_MESSAGES = 1.0

#: A function of the program, wrapped so that the native part can ask it.
Function = Callable[..., Any]

#: A function that gets the answer of a request, or its error.
Done = Callable[["Answer | None", "Exception | None"], None]


class Handle:
    """An open memory."""

    #: None until the memory is open.
    _memory: _native.Memory | None = None

    def __init__(self, native: _native.Memory, functions: Mapping[str, Function]) -> None:
        """`functions` has the functions of the program by the kind of the message that asks them."""
        self.lists = native.lists
        self._functions = functions
        self._waiting: dict[int, Done] = {}
        self._numbers = itertools.count()
        self._thread = threading.Thread(
            target=_take_messages, args=(native, weakref.ref(self)), name="agent-memory", daemon=True
        )
        self._thread.start()
        self._memory = native
        _handles.add(self)

    def ask(self, kind: str, texts: Sequence[str], reach: Reach) -> Answer:
        """Makes a request, and waits for its answer."""
        try:
            return self._opened().ask(kind, texts, reach)
        except _native.NativeError as error:
            raise MemoryCallError(*error.args) from None

    def start(self, kind: str, texts: Sequence[str], reach: Reach, done: Done) -> Callable[[], None]:
        """Begins a request, and returns a function that cancels it. `done` gets its answer on another thread."""
        number = next(self._numbers)
        self._waiting[number] = done
        try:
            running = self._opened().start(number, kind, texts, reach)
        except _native.NativeError as error:
            del self._waiting[number]
            raise MemoryCallError(*error.args) from None

        def cancel() -> None:
            self._waiting.pop(number, None)
            running.cancel()

        return cancel

    def query_database(self, place: str, sql: str, parameters: Sequence[Any], max_rows: int) -> tuple[Any, ...]:
        """Runs a read-only statement. Returns the columns, the rows, and whether there were more."""
        try:
            return self._opened().query_database(place, sql, parameters, max_rows)
        except _native.NativeError as error:
            raise MemoryCallError(*error.args) from None

    def close(self, calls: float | None = None, follow_ups: float = FOLLOW_UPS) -> None:
        """Waits for calls and for follow-ups, each for some seconds at most, and closes the memory."""
        has_closed = self._opened().close(calls, follow_ups)
        _handles.discard(self)
        if has_closed and self._thread is not threading.current_thread():
            # Waits for the last log messages. The timeout is for a log handler that itself waits for this thread.
            self._thread.join(LAST_MESSAGES)

    def _opened(self) -> _native.Memory:
        assert self._memory is not None
        return self._memory

    def _answered(self, number: int, answer: Answer | None, error: Exception | None) -> None:
        done = self._waiting.pop(number, None)
        if done is not None:
            done(answer, error)

    def _receive(self, native: _native.Memory, kind: str, number: int, contents: Any) -> None:
        """Receives a message of the native part."""
        if kind == "answer":
            self._answered(number, contents, None)
        elif kind == "error":
            self._answered(number, None, MemoryCallError(*contents))
        elif kind == "log":
            _log(number, contents)
        else:
            asked = (native, number, kind, self._functions[kind], contents)
            threading.Thread(target=_ask_function, args=asked, name=f"agent-memory-{kind}", daemon=True).start()

    def __del__(self) -> None:
        if self._memory is not None and self._memory.is_open:
            warning = "a memory was collected that was not closed: use `with` or `close()`"
            try:
                warnings.warn(warning, ResourceWarning, source=self)
            finally:
                self.close(calls=0, follow_ups=0)


def _take_messages(native: _native.Memory, of: weakref.ref[Handle]) -> None:
    """Takes the messages of a memory until it is closed. `of` is a weak reference, so the memory can be collected."""
    signal, has_ended = _descriptor(native.signal), False
    while not has_ended:
        os.read(signal, 64)
        messages, has_ended = native.take()
        handle = of()
        for message in messages:
            try:
                if handle is not None:
                    handle._receive(native, *message)
            except Exception:
                # The program's code can raise here, for example a filter of its log.
                sys.excepthook(*sys.exc_info())
        del handle
    os.close(signal)


def _descriptor(signal: int) -> int:
    """The file descriptor of a memory's signal. On Windows the signal is a handle."""
    if sys.platform == "win32":
        import msvcrt

        return msvcrt.open_osfhandle(signal, os.O_RDONLY)
    return signal


def _ask_function(native: _native.Memory, number: int, kind: str, function: Function, arguments: Any) -> None:
    """Asks a function of the program, on a thread of its own, since it may take long."""
    try:
        native.reply(number, function(*arguments), None)
    except BaseException as error:
        text = f"{type(error).__name__}: {error}"
        if _has_ended.is_set():
            # At the end of the program the function can fail, for example since it cannot start a thread.
            _log(WARNING, f"`{kind}` failed while the program ended, and is left for the next one: {text}")
            native.give_up()
            return
        native.reply(number, None, text.encode(errors="backslashreplace").decode())
        _log(DEBUG, f"`{kind}` raised", error)


#: Levels of `logging`.
DEBUG, WARNING = 10, 30


def _log(level: int, text: str, error: BaseException | None = None) -> None:
    # Imported here, so that a program that never logs does not load it.
    import logging

    logging.getLogger("agent_memory").log(level, "%s", text, exc_info=error)


#: The memories that are open.
_handles: weakref.WeakSet[Handle] = weakref.WeakSet()

#: Set when the program ends.
_has_ended = threading.Event()


@atexit.register
def _close_all() -> None:
    """Closes the memories that are open when the program ends. In all, this takes little longer than `FOLLOW_UPS`."""
    _has_ended.set()
    ends = time.monotonic() + FOLLOW_UPS
    for handle in list(_handles):
        handle.close(CALLS_AT_EXIT, max(0.0, ends - time.monotonic()))
