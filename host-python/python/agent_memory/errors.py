"""The exceptions, each with a code for programs and a message for people."""

from __future__ import annotations

__all__ = ["MemoryCallError", "MemoryOpenError", "ToolError"]


class _CodedError(Exception):
    #: The error code, for programs.
    code: str
    #: For people: what was wrong, where, and what to do.
    message: str

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return self.message


class MemoryOpenError(_CodedError):
    """A memory that cannot be opened.

    The code is `invalid-option`, `component`, or `forked`: this process is the child of a `fork`, and its parent had a
    memory open.
    """


class MemoryCallError(_CodedError):
    """A call without an outcome. A tool's own error is an outcome instead, with a `ToolError`.

    The code is

    - `not-found`: there is no such tool, resource, prompt or follow-up;
    - `invalid-request`: the arguments are not a JSON object, or not those of the prompt;
    - `deadline`, `memory`, `storage-calls`: the component broke a limit; the next call works;
    - `trap`: the component failed; the next call works;
    - `closed`: the memory is closed;
    - `forked`: this process is a child of the one that opened the memory;
    - of `query_database`: the code of the storage's error, such as `not-found` or `read-only`.

    After a broken limit or a `trap`, the call may have made a change. After every other code it has made none.
    """


class ToolError(_CodedError):
    """The error of a tool. Give a model the outcome's `result` instead, which is the toolset's own JSON."""

    #: The kind of error, the same for every toolset: `invalid`, `not-found`, `limit`, `damaged`, `busy`, `denied`,
    #: `storage` or `internal`.
    category: str

    def __init__(self, category: str, code: str, message: str) -> None:
        super().__init__(code, message)
        self.args = (category, code, message)
        self.category = category
