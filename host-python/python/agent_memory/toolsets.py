"""The inputs and outputs of the tools, and the settings of the toolsets.

Generated from the component's description.
"""

from __future__ import annotations

import os
from typing import Literal, TypedDict, Union

Path = Union[str, "os.PathLike[str]"]

#: The name that mounts a toolset; `all` mounts every one.
ToolsetName = Literal["sessions", "records", "layers", "stores", "files", "items", "memory", "all"]

#: A place with a database.
DatabasePlace = Literal["records", "layers", "items"]


class _StartSessionInput(TypedDict):
    """The input of `start_session`."""

    #: The agent's name, the same in every session.
    agent_name: str


class StartSessionInput(_StartSessionInput, total=False):
    """The input of `start_session`."""

    #: The absolute path of the repository's top level. Leave it out if only one is granted.
    repo_root: str

    #: The day of the session, `YYYY-MM-DD`. Leave it out for today.
    date: str


class StartSessionOutput(TypedDict):
    """The output of `start_session`."""

    #: The log's path, relative to `repo_root`.
    session_file: str

    #: Whether this call created the log.
    created: bool

    #: The id in the log's header.
    session_id: str

    #: What differs between the log, its schema and this program, and a date in the future.
    warnings: list[str]


class _AppendEntryInput(TypedDict):
    """The input of `append_entry`."""

    #: The agent's name, the same in every session.
    agent_name: str

    #: The section's name, exactly: `Context`, `Discussion Summary`, `Decisions`, `Open Questions` or `Next Actions`, unless the agent's `_schema.md` names others.
    section: str

    #: Markdown, best one list item or paragraph. `- [x]` with the text of an earlier question or action closes it. No headings of level 1 or 2; code fences and HTML closed.
    content: str


class AppendEntryInput(_AppendEntryInput, total=False):
    """The input of `append_entry`."""

    #: The absolute path of the repository's top level. Leave it out if only one is granted.
    repo_root: str

    #: The day of the session, `YYYY-MM-DD`. Leave it out for today.
    date: str


class AppendEntryOutput(TypedDict):
    """The output of `append_entry`."""

    #: The log's path, relative to `repo_root`.
    session_file: str

    #: The section that holds the entry.
    section: str

    #: What differs between the log, its schema and this program, and a heading above the entry.
    warnings: list[str]


_ReadSummaryInputFrom = TypedDict("_ReadSummaryInputFrom", {"from": "int"}, total=False)


class _ReadSummaryInput(_ReadSummaryInputFrom):
    """The input of `read_summary`."""

    #: The agent's name, the same in every session.
    agent_name: str


class ReadSummaryInput(_ReadSummaryInput, total=False):
    """The input of `read_summary`."""

    #: The absolute path of the repository's top level. Leave it out if only one is granted.
    repo_root: str

    #: The most characters of a page.
    limit: int


class _ReadSummaryOutput(TypedDict):
    """The output of `read_summary`."""

    #: The summary's path, relative to `repo_root`.
    summary_file: str

    #: Whether the file exists; otherwise `summary` is the template.
    exists: bool

    #: Markdown.
    summary: str

    #: Of the whole summary, for `update_summary`.
    version: str

    #: What differs between the agent's schema and this program, and which agents there are if the file does not exist.
    warnings: list[str]


class ReadSummaryOutput(_ReadSummaryOutput, total=False):
    """The output of `read_summary`."""

    #: For `from`, to read on; absent on the last page.
    next: int


class _UpdateSummaryInput(TypedDict):
    """The input of `update_summary`."""

    #: The agent's name, the same in every session.
    agent_name: str

    #: The section's name, exactly, such as `Key Knowledge`. One that is missing is added at the end.
    section: str

    #: `append` adds to the section, `replace` puts the content in place of what stands there, `remove` takes away a section that is empty.
    mode: Literal["append", "replace", "remove"]


class UpdateSummaryInput(_UpdateSummaryInput, total=False):
    """The input of `update_summary`."""

    #: The absolute path of the repository's top level. Leave it out if only one is granted.
    repo_root: str

    #: Markdown. No headings of level 1 or 2; code fences and HTML closed. Empty clears the section in mode `replace`. Empty in mode `remove`.
    content: str

    #: Instead of `content`, in mode `replace`: a passage that occurs once in the section.
    old_text: str

    #: Takes the place of `old_text`. Empty deletes it.
    new_text: str

    #: From `read_summary`: refuse if the summary has changed since.
    version: str


class _UpdateSummaryOutput(TypedDict):
    """The output of `update_summary`."""

    #: The summary's path, relative to `repo_root`.
    summary_file: str

    #: The section that was changed.
    section: str

    #: How it was changed.
    mode: Literal["append", "replace", "remove"]

    #: Whether this call added the section.
    created_section: bool


class UpdateSummaryOutput(_UpdateSummaryOutput, total=False):
    """The output of `update_summary`."""

    #: An existing section whose name is near that of the added one.
    warnings: list[str]


class _ListSessionsInput(TypedDict):
    """The input of `list_sessions`."""

    #: The agent's name, the same in every session.
    agent_name: str


class ListSessionsInput(_ListSessionsInput, total=False):
    """The input of `list_sessions`."""

    #: The absolute path of the repository's top level. Leave it out if only one is granted.
    repo_root: str

    #: How many at most. Leave it out for all.
    limit: int


class _ListSessionsOutput(TypedDict):
    """The output of `list_sessions`."""

    #: The names of the logs, `YYYY-MM-DD.md`, which are in the agent's directory `logs`.
    sessions: list[str]


class ListSessionsOutput(_ListSessionsOutput, total=False):
    """The output of `list_sessions`."""

    #: Which logs are left out: those that are no files, and the oldest of a long list.
    warnings: list[str]

    #: Where to look instead, if there are none.
    note: str


_ReadSessionInputFrom = TypedDict("_ReadSessionInputFrom", {"from": "int"}, total=False)


class _ReadSessionInput(_ReadSessionInputFrom):
    """The input of `read_session`."""

    #: The agent's name, the same in every session.
    agent_name: str


class ReadSessionInput(_ReadSessionInput, total=False):
    """The input of `read_session`."""

    #: The absolute path of the repository's top level. Leave it out if only one is granted.
    repo_root: str

    #: The day of the session, `YYYY-MM-DD`. Leave it out for today.
    date: str

    #: Only this section.
    section: str

    #: The most characters of a page.
    limit: int


class _ReadSessionOutput(TypedDict):
    """The output of `read_session`."""

    #: The log's path, relative to `repo_root`.
    session_file: str

    #: The line of the log at which `text` begins.
    line: int

    #: Markdown.
    text: str

    #: The version of the whole log.
    version: str

    #: What differs between the log, its schema and this program.
    warnings: list[str]


class ReadSessionOutput(_ReadSessionOutput, total=False):
    """The output of `read_session`."""

    #: For `from`, to read on; absent on the last page.
    next: int


class ValidateInput(TypedDict, total=False):
    """The input of `validate`."""

    #: The absolute path of the repository's top level. Leave it out if only one is granted.
    repo_root: str

    #: Where the last call stopped. Leave it out to begin.
    cursor: str


class ValidateOutputFindings(TypedDict):
    """A part of the class below."""

    #: The file's path, relative to `repo_root`.
    file: str

    #: Counted from 1.
    line: int

    #: `error` or `warning`.
    severity: Literal["error", "warning"]

    #: What is wrong, and what to do.
    message: str


class _ValidateOutput(TypedDict):
    """The output of `validate`."""

    #: What was found on this page, in the order of the files and their lines.
    findings: list[ValidateOutputFindings]

    #: How many files have been examined, this page and those before it.
    done: int

    #: How many files there are.
    total: int


