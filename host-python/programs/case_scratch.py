"""The storage of a case, in a temporary directory."""

from __future__ import annotations

import os
import re
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any

from case import Case, Documents, Places

#: The host's own files in a directory of records, or beside the database of layers.
OWN_NAMES = re.compile(r"(\.agent-memory|(memories|layers)\.db(-journal|-shm|-wal)?)")


class Scratch:
    """A repository, a directory that is not granted, and a path for a directory of records or a database."""

    def __init__(self, case: Case) -> None:
        self._toolset = case.toolset
        self._temporary = tempfile.TemporaryDirectory(prefix="agent-memory-")
        #: All of it.
        self.directory = directory = Path(self._temporary.name).resolve()
        #: The data directory, with the stores and memory files. It exists at first only if the case gives such.
        self.data_dir = directory / "data"
        self._repo, self._elsewhere, self._stores = directory / "repo", directory / "elsewhere", self.data_dir / "stores"
        #: The directory of records or of the database. It exists at first only if the case gives something in it.
        self.memory_dir = directory / "memories"
        #: The path of the database of layers.
        self.database = self.memory_dir / "layers.db"
        self._elsewhere.mkdir()
        self._write(self._repo / ".git/HEAD", b"ref: refs/heads/main\n")
        self._write_given(case)

    def __enter__(self) -> Scratch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._temporary.cleanup()

    @property
    def places(self) -> Places:
        return {"repo": str(self._repo), "elsewhere": str(self._elsewhere), "stores": str(self._stores)}

    def documents(self) -> Documents:
        """All files of the tree except the host's own."""
        depth = 1 if self._toolset == "stores" else 0

        def is_own(path: Path) -> bool:
            return not self._is_in_repository() and bool(OWN_NAMES.fullmatch(path.parts[depth]))

        tree = self._tree()
        files = sorted(file for file in tree.rglob("*") if not file.is_dir())
        paths = [file.relative_to(tree) for file in files]
        return {path.as_posix(): (tree / path).read_bytes() for path in paths if not is_own(path)}

    def rows(self, query: str) -> list[list[Any]]:
        """The rows of a query of the database, as another program would get them. No memory may be open."""
        with closing(sqlite3.connect(f"file:{self.database}?mode=rw", uri=True)) as database:
            rows = [list(row) for row in database.execute(query)]
        if any(isinstance(value, bytes) for row in rows for value in row):
            raise ValueError("a blob is no JSON")
        return rows

    def unexpected_files(self) -> list[str]:
        """Files outside of `.git` and the tree, which should not exist, and memories that other users may access."""
        github = self._repo / ".github"
        below_github = os.listdir(github) if github.exists() else []
        return [
            *(name for name in os.listdir(self._repo) if name not in (".git", ".github")),
            *(name for name in below_github if name != "agent-memory"),
            *os.listdir(self._elsewhere),
            *self._accessible_to_others(),
        ]

    def _accessible_to_others(self) -> list[str]:
        found = []
        for directory in filter(Path.exists, (self.memory_dir, self.data_dir)):
            for path in (directory, *directory.rglob("*")):
                mode = path.lstat().st_mode & 0o777
                if mode & 0o077:
                    found.append(f"{path} ({mode:o})")
        return found

    def _write_given(self, case: Case) -> None:
        for name in case.given_stores:
            (self._stores / name).mkdir(parents=True)
        if case.given_stores:
            stores = "".join(
                f"  {name}:\n    kind: filesystem\n    properties:\n      path: {self._stores / name}\n"
                for name in case.given_stores
            )
            self._write(self.data_dir / "stores.yaml", f"stores:\n{stores}".encode())
        for document, contents in case.given.items():
            self._write(self._tree() / document, contents)
        if case.given_sql:
            self._write(self.database, b"")
            with closing(sqlite3.connect(self.database)) as database:
                for sql in case.given_sql:
                    database.executescript(sql)
        # What the case gives in a private place is for its owner alone.
        for directory in filter(Path.exists, (self.memory_dir, self.data_dir)):
            for path in (directory, *directory.rglob("*")):
                path.chmod(0o700 if path.is_dir() else 0o600)

    def _write(self, path: Path, contents: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents)

    def _is_in_repository(self) -> bool:
        return self._toolset in ("sessions", "memory")

    def _tree(self) -> Path:
        if self._is_in_repository():
            return self._repo / ".github/agent-memory"
        if self._toolset == "files":
            return self.data_dir / "files"
        return self._stores if self._toolset == "stores" else self.memory_dir
