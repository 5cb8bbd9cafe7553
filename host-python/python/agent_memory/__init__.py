"""Memory for AI agents: tools that keep what an agent learns in files of its repository.

    from agent_memory import open_memory

    with open_memory(allow=["/home/me/project"]) as memory:
        memory.sessions.start_session(agent_name="aristotle")
        entry = memory.sessions.append_entry(agent_name="aristotle", section="Decisions", content="- Use SQLite.")
        print(entry["session_file"])

Do not open a database of this package with Python's own `sqlite3` in the same process: closing it drops the locks of
this package. Use `query_database` instead.
"""

from ._native import __version__
from .description import Annotations, Prompt, PromptArgument, Resource, ResourceTemplate, Tool
from .embedding import Embed, EmbeddingRequest, WantedVector
from .errors import MemoryCallError, MemoryOpenError, ToolError
from .memory import AgentMemory, AsyncAgentMemory, open_async_memory, open_memory
from .options import Clock, Durability, Limits
from .outcome import FollowUp, Message, Outcome, PromptMessages, ResourceContents, Rows
from .summaries import Summarize, SummaryRequest

__all__ = [
    "AgentMemory",
    "Annotations",
    "AsyncAgentMemory",
    "Clock",
    "Durability",
    "Embed",
    "EmbeddingRequest",
    "FollowUp",
    "Limits",
    "MemoryCallError",
    "MemoryOpenError",
    "Message",
    "Outcome",
    "Prompt",
    "PromptArgument",
    "PromptMessages",
    "Resource",
    "ResourceContents",
    "ResourceTemplate",
    "Rows",
    "Summarize",
    "SummaryRequest",
    "Tool",
    "ToolError",
    "WantedVector",
    "__version__",
    "open_async_memory",
    "open_memory",
]