class ValidateOutput(_ValidateOutput, total=False):
    """The output of `validate`."""

    #: For the next call; absent after the last page.
    cursor: str


class RecallContextInput(TypedDict, total=False):
    """The input of `recall_context`."""

    #: Default `default`.
    agent_id: str

    #: At most.
    limit: int


class RecallContextOutputMemories(TypedDict, total=False):
    """A part of the class below."""

    number: int

    id: str

    created_at: str

    updated_at: str

    accessed_at: str

    access_count: int

    version: str


class RecallContextOutput(TypedDict):
    """The output of `recall_context`."""

    context: str

    memories: list[RecallContextOutputMemories]

    count: int

    total: int

    warnings: list[str]


class _RecordsAddCoreMemoryInput(TypedDict):
    """The input of `records_add_core_memory`."""

    #: The memory.
    content: str


class RecordsAddCoreMemoryInput(_RecordsAddCoreMemoryInput, total=False):
    """The input of `records_add_core_memory`."""

    #: Default `default`.
    agent_id: str

    #: Such as `preference`.
    category: str

    #: To find it by.
    tags: list[str]

    #: Its weight.
    importance: Literal["low", "medium", "high"]


class _RecordsAddCoreMemoryOutputMemory(TypedDict):
    """A part of the class below."""

    id: str

    type: str

    content: str

    created_at: str

    updated_at: str

    accessed_at: str

    access_count: int

    tags: list[str]

    importance: str

    archived: bool


class RecordsAddCoreMemoryOutputMemory(_RecordsAddCoreMemoryOutputMemory, total=False):
    """A part of the class below."""

    category: str


class _RecordsAddCoreMemoryOutput(TypedDict):
    """The output of `records_add_core_memory`."""

    id: str

    created: bool

    memory: RecordsAddCoreMemoryOutputMemory


class RecordsAddCoreMemoryOutput(_RecordsAddCoreMemoryOutput, total=False):
    """The output of `records_add_core_memory`."""

    note: str


class _AddRecentLearningInput(TypedDict):
    """The input of `add_recent_learning`."""

    #: The memory.
    content: str


class AddRecentLearningInput(_AddRecentLearningInput, total=False):
    """The input of `add_recent_learning`."""

    #: Default `default`.
    agent_id: str

    #: Such as `insight`.
    category: str

    #: To find it by.
    tags: list[str]

    #: Its weight.
    importance: Literal["low", "medium", "high"]


class _AddRecentLearningOutputMemory(TypedDict):
    """A part of the class below."""

    id: str

    type: str

    content: str

    created_at: str

    updated_at: str

    accessed_at: str

    access_count: int

    tags: list[str]

    importance: str

    archived: bool


class AddRecentLearningOutputMemory(_AddRecentLearningOutputMemory, total=False):
    """A part of the class below."""

    category: str


class _AddRecentLearningOutput(TypedDict):
    """The output of `add_recent_learning`."""

    id: str

    created: bool

    memory: AddRecentLearningOutputMemory


class AddRecentLearningOutput(_AddRecentLearningOutput, total=False):
    """The output of `add_recent_learning`."""

    note: str


class _AddRecentTaskInput(TypedDict):
    """The input of `add_recent_task`."""

    #: The memory.
    content: str


class AddRecentTaskInput(_AddRecentTaskInput, total=False):
    """The input of `add_recent_task`."""

    #: Default `default`.
    agent_id: str

    #: Such as `completed`.
    category: str

    #: To find it by.
    tags: list[str]

    #: Its weight.
    importance: Literal["low", "medium", "high"]


class _AddRecentTaskOutputMemory(TypedDict):
    """A part of the class below."""

    id: str

    type: str

    content: str

    created_at: str

    updated_at: str

    accessed_at: str

    access_count: int

    tags: list[str]

    importance: str

    archived: bool


class AddRecentTaskOutputMemory(_AddRecentTaskOutputMemory, total=False):
    """A part of the class below."""

    category: str


class _AddRecentTaskOutput(TypedDict):
    """The output of `add_recent_task`."""

    id: str

    created: bool

    memory: AddRecentTaskOutputMemory


class AddRecentTaskOutput(_AddRecentTaskOutput, total=False):
    """The output of `add_recent_task`."""

    note: str


class StoreMemoryInput(TypedDict, total=False):
    """The input of `store_memory`."""

    #: `core` fact, `learning` lesson, or finished `task`.
    type: Literal["core", "learning", "task"]

    #: The memory.
    content: str

    #: Default `default`.
    agent_id: str

    #: Such as `preference`.
    category: str

    #: To find it by.
    tags: list[str]

    #: `medium` if new.
    importance: Literal["low", "medium", "high"]

    #: The memory to update.
    id: str

    #: From a read: refuse if changed.
    version: str


class _StoreMemoryOutputMemory(TypedDict):
    """A part of the class below."""

    id: str

    type: str

    content: str

    created_at: str

    updated_at: str

    accessed_at: str

    access_count: int

    tags: list[str]

    importance: str

    archived: bool


class StoreMemoryOutputMemory(_StoreMemoryOutputMemory, total=False):
    """A part of the class below."""

    category: str


class _StoreMemoryOutput(TypedDict):
    """The output of `store_memory`."""

    id: str

    created: bool

    memory: StoreMemoryOutputMemory


class StoreMemoryOutput(_StoreMemoryOutput, total=False):
    """The output of `store_memory`."""

    note: str


class QueryMemoriesInput(TypedDict, total=False):
    """The input of `query_memories`."""

    #: Default `default`.
    agent_id: str

    #: Only these.
    ids: list[str]

    #: Its type.
    type: Literal["core", "learning", "task"]

    #: All of these.
    tags: list[str]

    #: Parts of words, each in content, category or tags.
    search: str

    #: Its weight.
    importance: Literal["low", "medium", "high"]

    #: Exactly this.
    category: str

    #: Archived ones, too.
    archived: bool

    #: At most.
    limit: int

    #: How many to skip.
    offset: int

    #: Ties: the newest first.
    sort_by: Literal["created_at", "updated_at", "accessed_at", "importance", "access_count"]

    #: `desc`: high first.
    sort_order: Literal["asc", "desc"]


class _QueryMemoriesOutputMemories(TypedDict):
    """A part of the class below."""

    id: str

    type: str

    content: str

    created_at: str

    updated_at: str

    accessed_at: str

    access_count: int

    tags: list[str]

    importance: str

    archived: bool

    version: str


class QueryMemoriesOutputMemories(_QueryMemoriesOutputMemories, total=False):
    """A part of the class below."""

    category: str


class _QueryMemoriesOutput(TypedDict):
    """The output of `query_memories`."""

    memories: list[QueryMemoriesOutputMemories]

    total: int

    limit: int

    offset: int

    has_more: bool


class QueryMemoriesOutput(_QueryMemoriesOutput, total=False):
    """The output of `query_memories`."""

    note: str

    warnings: list[str]


class _RecordsUpdateMemoryInput(TypedDict):
    """The input of `records_update_memory`."""

    #: Its id.
    id: str


class RecordsUpdateMemoryInput(_RecordsUpdateMemoryInput, total=False):
    """The input of `records_update_memory`."""

    #: Default `default`.
    agent_id: str

    #: The new text.
    content: str

    #: Empty removes it.
    category: str

    #: All tags.
    tags: list[str]

    #: Its weight.
    importance: Literal["low", "medium", "high"]

    #: Hides it from queries.
    archived: bool

    #: From a read: refuse if changed.
    version: str


