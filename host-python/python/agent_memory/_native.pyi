from collections.abc import Callable, Sequence

from .outcome import Answer
from .reach import Reach

__version__: str

def run(command: Sequence[str], arguments: Sequence[str]) -> int: ...

class Running:
    def cancel(self) -> None: ...

class Memory:
    def __init__(
        self,
        allow: Sequence[str],
        options: str,
        summarize: Callable[[str, list[str], int, str, float], str] | None,
        embed: Callable[[list[str], float], list[list[float]]] | None,
    ) -> None: ...
    @property
    def lists(self) -> list[str]: ...
    def ask(self, kind: str, texts: Sequence[str], reach: Reach) -> Answer: ...
    def start(
        self,
        kind: str,
        texts: Sequence[str],
        reach: Reach,
        done: Callable[[Answer | None, Exception | None], None],
    ) -> Running: ...
    def query_layers(
        self,
        sql: str,
        parameters: Sequence[None | int | float | str | bytes],
        max_rows: int,
    ) -> tuple[list[str], list[tuple[None | int | float | str | bytes, ...]], bool]: ...
    def close(self) -> None: ...