class _RecordsUpdateMemoryOutputMemory(TypedDict):
    """A part of the class below."""

    id: str

    type: str

    content: str

    created_at: str

    updated_at: str

    accessed_at: str

    access_count: int

    tags: list[str]

    importance: str

    archived: bool

    version: str


class RecordsUpdateMemoryOutputMemory(_RecordsUpdateMemoryOutputMemory, total=False):
    """A part of the class below."""

    category: str


class _RecordsUpdateMemoryOutput(TypedDict):
    """The output of `records_update_memory`."""

    memory: RecordsUpdateMemoryOutputMemory

    updated_fields: list[str]


class RecordsUpdateMemoryOutput(_RecordsUpdateMemoryOutput, total=False):
    """The output of `records_update_memory`."""

    note: str


class _DeleteMemoryInput(TypedDict):
    """The input of `delete_memory`."""

    #: Its id.
    id: str


class DeleteMemoryInput(_DeleteMemoryInput, total=False):
    """The input of `delete_memory`."""

    #: Default `default`.
    agent_id: str

    #: Delete instead of archive.
    permanent: bool


class DeleteMemoryOutput(TypedDict, total=False):
    """The output of `delete_memory`."""

    success: bool

    action: str

    id: str

    note: str


class GetMemoryStatsInput(TypedDict, total=False):
    """The input of `get_memory_stats`."""

    #: Default `default`.
    agent_id: str


class GetMemoryStatsOutputByType(TypedDict, total=False):
    """A part of the class below."""

    core: int

    learning: int

    task: int


class GetMemoryStatsOutputByImportance(TypedDict, total=False):
    """A part of the class below."""

    high: int

    medium: int

    low: int


class _GetMemoryStatsOutputMostAccessed(TypedDict):
    """A part of the class below."""

    id: str

    type: str

    content: str

    created_at: str

    updated_at: str

    accessed_at: str

    access_count: int

    tags: list[str]

    importance: str

    archived: bool


class GetMemoryStatsOutputMostAccessed(_GetMemoryStatsOutputMostAccessed, total=False):
    """A part of the class below."""

    category: str


class GetMemoryStatsOutputTopTags(TypedDict, total=False):
    """A part of the class below."""

    tag: str

    count: int


class _GetMemoryStatsOutput(TypedDict):
    """The output of `get_memory_stats`."""

    total_memories: int

    by_type: GetMemoryStatsOutputByType

    by_importance: GetMemoryStatsOutputByImportance

    archived_count: int

    total_storage_kb: float

    oldest_memory: str | None

    newest_memory: str | None

    most_accessed: GetMemoryStatsOutputMostAccessed | None

    top_tags: list[GetMemoryStatsOutputTopTags]


class GetMemoryStatsOutput(_GetMemoryStatsOutput, total=False):
    """The output of `get_memory_stats`."""

    note: str

    warnings: list[str]


class _ConvertRecordsInput(TypedDict):
    """The input of `convert_records`."""

    #: The format to take them to.
    to: Literal["json", "sqlite"]


class ConvertRecordsInput(_ConvertRecordsInput, total=False):
    """The input of `convert_records`."""

    #: Default `default`.
    agent_id: str


class _ConvertRecordsOutput(TypedDict):
    """The output of `convert_records`."""

    #: Whether they were in the other format.
    converted: bool

    #: How many records there are.
    records: int


class ConvertRecordsOutput(_ConvertRecordsOutput, total=False):
    """The output of `convert_records`."""

    #: That the call named no agent.
    note: str


class ExportRecordsInput(TypedDict, total=False):
    """The input of `export_records`."""

    #: Default `default`.
    agent_id: str

    #: `jsonl`, a record a line, or `json`, the document of the JSON format.
    format: Literal["jsonl", "json"]

    #: Where the last call stopped.
    cursor: str


class _ExportRecordsOutput(TypedDict):
    """The output of `export_records`."""

    text: str

    #: Records of this page.
    count: int

    #: Records of the agent.
    total: int


class ExportRecordsOutput(_ExportRecordsOutput, total=False):
    """The output of `export_records`."""

    cursor: str

    #: Records that the text lacks, because they cannot be read.
    warnings: list[str]


class _ImportRecordsInput(TypedDict):
    """The input of `import_records`."""

    #: Records as JSON Lines, or a document of the JSON format.
    records: str


class ImportRecordsInput(_ImportRecordsInput, total=False):
    """The input of `import_records`."""

    #: Default `default`.
    agent_id: str

    #: What becomes of a record whose id is taken.
    on_conflict: Literal["refuse", "skip", "replace"]

    #: The number of the first line.
    first_line: int

    #: Where the last call with these `records` stopped.
    cursor: str


class _ImportRecordsOutput(TypedDict):
    """The output of `import_records`."""

    #: Records of this page that are new.
    added: int

    replaced: int

    skipped: int


class ImportRecordsOutput(_ImportRecordsOutput, total=False):
    """The output of `import_records`."""

    #: For the next call; absent after the last page.
    cursor: str

    #: That the call named no agent.
    note: str


class _ArchiveMemoriesInput(TypedDict):
    """The input of `archive_memories`."""

    #: Days since a memory was last created, changed or recalled.
    older_than_days: int


class ArchiveMemoriesInput(_ArchiveMemoriesInput, total=False):
    """The input of `archive_memories`."""

    #: Default `default`.
    agent_id: str

    #: Only these.
    type: Literal["core", "learning", "task"]

    #: Where the last call stopped.
    cursor: str


class _ArchiveMemoriesOutput(TypedDict):
    """The output of `archive_memories`."""

    #: Memories that this call archived.
    archived: int


class ArchiveMemoriesOutput(_ArchiveMemoriesOutput, total=False):
    """The output of `archive_memories`."""

    #: For the next call; absent after the last page.
    cursor: str

    #: That the call named no agent.
    note: str

    warnings: list[str]


class GetMemorySummaryInput(TypedDict):
    """The input of `get_memory_summary`."""

    #: The agent, such as `tdd-implementer`, `project-manager`, `value-chain-expert` or `product-requirements`.
    agent_id: str


class GetMemorySummaryOutputCurrentTask(TypedDict):
    """A part of the class below."""

    task: str

    started_at: str | None

    updated_at: str | None


class GetMemorySummaryOutputCoreMemoriesMemories(TypedDict):
    """A part of the class below."""

    id: int

    memory: str

    created_at: str | None


class GetMemorySummaryOutputCoreMemories(TypedDict):
    """A part of the class below."""

    count: int

    memories: list[GetMemorySummaryOutputCoreMemoriesMemories]


class GetMemorySummaryOutputRecentMemoriesMemories(TypedDict):
    """A part of the class below."""

    id: int

    memory: str

    created_at: str | None


class GetMemorySummaryOutputRecentMemories(TypedDict):
    """A part of the class below."""

    count: int

    memories: list[GetMemorySummaryOutputRecentMemoriesMemories]


class GetMemorySummaryOutputEpisodicMemoriesMemories(TypedDict):
    """A part of the class below."""

    id: int

    memory: str

    tags: list[str]

    created_at: str | None


class GetMemorySummaryOutputEpisodicMemories(TypedDict):
    """A part of the class below."""

    count: int

    memories: list[GetMemorySummaryOutputEpisodicMemoriesMemories]


class GetMemorySummaryOutputMemoryCompostSummaries(TypedDict):
    """A part of the class below."""

    id: int

    summary: str

    #: How many memories it sums up.
    original_count: int

    archived_at: str | None


class GetMemorySummaryOutputMemoryCompost(TypedDict):
    """A part of the class below."""

    count: int

    summaries: list[GetMemorySummaryOutputMemoryCompostSummaries]


class _GetMemorySummaryOutput(TypedDict):
    """The output of `get_memory_summary`."""

    text: str

    current_task: GetMemorySummaryOutputCurrentTask | None

    #: `count`: all of the layer.
    core_memories: GetMemorySummaryOutputCoreMemories

    #: `count`: all of the layer.
    recent_memories: GetMemorySummaryOutputRecentMemories

    episodic_memories: GetMemorySummaryOutputEpisodicMemories

    memory_compost: GetMemorySummaryOutputMemoryCompost


class GetMemorySummaryOutput(_GetMemorySummaryOutput, total=False):
    """The output of `get_memory_summary`."""

    warnings: list[str]


class LayersAddCoreMemoryInput(TypedDict):
    """The input of `layers_add_core_memory`."""

    #: The agent, such as `tdd-implementer`, `project-manager`, `value-chain-expert` or `product-requirements`.
    agent_id: str

    #: One short sentence.
    memory: str


class LayersAddCoreMemoryOutput(TypedDict):
    """The output of `layers_add_core_memory`."""

    id: int

    #: False where the agent had it already.
    created: bool

    warnings: list[str]


class AddRecentMemoryInput(TypedDict):
    """The input of `add_recent_memory`."""

    #: The agent.
    agent_id: str

    #: One short sentence.
    memory: str


class _AddRecentMemoryOutput(TypedDict):
    """The output of `add_recent_memory`."""

    id: int

    created: bool

    summarized: bool

    #: A model is summarising them.
    summary_pending: bool

    #: The recent memories wait for a summary by the agent.
    needs_summary: bool

    warnings: list[str]


class AddRecentMemoryOutput(_AddRecentMemoryOutput, total=False):
    """The output of `add_recent_memory`."""

    compost_id: int

    note: str


class SetCurrentTaskInput(TypedDict):
    """The input of `set_current_task`."""

    #: The agent.
    agent_id: str

    #: One short sentence, or empty for no task.
    task: str


class _SetCurrentTaskOutput(TypedDict):
    """The output of `set_current_task`."""

    #: Whether there is another task than before.
    created: bool

    started_at: str | None

    updated_at: str | None

    warnings: list[str]


class SetCurrentTaskOutput(_SetCurrentTaskOutput, total=False):
    """The output of `set_current_task`."""

    #: The episode that the task before became.
    episode_id: int


class _AddEpisodicMemoryInput(TypedDict):
    """The input of `add_episodic_memory`."""

    #: The agent.
    agent_id: str

    #: One short sentence.
    memory: str


class AddEpisodicMemoryInput(_AddEpisodicMemoryInput, total=False):
    """The input of `add_episodic_memory`."""

    #: To find it by; no commas.
    tags: list[str]


class AddEpisodicMemoryOutput(TypedDict):
    """The output of `add_episodic_memory`."""

    id: int

    created: bool

    warnings: list[str]


_GetCoreMemoriesInputFrom = TypedDict("_GetCoreMemoriesInputFrom", {"from": "int"}, total=False)


class _GetCoreMemoriesInput(_GetCoreMemoriesInputFrom):
    """The input of `get_core_memories`."""

    #: The agent.
    agent_id: str


class GetCoreMemoriesInput(_GetCoreMemoriesInput, total=False):
    """The input of `get_core_memories`."""

    #: How many at most.
    limit: int


class GetCoreMemoriesOutputMemories(TypedDict):
    """A part of the class below."""

    id: int

    memory: str

    created_at: str | None


class _GetCoreMemoriesOutput(TypedDict):
    """The output of `get_core_memories`."""

    memories: list[GetCoreMemoriesOutputMemories]

    count: int


class GetCoreMemoriesOutput(_GetCoreMemoriesOutput, total=False):
    """The output of `get_core_memories`."""

    next: int

    note: str

    warnings: list[str]


_GetRecentMemoriesInputFrom = TypedDict("_GetRecentMemoriesInputFrom", {"from": "int"}, total=False)


class _GetRecentMemoriesInput(_GetRecentMemoriesInputFrom):
    """The input of `get_recent_memories`."""

    #: The agent.
    agent_id: str


class GetRecentMemoriesInput(_GetRecentMemoriesInput, total=False):
    """The input of `get_recent_memories`."""

    #: How many at most.
    limit: int


class GetRecentMemoriesOutputMemories(TypedDict):
    """A part of the class below."""

    id: int

    memory: str

    created_at: str | None


class _GetRecentMemoriesOutput(TypedDict):
    """The output of `get_recent_memories`."""

    memories: list[GetRecentMemoriesOutputMemories]

    count: int


class GetRecentMemoriesOutput(_GetRecentMemoriesOutput, total=False):
    """The output of `get_recent_memories`."""

    next: int

    note: str

    warnings: list[str]


class GetCurrentTaskInput(TypedDict):
    """The input of `get_current_task`."""

    #: The agent.
    agent_id: str


class _GetCurrentTaskOutput(TypedDict):
    """The output of `get_current_task`."""

    task: str | None

    started_at: str | None

    updated_at: str | None


class GetCurrentTaskOutput(_GetCurrentTaskOutput, total=False):
    """The output of `get_current_task`."""

    note: str

    warnings: list[str]


_SearchEpisodicMemoriesInputFrom = TypedDict("_SearchEpisodicMemoriesInputFrom", {"from": "int"}, total=False)


class _SearchEpisodicMemoriesInput(_SearchEpisodicMemoriesInputFrom):
    """The input of `search_episodic_memories`."""

    #: The agent.
    agent_id: str


class SearchEpisodicMemoriesInput(_SearchEpisodicMemoriesInput, total=False):
    """The input of `search_episodic_memories`."""

    #: Best one or two: each must occur in the memory or its tags, as a word or the beginning of one.
    keywords: str

    #: The first day or moment, such as `2025-01-20` or `2025-01-20T10:00:00Z`.
    from_date: str

    #: The last day or moment. Without an offset it is in the caller's time zone.
    to_date: str

    #: How many at most.
    limit: int

    #: Search summaries of recent memories, too.
    include_compost: bool


class SearchEpisodicMemoriesOutputMemories(TypedDict):
    """A part of the class below."""

    id: int

    memory: str

    tags: list[str]

    created_at: str | None


class SearchEpisodicMemoriesOutputCompost(TypedDict):
    """A part of the class below."""

    id: int

    summary: str

    #: How many memories it sums up.
    original_count: int

    archived_at: str | None


class _SearchEpisodicMemoriesOutput(TypedDict):
    """The output of `search_episodic_memories`."""

    memories: list[SearchEpisodicMemoriesOutputMemories]

    count: int


class SearchEpisodicMemoriesOutput(_SearchEpisodicMemoriesOutput, total=False):
    """The output of `search_episodic_memories`."""

    #: With `include_compost`.
    compost: list[SearchEpisodicMemoriesOutputCompost]

    next: int

    note: str

    warnings: list[str]


class DeleteCoreMemoryInput(TypedDict):
    """The input of `delete_core_memory`."""

    #: The agent.
    agent_id: str

    #: Its id, as `get_core_memories` gives it.
    memory_id: int


class DeleteCoreMemoryOutput(TypedDict):
    """The output of `delete_core_memory`."""

    id: int

    deleted: bool


class _ClearRecentMemoriesInput(TypedDict):
    """The input of `clear_recent_memories`."""

    #: The agent.
    agent_id: str


class ClearRecentMemoriesInput(_ClearRecentMemoriesInput, total=False):
    """The input of `clear_recent_memories`."""

    #: One or two sentences that stand for them.
    summary: str


class _ClearRecentMemoriesOutput(TypedDict):
    """The output of `clear_recent_memories`."""

    #: Recent memories that were moved.
    cleared: int

    warnings: list[str]


class ClearRecentMemoriesOutput(_ClearRecentMemoriesOutput, total=False):
    """The output of `clear_recent_memories`."""

    compost_id: int

    note: str


class _CopyCoreMemoriesInput(TypedDict):
    """The input of `copy_core_memories`."""

    #: The agent that has them.
    agent_id: str

    #: The agent that gets them.
    to_agent_id: str


class CopyCoreMemoriesInput(_CopyCoreMemoriesInput, total=False):
    """The input of `copy_core_memories`."""

    #: Only these; all where none are given.
    memory_ids: list[int]


class _CopyCoreMemoriesOutput(TypedDict):
    """The output of `copy_core_memories`."""

    copied: int

    #: The other agent had them already.
    skipped: int


class CopyCoreMemoriesOutput(_CopyCoreMemoriesOutput, total=False):
    """The output of `copy_core_memories`."""

    #: Where to look instead, if there are none.
    note: str

    #: About rows that were left out.
    warnings: list[str]


class _ExportLayersInput(TypedDict):
    """The input of `export_layers`."""

    #: The agent.
    agent_id: str


class ExportLayersInput(_ExportLayersInput, total=False):
    """The input of `export_layers`."""

    #: Where the last call stopped.
    cursor: str


class _ExportLayersOutput(TypedDict):
    """The output of `export_layers`."""

    text: str

    #: Entries of this page.
    count: int

    #: Entries of the agent.
    total: int


class ExportLayersOutput(_ExportLayersOutput, total=False):
    """The output of `export_layers`."""

    cursor: str

    #: About rows that were left out.
    warnings: list[str]


class _ImportLayersInput(TypedDict):
    """The input of `import_layers`."""

    #: Entries as JSON Lines.
    entries: str

    #: The agent.
    agent_id: str


class ImportLayersInput(_ImportLayersInput, total=False):
    """The input of `import_layers`."""

    #: Add to the memories that the agent has. Core memories that it has, and a task where it has one, are skipped.
    merge: bool

    #: The number of the first line.
    first_line: int

    #: Where the last call with these `entries` stopped.
    cursor: str


class _ImportLayersOutput(TypedDict):
    """The output of `import_layers`."""

    #: Entries of this page that are new.
    added: int

    skipped: int


class ImportLayersOutput(_ImportLayersOutput, total=False):
    """The output of `import_layers`."""

    #: For the next call; absent after the last page.
    cursor: str


class ForgetTextInput(TypedDict):
    """The input of `forget_text`."""

    #: The agent.
    agent_id: str

    #: Exactly as it stands there.
    text: str


class _ForgetTextOutput(TypedDict):
    """The output of `forget_text`."""

    #: Entries that had it.
    changed: int

    #: False where there are more of them: call again.
    is_done: bool


class ForgetTextOutput(_ForgetTextOutput, total=False):
    """The output of `forget_text`."""

    #: Where to look instead, if no entry had it.
    note: str


class _CortexGetRecentMemoriesInput(TypedDict):
    """The input of `cortex_get_recent_memories`."""

    #: Name of the store.
    store: str


class CortexGetRecentMemoriesInput(_CortexGetRecentMemoriesInput, total=False):
    """The input of `cortex_get_recent_memories`."""

    #: Only in this category and below it.
    category: str

    #: How many at most.
    limit: int

    #: Return expired ones, too.
    include_expired: bool


class _CortexGetRecentMemoriesOutputMemories(TypedDict):
    """A part of the class below."""

    path: str

    content: str

    updated_at: str | None

    token_estimate: int | None

    tags: list[str]


class CortexGetRecentMemoriesOutputMemories(_CortexGetRecentMemoriesOutputMemories, total=False):
    """A part of the class below."""

    #: For `from` of `get_memory`, to read on, if the content is cut.
    next: int


class _CortexGetRecentMemoriesOutput(TypedDict):
    """The output of `cortex_get_recent_memories`."""

    #: `all` for the whole store.
    category: str

    count: int

    memories: list[CortexGetRecentMemoriesOutputMemories]

    warnings: list[str]


class CortexGetRecentMemoriesOutput(_CortexGetRecentMemoriesOutput, total=False):
    """The output of `cortex_get_recent_memories`."""

    #: Where to look instead, if there is nothing.
    note: str


class _ListMemoriesInput(TypedDict):
    """The input of `list_memories`."""

    #: Name of the store.
    store: str


class ListMemoriesInput(_ListMemoriesInput, total=False):
    """The input of `list_memories`."""

    #: Left out: the root.
    category: str

    #: List all categories below it, too.
    recursive: bool

    #: List expired ones, too.
    include_expired: bool

    #: How many at most.
    limit: int

    #: From the last call, while it gives one.
    cursor: str


class ListMemoriesOutputMemories(TypedDict):
    """A part of the class below."""

    path: str

    token_estimate: int | None

    updated_at: str | None

    expires_at: str | None


class ListMemoriesOutputSubcategories(TypedDict):
    """A part of the class below."""

    path: str

    memory_count: int | None

    description: str | None


class _ListMemoriesOutput(TypedDict):
    """The output of `list_memories`."""

    #: `all` for the root.
    category: str

    count: int

    memories: list[ListMemoriesOutputMemories]

    subcategories: list[ListMemoriesOutputSubcategories]

    has_more: bool

    warnings: list[str]


class ListMemoriesOutput(_ListMemoriesOutput, total=False):
    """The output of `list_memories`."""

    cursor: str

    #: Where to look instead, if there is nothing.
    note: str


_GetMemoryInputFrom = TypedDict("_GetMemoryInputFrom", {"from": "int"}, total=False)


class _GetMemoryInput(_GetMemoryInputFrom):
    """The input of `get_memory`."""

    #: Name of the store.
    store: str

    #: `category/slug`.
    path: str


class GetMemoryInput(_GetMemoryInput, total=False):
    """The input of `get_memory`."""

    #: Read it even if it has expired.
    include_expired: bool

    #: The most characters of a page.
    limit: int


class GetMemoryOutputMetadata(TypedDict):
    """A part of the class below."""

    created_at: str | None

    updated_at: str | None

    tags: list[str]

    source: str | None

    expires_at: str | None

    citations: list[str]


class _GetMemoryOutput(TypedDict):
    """The output of `get_memory`."""

    path: str

    content: str

    #: To give to an update, which refuses if the memory has changed since.
    version: str

    metadata: GetMemoryOutputMetadata


class GetMemoryOutput(_GetMemoryOutput, total=False):
    """The output of `get_memory`."""

    #: For `from`, to read on; absent on the last page.
    next: int


class _AddMemoryInput(TypedDict):
    """The input of `add_memory`."""

    #: Name of the store.
    store: str

    #: `category/slug`: words of lower-case letters and digits, joined by `-`.
    path: str

    #: Markdown.
    content: str


class AddMemoryInput(_AddMemoryInput, total=False):
    """The input of `add_memory`."""

    #: Keywords.
    tags: list[str]

    #: A timestamp, or a date: the end of that day. In the caller's time zone if it has no offset.
    expires_at: str

    #: Sources, such as `src/main.rs:17` or a URL.
    citations: list[str]


class AddMemoryOutput(TypedDict):
    """The output of `add_memory`."""

    store: str

    path: str

    warnings: list[str]


class _StoresUpdateMemoryInput(TypedDict):
    """The input of `stores_update_memory`."""

    #: Name of the store.
    store: str

    #: `category/slug`.
    path: str


class StoresUpdateMemoryInput(_StoresUpdateMemoryInput, total=False):
    """The input of `stores_update_memory`."""

    #: The new Markdown.
    content: str

    #: Instead of `content`: a passage that occurs once.
    old_text: str

    #: Takes the place of `old_text`. Empty deletes it.
    new_text: str

    #: All tags.
    tags: list[str]

    #: As in `add_memory`.
    expires_at: str

    #: Remove the expiry.
    clear_expiry: bool

    #: All citations.
    citations: list[str]

    #: From `get_memory`: refuse if it has changed since.
    version: str


class StoresUpdateMemoryOutput(TypedDict):
    """The output of `stores_update_memory`."""

    store: str

    path: str

    warnings: list[str]


class MoveMemoryInput(TypedDict):
    """The input of `move_memory`."""

    #: Name of the store.
    store: str

    #: `category/slug`.
    from_path: str

    #: A path where no memory is.
    to_path: str


class MoveMemoryOutput(TypedDict):
    """The output of `move_memory`."""

    store: str

    #: The new path.
    path: str

    warnings: list[str]


class RemoveMemoryInput(TypedDict):
    """The input of `remove_memory`."""

    #: Name of the store.
    store: str

    #: `category/slug`.
    path: str


class RemoveMemoryOutput(TypedDict):
    """The output of `remove_memory`."""

    store: str

    path: str

    warnings: list[str]


class _PruneMemoriesInput(TypedDict):
    """The input of `prune_memories`."""

    #: Name of the store.
    store: str


class PruneMemoriesInput(_PruneMemoriesInput, total=False):
    """The input of `prune_memories`."""

    #: Only say what would be deleted.
    dry_run: bool

    #: From the last call, while it gives one.
    cursor: str


class PruneMemoriesOutputPruned(TypedDict):
    """A part of the class below."""

    path: str

    expires_at: str


class PruneMemoriesOutputWouldPrune(TypedDict):
    """A part of the class below."""

    path: str

    expires_at: str


class _PruneMemoriesOutput(TypedDict):
    """The output of `prune_memories`."""

    #: Files that were not looked at yet.
    remaining: int

    warnings: list[str]


class PruneMemoriesOutput(_PruneMemoriesOutput, total=False):
    """The output of `prune_memories`."""

    pruned_count: int

    pruned: list[PruneMemoriesOutputPruned]

    dry_run: bool

    would_prune_count: int

    would_prune: list[PruneMemoriesOutputWouldPrune]

    cursor: str


class _ReindexStoreInput(TypedDict):
    """The input of `reindex_store`."""

    #: Name of the store.
    store: str


class ReindexStoreInput(_ReindexStoreInput, total=False):
    """The input of `reindex_store`."""

    #: From the last call, while it gives one.
    cursor: str


class _ReindexStoreOutput(TypedDict):
    """The output of `reindex_store`."""

    store: str

    #: The directory of the store.
    path: str

    #: Files that were not looked at yet.
    remaining: int

    warnings: list[str]


class ReindexStoreOutput(_ReindexStoreOutput, total=False):
    """The output of `reindex_store`."""

    cursor: str


class GetMemoryFileInput(TypedDict):
    """The input of `get_memory_file`."""

    #: Name of the store.
    store: str

    #: `category/slug`.
    path: str


class GetMemoryFileOutput(TypedDict):
    """The output of `get_memory_file`."""

    path: str

    text: str

    #: For `put_memory_file`.
    version: str


class _PutMemoryFileInput(TypedDict):
    """The input of `put_memory_file`."""

    #: Name of the store. A missing one is created for a new memory.
    store: str

    #: `category/slug`.
    path: str

    #: Front matter and Markdown.
    text: str


class PutMemoryFileInput(_PutMemoryFileInput, total=False):
    """The input of `put_memory_file`."""

    #: What `get_memory_file` gave. Left out: there must be no memory.
    version: str


class PutMemoryFileOutput(TypedDict):
    """The output of `put_memory_file`."""

    store: str

    path: str

    warnings: list[str]


class _PlanImportInput(TypedDict):
    """The input of `plan_import`."""

    #: Name of the store.
    store: str

    #: The paths of all files of the folder, relative to it, with `/` between their segments.
    files: list[str]


class PlanImportInput(_PlanImportInput, total=False):
    """The input of `plan_import`."""

    #: Where the folder goes. Left out: the root.
    category: str


class PlanImportOutputMemories(TypedDict):
    """A part of the class below."""

    file: str

    path: str


class PlanImportOutputSkipped(TypedDict):
    """A part of the class below."""

    file: str

    reason: str


class PlanImportOutput(TypedDict):
    """The output of `plan_import`."""

    #: By `path`, which is the nearest valid spelling of each file.
    memories: list[PlanImportOutputMemories]

    #: Files that cannot be imported.
    skipped: list[PlanImportOutputSkipped]

    #: The number of files that are not Markdown.
    others: int


class ImportMemoriesInputFiles(TypedDict):
    """A part of the class below."""

    #: `category/slug`, as `plan_import` gives it.
    path: str

    #: Front matter and Markdown.
    text: str


class _ImportMemoriesInput(TypedDict):
    """The input of `import_memories`."""

    #: Name of the store.
    store: str

    #: The files. Their texts have at most 2 MiB together, unless there is only one.
    files: list[ImportMemoriesInputFiles]


class ImportMemoriesInput(_ImportMemoriesInput, total=False):
    """The input of `import_memories`."""

    #: If the memory at a path has another text: `skip` keeps it, `replace` writes the file's text, and `refuse` fails the whole call.
    on_conflict: Literal["skip", "replace", "refuse"]

    #: Only say what would be done.
    dry_run: bool


class _ImportMemoriesOutputFiles(TypedDict):
    """A part of the class below."""

    path: str

    #: `added`, `replaced`, `unchanged` (it has this text) or `skipped`.
    outcome: str


class ImportMemoriesOutputFiles(_ImportMemoriesOutputFiles, total=False):
    """A part of the class below."""

    #: Why it was skipped.
    reason: str


class ImportMemoriesOutput(TypedDict):
    """The output of `import_memories`."""

    #: In the order of the input.
    files: list[ImportMemoriesOutputFiles]

    warnings: list[str]


class _ViewMemoryFileInput(TypedDict):
    """The input of `view_memory_file`."""

    #: The file or directory, such as `/memories`.
    path: str


class ViewMemoryFileInput(_ViewMemoryFileInput, total=False):
    """The input of `view_memory_file`."""

    #: Of a file, the first and the last line to show; -1 is the end.
    view_range: list[int]


class ViewMemoryFileOutput(TypedDict):
    """The output of `view_memory_file`."""

    text: str


class CreateMemoryFileInput(TypedDict):
    """The input of `create_memory_file`."""

    #: Its path below `/memories`.
    path: str

    #: The whole text, kept byte for byte.
    file_text: str


class CreateMemoryFileOutput(TypedDict):
    """The output of `create_memory_file`."""

    text: str


class _StrReplaceMemoryFileInput(TypedDict):
    """The input of `str_replace_memory_file`."""

    #: The file.
    path: str

    #: Exactly as in the file, with its spaces and line breaks, without line numbers.
    old_str: str


class StrReplaceMemoryFileInput(_StrReplaceMemoryFileInput, total=False):
    """The input of `str_replace_memory_file`."""

    #: Leave it out to delete the text.
    new_str: str


class StrReplaceMemoryFileOutput(TypedDict):
    """The output of `str_replace_memory_file`."""

    text: str


class InsertMemoryFileInput(TypedDict):
    """The input of `insert_memory_file`."""

    #: The file.
    path: str

    #: The number of the line after which the text goes; 0 is before the first line.
    insert_line: int

    #: One line or several.
    insert_text: str


class InsertMemoryFileOutput(TypedDict):
    """The output of `insert_memory_file`."""

    text: str


class DeleteMemoryFileInput(TypedDict):
    """The input of `delete_memory_file`."""

    #: The file or directory.
    path: str


class DeleteMemoryFileOutput(TypedDict):
    """The output of `delete_memory_file`."""

    text: str


class RenameMemoryFileInput(TypedDict):
    """The input of `rename_memory_file`."""

    #: The file or directory.
    old_path: str

    #: Its new path, where nothing may be.
    new_path: str


class RenameMemoryFileOutput(TypedDict):
    """The output of `rename_memory_file`."""

    text: str


class SearchItemsInput(TypedDict, total=False):
    """The input of `search_items`."""

    #: The labels that the namespaces begin with. Empty: all namespaces.
    namespace_prefix: list[str]

    #: A question or some words.
    query: str

    #: The values of fields, such as `{"kind": "note", "size": {"$gte": 3}}`. Operators: `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte`, `$in`, `$nin`.
    filter: dict[str, object]

    #: How many at most.
    limit: int

    #: How many to skip.
    offset: int


class _SearchItemsOutputItems(TypedDict):
    """A part of the class below."""

    namespace: list[str]

    key: str

    value: dict[str, object]

    created_at: str

    updated_at: str


class SearchItemsOutputItems(_SearchItemsOutputItems, total=False):
    """A part of the class below."""

    expires_at: str

    score: float


class _SearchItemsOutput(TypedDict):
    """The output of `search_items`."""

    items: list[SearchItemsOutputItems]


class SearchItemsOutput(_SearchItemsOutput, total=False):
    """The output of `search_items`."""

    note: str


class GetItemInput(TypedDict):
    """The input of `get_item`."""

    #: Its labels.
    namespace: list[str]

    #: Its key.
    key: str


class _GetItemOutputItem(TypedDict):
    """A part of the class below."""

    namespace: list[str]

    key: str

    value: dict[str, object]

    created_at: str

    updated_at: str


class GetItemOutputItem(_GetItemOutputItem, total=False):
    """A part of the class below."""

    expires_at: str

    score: float


class GetItemOutput(TypedDict, total=False):
    """The output of `get_item`."""

    item: GetItemOutputItem

    note: str


class _PutItemInput(TypedDict):
    """The input of `put_item`."""

    #: Labels from the general to the special, such as `["users", "ada"]`, without periods.
    namespace: list[str]

    #: Its key in the namespace.
    key: str

    #: The object.
    value: dict[str, object]


class PutItemInput(_PutItemInput, total=False):
    """The input of `put_item`."""

    #: The fields that a search reads, such as `title` or `parts[*].text`. All if left out, none if empty.
    index: list[str]

    #: How many seconds the item lives.
    ttl_seconds: int


class _PutItemOutput(TypedDict):
    """The output of `put_item`."""

    is_new: bool


class PutItemOutput(_PutItemOutput, total=False):
    """The output of `put_item`."""

    expires_at: str


class DeleteItemInput(TypedDict):
    """The input of `delete_item`."""

    #: Its labels.
    namespace: list[str]

    #: Its key.
    key: str


class DeleteItemOutput(TypedDict):
    """The output of `delete_item`."""

    deleted: bool


class ListNamespacesInput(TypedDict, total=False):
    """The input of `list_namespaces`."""

    #: Only namespaces that begin with these labels; `*` is any label.
    prefix: list[str]

    #: Only namespaces that end with these labels; `*` is any label.
    suffix: list[str]

    #: The most labels of a namespace; longer ones are cut.
    max_depth: int

    #: How many at most.
    limit: int

    #: How many to skip.
    offset: int


class _ListNamespacesOutput(TypedDict):
    """The output of `list_namespaces`."""

    namespaces: list[list[str]]


class ListNamespacesOutput(_ListNamespacesOutput, total=False):
    """The output of `list_namespaces`."""

    note: str


class _BatchItemsInputOperationsPut(TypedDict):
    """A part of the class below."""

    #: Labels from the general to the special, such as `["users", "ada"]`, without periods.
    namespace: list[str]

    #: Its key in the namespace.
    key: str

    #: The object.
    value: dict[str, object]


class BatchItemsInputOperationsPut(_BatchItemsInputOperationsPut, total=False):
    """A part of the class below."""

    #: The fields that a search reads, such as `title` or `parts[*].text`. All if left out, none if empty.
    index: list[str]

    #: How many seconds the item lives.
    ttl_seconds: int


class BatchItemsInputOperationsDelete(TypedDict):
    """A part of the class below."""

    #: Its labels.
    namespace: list[str]

    #: Its key.
    key: str


class BatchItemsInputOperationsGet(TypedDict):
    """A part of the class below."""

    #: Its labels.
    namespace: list[str]

    #: Its key.
    key: str


class BatchItemsInputOperationsSearch(TypedDict, total=False):
    """A part of the class below."""

    #: The labels that the namespaces begin with. Empty: all namespaces.
    namespace_prefix: list[str]

    #: A question or some words.
    query: str

    #: The values of fields, such as `{"kind": "note", "size": {"$gte": 3}}`. Operators: `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte`, `$in`, `$nin`.
    filter: dict[str, object]

    #: How many at most.
    limit: int

    #: How many to skip.
    offset: int


class BatchItemsInputOperationsList(TypedDict, total=False):
    """A part of the class below."""

    #: Only namespaces that begin with these labels; `*` is any label.
    prefix: list[str]

    #: Only namespaces that end with these labels; `*` is any label.
    suffix: list[str]

    #: The most labels of a namespace; longer ones are cut.
    max_depth: int

    #: How many at most.
    limit: int

    #: How many to skip.
    offset: int


class BatchItemsInputOperations(TypedDict, total=False):
    """A part of the class below."""

    #: As `put_item`.
    put: BatchItemsInputOperationsPut

    #: As `delete_item`.
    delete: BatchItemsInputOperationsDelete

    #: As `get_item`.
    get: BatchItemsInputOperationsGet

    #: As `search_items`.
    search: BatchItemsInputOperationsSearch

    #: As `list_namespaces`.
    list: BatchItemsInputOperationsList

    #: Items that `get` or `search` finds begin their time to live anew.
    refresh_ttl: bool


class BatchItemsInput(TypedDict):
    """The input of `batch_items`."""

    #: Each has one of `put`, `delete`, `get`, `search` and `list`.
    operations: list[BatchItemsInputOperations]


class _BatchItemsOutputResultsItem(TypedDict):
    """A part of the class below."""

    namespace: list[str]

    key: str

    value: dict[str, object]

    created_at: str

    updated_at: str


class BatchItemsOutputResultsItem(_BatchItemsOutputResultsItem, total=False):
    """A part of the class below."""

    expires_at: str

    score: float


class _BatchItemsOutputResultsItems(TypedDict):
    """A part of the class below."""

    namespace: list[str]

    key: str

    value: dict[str, object]

    created_at: str

    updated_at: str


class BatchItemsOutputResultsItems(_BatchItemsOutputResultsItems, total=False):
    """A part of the class below."""

    expires_at: str

    score: float


class BatchItemsOutputResults(TypedDict, total=False):
    """A part of the class below."""

    item: BatchItemsOutputResultsItem

    items: list[BatchItemsOutputResultsItems]

    namespaces: list[list[str]]


class BatchItemsOutput(TypedDict):
    """The output of `batch_items`."""

    results: list[BatchItemsOutputResults]


class ResumeMemoryInput(TypedDict, total=False):
    """The input of `resume_memory`."""

    #: Your name in the memory. Leave it out if there is only one agent.
    agent: str

    #: Only this repository's session logs: its absolute path.
    repo_root: str

    #: The most tokens of `text`, of 4 characters each.
    budget: int


class _ResumeMemoryOutput(TypedDict):
    """The output of `resume_memory`."""

    text: str


class ResumeMemoryOutput(_ResumeMemoryOutput, total=False):
    """The output of `resume_memory`."""

    warnings: list[str]


class SearchMemoryInput(TypedDict, total=False):
    """The input of `search_memory`."""

    #: A question or some words.
    query: str

    #: Only what this agent kept, and all stores, memory files and items. Layers are searched only with it.
    agent: str

    #: Only this repository's session logs: its absolute path.
    repo_root: str

    #: Only these: `sessions`, `records`, `layers`, `stores`, `files`, `items`.
    toolsets: list[str]

    #: Created or changed on this day or later: a date or a timestamp.
    from_date: str

    #: Created or changed on this day or earlier.
    to_date: str

    #: Also archived and expired entries, and summaries of recent ones.
    include_archived: bool

    #: How many hits at most.
    limit: int


_SearchMemoryOutputHitsReadArgumentsFrom = TypedDict("_SearchMemoryOutputHitsReadArgumentsFrom", {"from": "int"}, total=False)


class SearchMemoryOutputHitsReadArguments(_SearchMemoryOutputHitsReadArgumentsFrom, total=False):
    """A part of the class below."""

    agent_id: str

    ids: list[str]

    archived: bool

    agent_name: str

    repo_root: str

    date: str

    store: str

    path: str

    namespace: list[str]

    key: str

    include_expired: bool

    from_date: str

    to_date: str

    include_compost: bool


class SearchMemoryOutputHitsRead(TypedDict):
    """A part of the class below."""

    tool: str

    #: Arguments of such a call. Each toolset gives those of its own tool.
    arguments: SearchMemoryOutputHitsReadArguments


class _SearchMemoryOutputHits(TypedDict):
    """A part of the class below."""

    toolset: str

    passage: str


class SearchMemoryOutputHits(_SearchMemoryOutputHits, total=False):
    """A part of the class below."""

    repo_root: str

    store: str

    agent: str

    id: int | str

    path: str

    section: str

    date: str

    updated_at: str

    #: Only without a word of the query: it means nearly the same, or is beside an entry with a word.
    found_by: Literal["meaning", "context"]

    #: A call of a tool that reads what the toolset keeps.
    read: SearchMemoryOutputHitsRead


class _SearchMemoryOutputSearched(TypedDict):
    """A part of the class below."""

    toolset: str

    entries: int


class SearchMemoryOutputSearched(_SearchMemoryOutputSearched, total=False):
    """A part of the class below."""

    repo_root: str

    store: str

    agent: str


class _SearchMemoryOutput(TypedDict):
    """The output of `search_memory`."""

    hits: list[SearchMemoryOutputHits]

    searched: list[SearchMemoryOutputSearched]


class SearchMemoryOutput(_SearchMemoryOutput, total=False):
    """The output of `search_memory`."""

    note: str

    warnings: list[str]


class ForgetMemoryInput(TypedDict, total=False):
    """The input of `forget_memory`."""

    #: Removed wherever it is stored exactly so, in the same case: `(removed)` takes its place. At least 4 characters.
    text: str

    #: The `id` of a hit of `search_memory`: this entry, whole. Of layers, with its `section` and `agent`.
    id: str

    #: The `path` of a hit: this page of a `store`, this memory file, this summary, or all entries of this log, whole.
    path: str

    #: With `id`: the `section` of the hit.
    section: str

    #: Only what this agent kept, and all stores, memory files and items.
    agent: str

    #: Of the session logs, only those of this repository: its absolute path.
    repo_root: str

    #: Of the stores, only this one.
    store: str

    #: Only tell what would be removed. Changes nothing.
    dry_run: bool


class _ForgetMemoryOutputFound(TypedDict):
    """A part of the class below."""

    toolset: str


class ForgetMemoryOutputFound(_ForgetMemoryOutputFound, total=False):
    """A part of the class below."""

    repo_root: str

    store: str

    agent: str

    id: int | str

    path: str

    section: str


class _ForgetMemoryOutput(TypedDict):
    """The output of `forget_memory`."""

    found: list[ForgetMemoryOutputFound]

    dry_run: bool

    remains: list[str]


class ForgetMemoryOutput(_ForgetMemoryOutput, total=False):
    """The output of `forget_memory`."""

    not_named: int

    left: list[str]


class DropVectorsInput(TypedDict, total=False):
    """The input of `drop_vectors`."""

    #: The name of the model, as the host gave it.
    model: str


class DropVectorsOutputModels(TypedDict):
    """A part of the class below."""

    name: str

    vectors: int


class _DropVectorsOutput(TypedDict):
    """The output of `drop_vectors`."""

    dropped: int

    models: list[DropVectorsOutputModels]


class DropVectorsOutput(_DropVectorsOutput, total=False):
    """The output of `drop_vectors`."""

    warnings: list[str]


class RecordsSettings(TypedDict, total=False):
    """The settings of `records`."""

    #: Directory of the records, made for its owner alone. Default: ~/.claude/agents/memories
    directory: Path

    #: How the records of an agent that has none yet are kept. Default: json; sqlite on a database server
    format: Literal["json", "sqlite"]

    #: The most bytes of an agent's records. Default: 16777216 in JSON, which takes no more
    max_bytes: int

    #: The most records of an agent. Default: 100000 in JSON
    max_memories: int


class LayersSettings(TypedDict, total=False):
    """The settings of `layers`."""

    #: Database of the layers. Default: agent_memory.db in the data directory
    file: Path

    #: Who summarises recent memories when there are too many. Default: auto
    summarizer: Literal["auto", "sampling", "anthropic", "openai", "built-in", "agent"]

    #: How many recent memories are summarised at once, 2 to 100. Default: 10
    recent_capacity: int


class StoresSettings(TypedDict, total=False):
    """The settings of `stores`."""

    #: File that names the stores and their directories. Default: stores.yaml in the data directory if one is given, else in the configuration directory
    registry: Path


class FilesSettings(TypedDict, total=False):
    """The settings of `files`."""

    #: Directory of the memory files, which models see as /memories; made for its owner alone. Default: files in the data directory
    directory: Path


class ItemsSettings(TypedDict, total=False):
    """The settings of `items`."""

    #: Database of the items. Default: items.db in the data directory
    file: Path


class MemorySettings(TypedDict, total=False):
    """The settings of `memory`."""

    #: Leave out the tools over all mounted toolsets: to search them, to resume with them, and to forget.
    leave_out: bool

    #: Find words of a question only, and no words that mean nearly the same.
    no_thesaurus: bool

    #: The language of a text that is too short to tell its own.
    language: Literal["english", "danish", "dutch", "french", "german", "italian", "norwegian", "portuguese", "spanish", "swedish"]


class ToolsetSettings(TypedDict, total=False):
    """The toolsets' own settings, by toolset."""

    records: RecordsSettings
    layers: LayersSettings
    stores: StoresSettings
    files: FilesSettings
    items: ItemsSettings
    memory: MemorySettings
