# Generated from the component's description.
from collections.abc import Mapping
from typing import Any, Literal, overload

from . import toolsets
from ._methods import AsyncFiles, AsyncItems, AsyncLayers, AsyncMemory, AsyncRecords, AsyncSessions, AsyncStores, Files, Items, Layers, Memory, Records, Sessions, Stores
from .outcome import Outcome

class Calls:
    def _ask(self, kind: str, *texts: str) -> Outcome[Any]: ...
    @property
    def sessions(self) -> Sessions: ...
    @property
    def records(self) -> Records: ...
    @property
    def layers(self) -> Layers: ...
    @property
    def stores(self) -> Stores: ...
    @property
    def files(self) -> Files: ...
    @property
    def items(self) -> Items: ...
    @property
    def memory(self) -> Memory: ...
    @overload
    def call(
        self,
        name: Literal["start_session"],
        arguments: toolsets.StartSessionInput,
    ) -> Outcome[toolsets.StartSessionOutput]: ...
    @overload
    def call(
        self,
        name: Literal["append_entry"],
        arguments: toolsets.AppendEntryInput,
    ) -> Outcome[toolsets.AppendEntryOutput]: ...
    @overload
    def call(
        self,
        name: Literal["read_summary"],
        arguments: toolsets.ReadSummaryInput,
    ) -> Outcome[toolsets.ReadSummaryOutput]: ...
    @overload
    def call(
        self,
        name: Literal["update_summary"],
        arguments: toolsets.UpdateSummaryInput,
    ) -> Outcome[toolsets.UpdateSummaryOutput]: ...
    @overload
    def call(
        self,
        name: Literal["list_sessions"],
        arguments: toolsets.ListSessionsInput,
    ) -> Outcome[toolsets.ListSessionsOutput]: ...
    @overload
    def call(
        self,
        name: Literal["read_session"],
        arguments: toolsets.ReadSessionInput,
    ) -> Outcome[toolsets.ReadSessionOutput]: ...
    @overload
    def call(
        self,
        name: Literal["validate"],
        arguments: toolsets.ValidateInput = ...,
    ) -> Outcome[toolsets.ValidateOutput]: ...
    @overload
    def call(
        self,
        name: Literal["recall_context"],
        arguments: toolsets.RecallContextInput = ...,
    ) -> Outcome[toolsets.RecallContextOutput]: ...
    @overload
    def call(
        self,
        name: Literal["records_add_core_memory"],
        arguments: toolsets.RecordsAddCoreMemoryInput,
    ) -> Outcome[toolsets.RecordsAddCoreMemoryOutput]: ...
    @overload
    def call(
        self,
        name: Literal["add_core_memory"],
        arguments: toolsets.RecordsAddCoreMemoryInput,
    ) -> Outcome[toolsets.RecordsAddCoreMemoryOutput]: ...
    @overload
    def call(
        self,
        name: Literal["add_recent_learning"],
        arguments: toolsets.AddRecentLearningInput,
    ) -> Outcome[toolsets.AddRecentLearningOutput]: ...
    @overload
    def call(
        self,
        name: Literal["add_recent_task"],
        arguments: toolsets.AddRecentTaskInput,
    ) -> Outcome[toolsets.AddRecentTaskOutput]: ...
    @overload
    def call(
        self,
        name: Literal["store_memory"],
        arguments: toolsets.StoreMemoryInput = ...,
    ) -> Outcome[toolsets.StoreMemoryOutput]: ...
    @overload
    def call(
        self,
        name: Literal["query_memories"],
        arguments: toolsets.QueryMemoriesInput = ...,
    ) -> Outcome[toolsets.QueryMemoriesOutput]: ...
    @overload
    def call(
        self,
        name: Literal["records_update_memory"],
        arguments: toolsets.RecordsUpdateMemoryInput,
    ) -> Outcome[toolsets.RecordsUpdateMemoryOutput]: ...
    @overload
    def call(
        self,
        name: Literal["update_memory"],
        arguments: toolsets.RecordsUpdateMemoryInput,
    ) -> Outcome[toolsets.RecordsUpdateMemoryOutput]: ...
    @overload
    def call(
        self,
        name: Literal["delete_memory"],
        arguments: toolsets.DeleteMemoryInput,
    ) -> Outcome[toolsets.DeleteMemoryOutput]: ...
    @overload
    def call(
        self,
        name: Literal["get_memory_stats"],
        arguments: toolsets.GetMemoryStatsInput = ...,
    ) -> Outcome[toolsets.GetMemoryStatsOutput]: ...
    @overload
    def call(
        self,
        name: Literal["convert_records"],
        arguments: toolsets.ConvertRecordsInput,
    ) -> Outcome[toolsets.ConvertRecordsOutput]: ...
    @overload
    def call(
        self,
        name: Literal["export_records"],
        arguments: toolsets.ExportRecordsInput = ...,
    ) -> Outcome[toolsets.ExportRecordsOutput]: ...
    @overload
    def call(
        self,
        name: Literal["import_records"],
        arguments: toolsets.ImportRecordsInput,
    ) -> Outcome[toolsets.ImportRecordsOutput]: ...
    @overload
    def call(
        self,
        name: Literal["archive_memories"],
        arguments: toolsets.ArchiveMemoriesInput,
    ) -> Outcome[toolsets.ArchiveMemoriesOutput]: ...
    @overload
    def call(
        self,
        name: Literal["get_memory_summary"],
        arguments: toolsets.GetMemorySummaryInput,
    ) -> Outcome[toolsets.GetMemorySummaryOutput]: ...
    @overload
    def call(
        self,
        name: Literal["layers_add_core_memory"],
        arguments: toolsets.LayersAddCoreMemoryInput,
    ) -> Outcome[toolsets.LayersAddCoreMemoryOutput]: ...
    @overload
    def call(
        self,
        name: Literal["add_core_memory"],
        arguments: toolsets.LayersAddCoreMemoryInput,
    ) -> Outcome[toolsets.LayersAddCoreMemoryOutput]: ...
    @overload
    def call(
        self,
        name: Literal["add_recent_memory"],
        arguments: toolsets.AddRecentMemoryInput,
    ) -> Outcome[toolsets.AddRecentMemoryOutput]: ...
    @overload
    def call(
        self,
        name: Literal["set_current_task"],
        arguments: toolsets.SetCurrentTaskInput,
    ) -> Outcome[toolsets.SetCurrentTaskOutput]: ...
    @overload
    def call(
        self,
        name: Literal["add_episodic_memory"],
        arguments: toolsets.AddEpisodicMemoryInput,
    ) -> Outcome[toolsets.AddEpisodicMemoryOutput]: ...
    @overload
    def call(
        self,
        name: Literal["get_core_memories"],
        arguments: toolsets.GetCoreMemoriesInput,
    ) -> Outcome[toolsets.GetCoreMemoriesOutput]: ...
    @overload
    def call(
        self,
        name: Literal["get_recent_memories"],
        arguments: toolsets.GetRecentMemoriesInput,
    ) -> Outcome[toolsets.GetRecentMemoriesOutput]: ...
    @overload
    def call(
        self,
        name: Literal["get_current_task"],
        arguments: toolsets.GetCurrentTaskInput,
    ) -> Outcome[toolsets.GetCurrentTaskOutput]: ...
    @overload
    def call(
        self,
        name: Literal["search_episodic_memories"],
        arguments: toolsets.SearchEpisodicMemoriesInput,
    ) -> Outcome[toolsets.SearchEpisodicMemoriesOutput]: ...
    @overload
    def call(
        self,
        name: Literal["delete_core_memory"],
        arguments: toolsets.DeleteCoreMemoryInput,
    ) -> Outcome[toolsets.DeleteCoreMemoryOutput]: ...
    @overload
    def call(
        self,
        name: Literal["clear_recent_memories"],
        arguments: toolsets.ClearRecentMemoriesInput,
    ) -> Outcome[toolsets.ClearRecentMemoriesOutput]: ...
    @overload
    def call(
        self,
        name: Literal["copy_core_memories"],
        arguments: toolsets.CopyCoreMemoriesInput,
    ) -> Outcome[toolsets.CopyCoreMemoriesOutput]: ...
    @overload
    def call(
        self,
        name: Literal["export_layers"],
        arguments: toolsets.ExportLayersInput,
    ) -> Outcome[toolsets.ExportLayersOutput]: ...
    @overload
    def call(
        self,
        name: Literal["import_layers"],
        arguments: toolsets.ImportLayersInput,
    ) -> Outcome[toolsets.ImportLayersOutput]: ...
    @overload
    def call(
        self,
        name: Literal["forget_text"],
        arguments: toolsets.ForgetTextInput,
    ) -> Outcome[toolsets.ForgetTextOutput]: ...
    @overload
    def call(
        self,
        name: Literal["cortex_get_recent_memories"],
        arguments: toolsets.CortexGetRecentMemoriesInput,
    ) -> Outcome[toolsets.CortexGetRecentMemoriesOutput]: ...
    @overload
    def call(
        self,
        name: Literal["list_memories"],
        arguments: toolsets.ListMemoriesInput,
    ) -> Outcome[toolsets.ListMemoriesOutput]: ...
    @overload
    def call(
        self,
        name: Literal["get_memory"],
        arguments: toolsets.GetMemoryInput,
    ) -> Outcome[toolsets.GetMemoryOutput]: ...
    @overload
    def call(
        self,
        name: Literal["add_memory"],
        arguments: toolsets.AddMemoryInput,
    ) -> Outcome[toolsets.AddMemoryOutput]: ...
    @overload
    def call(
        self,
        name: Literal["stores_update_memory"],
        arguments: toolsets.StoresUpdateMemoryInput,
    ) -> Outcome[toolsets.StoresUpdateMemoryOutput]: ...
    @overload
    def call(
        self,
        name: Literal["update_memory"],
        arguments: toolsets.StoresUpdateMemoryInput,
    ) -> Outcome[toolsets.StoresUpdateMemoryOutput]: ...
    @overload
    def call(
        self,
        name: Literal["move_memory"],
        arguments: toolsets.MoveMemoryInput,
    ) -> Outcome[toolsets.MoveMemoryOutput]: ...
    @overload
    def call(
        self,
        name: Literal["remove_memory"],
        arguments: toolsets.RemoveMemoryInput,
    ) -> Outcome[toolsets.RemoveMemoryOutput]: ...
    @overload
    def call(
        self,
        name: Literal["prune_memories"],
        arguments: toolsets.PruneMemoriesInput,
    ) -> Outcome[toolsets.PruneMemoriesOutput]: ...
    @overload
    def call(
        self,
        name: Literal["reindex_store"],
        arguments: toolsets.ReindexStoreInput,
    ) -> Outcome[toolsets.ReindexStoreOutput]: ...
    @overload
    def call(
        self,
        name: Literal["get_memory_file"],
        arguments: toolsets.GetMemoryFileInput,
    ) -> Outcome[toolsets.GetMemoryFileOutput]: ...
    @overload
    def call(
        self,
        name: Literal["put_memory_file"],
        arguments: toolsets.PutMemoryFileInput,
    ) -> Outcome[toolsets.PutMemoryFileOutput]: ...
    @overload
    def call(
        self,
        name: Literal["plan_import"],
        arguments: toolsets.PlanImportInput,
    ) -> Outcome[toolsets.PlanImportOutput]: ...
    @overload
    def call(
        self,
        name: Literal["import_memories"],
        arguments: toolsets.ImportMemoriesInput,
    ) -> Outcome[toolsets.ImportMemoriesOutput]: ...
    @overload
    def call(
        self,
        name: Literal["view_memory_file"],
        arguments: toolsets.ViewMemoryFileInput,
    ) -> Outcome[toolsets.ViewMemoryFileOutput]: ...
    @overload
    def call(
        self,
        name: Literal["create_memory_file"],
        arguments: toolsets.CreateMemoryFileInput,
    ) -> Outcome[toolsets.CreateMemoryFileOutput]: ...
    @overload
    def call(
        self,
        name: Literal["str_replace_memory_file"],
        arguments: toolsets.StrReplaceMemoryFileInput,
    ) -> Outcome[toolsets.StrReplaceMemoryFileOutput]: ...
    @overload
    def call(
        self,
        name: Literal["insert_memory_file"],
        arguments: toolsets.InsertMemoryFileInput,
    ) -> Outcome[toolsets.InsertMemoryFileOutput]: ...
    @overload
    def call(
        self,
        name: Literal["delete_memory_file"],
        arguments: toolsets.DeleteMemoryFileInput,
    ) -> Outcome[toolsets.DeleteMemoryFileOutput]: ...
    @overload
    def call(
        self,
        name: Literal["rename_memory_file"],
        arguments: toolsets.RenameMemoryFileInput,
    ) -> Outcome[toolsets.RenameMemoryFileOutput]: ...
    @overload
    def call(
        self,
        name: Literal["search_items"],
        arguments: toolsets.SearchItemsInput = ...,
    ) -> Outcome[toolsets.SearchItemsOutput]: ...
    @overload
    def call(
        self,
        name: Literal["get_item"],
        arguments: toolsets.GetItemInput,
    ) -> Outcome[toolsets.GetItemOutput]: ...
    @overload
    def call(
        self,
        name: Literal["put_item"],
        arguments: toolsets.PutItemInput,
    ) -> Outcome[toolsets.PutItemOutput]: ...
    @overload
    def call(
        self,
        name: Literal["delete_item"],
        arguments: toolsets.DeleteItemInput,
    ) -> Outcome[toolsets.DeleteItemOutput]: ...
    @overload
    def call(
        self,
        name: Literal["list_namespaces"],
        arguments: toolsets.ListNamespacesInput = ...,
    ) -> Outcome[toolsets.ListNamespacesOutput]: ...
    @overload
    def call(
        self,
        name: Literal["batch_items"],
        arguments: toolsets.BatchItemsInput,
    ) -> Outcome[toolsets.BatchItemsOutput]: ...
    @overload
    def call(
        self,
        name: Literal["resume_memory"],
        arguments: toolsets.ResumeMemoryInput = ...,
    ) -> Outcome[toolsets.ResumeMemoryOutput]: ...
    @overload
    def call(
        self,
        name: Literal["search_memory"],
        arguments: toolsets.SearchMemoryInput = ...,
    ) -> Outcome[toolsets.SearchMemoryOutput]: ...
    @overload
    def call(
        self,
        name: Literal["forget_memory"],
        arguments: toolsets.ForgetMemoryInput = ...,
    ) -> Outcome[toolsets.ForgetMemoryOutput]: ...
    @overload
    def call(
        self,
        name: Literal["drop_vectors"],
        arguments: toolsets.DropVectorsInput = ...,
    ) -> Outcome[toolsets.DropVectorsOutput]: ...
    def call_by_name(self, name: str, arguments: Mapping[str, Any] | None = ...) -> Outcome[Any]: ...

class AsyncCalls:
    async def _ask(self, kind: str, *texts: str) -> Outcome[Any]: ...
    @property
    def sessions(self) -> AsyncSessions: ...
    @property
    def records(self) -> AsyncRecords: ...
    @property
    def layers(self) -> AsyncLayers: ...
    @property
    def stores(self) -> AsyncStores: ...
    @property
    def files(self) -> AsyncFiles: ...
    @property
    def items(self) -> AsyncItems: ...
    @property
    def memory(self) -> AsyncMemory: ...
    @overload
    async def call(
        self,
        name: Literal["start_session"],
        arguments: toolsets.StartSessionInput,
    ) -> Outcome[toolsets.StartSessionOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["append_entry"],
        arguments: toolsets.AppendEntryInput,
    ) -> Outcome[toolsets.AppendEntryOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["read_summary"],
        arguments: toolsets.ReadSummaryInput,
    ) -> Outcome[toolsets.ReadSummaryOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["update_summary"],
        arguments: toolsets.UpdateSummaryInput,
    ) -> Outcome[toolsets.UpdateSummaryOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["list_sessions"],
        arguments: toolsets.ListSessionsInput,
    ) -> Outcome[toolsets.ListSessionsOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["read_session"],
        arguments: toolsets.ReadSessionInput,
    ) -> Outcome[toolsets.ReadSessionOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["validate"],
        arguments: toolsets.ValidateInput = ...,
    ) -> Outcome[toolsets.ValidateOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["recall_context"],
        arguments: toolsets.RecallContextInput = ...,
    ) -> Outcome[toolsets.RecallContextOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["records_add_core_memory"],
        arguments: toolsets.RecordsAddCoreMemoryInput,
    ) -> Outcome[toolsets.RecordsAddCoreMemoryOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["add_core_memory"],
        arguments: toolsets.RecordsAddCoreMemoryInput,
    ) -> Outcome[toolsets.RecordsAddCoreMemoryOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["add_recent_learning"],
        arguments: toolsets.AddRecentLearningInput,
    ) -> Outcome[toolsets.AddRecentLearningOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["add_recent_task"],
        arguments: toolsets.AddRecentTaskInput,
    ) -> Outcome[toolsets.AddRecentTaskOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["store_memory"],
        arguments: toolsets.StoreMemoryInput = ...,
    ) -> Outcome[toolsets.StoreMemoryOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["query_memories"],
        arguments: toolsets.QueryMemoriesInput = ...,
    ) -> Outcome[toolsets.QueryMemoriesOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["records_update_memory"],
        arguments: toolsets.RecordsUpdateMemoryInput,
    ) -> Outcome[toolsets.RecordsUpdateMemoryOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["update_memory"],
        arguments: toolsets.RecordsUpdateMemoryInput,
    ) -> Outcome[toolsets.RecordsUpdateMemoryOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["delete_memory"],
        arguments: toolsets.DeleteMemoryInput,
    ) -> Outcome[toolsets.DeleteMemoryOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["get_memory_stats"],
        arguments: toolsets.GetMemoryStatsInput = ...,
    ) -> Outcome[toolsets.GetMemoryStatsOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["convert_records"],
        arguments: toolsets.ConvertRecordsInput,
    ) -> Outcome[toolsets.ConvertRecordsOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["export_records"],
        arguments: toolsets.ExportRecordsInput = ...,
    ) -> Outcome[toolsets.ExportRecordsOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["import_records"],
        arguments: toolsets.ImportRecordsInput,
    ) -> Outcome[toolsets.ImportRecordsOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["archive_memories"],
        arguments: toolsets.ArchiveMemoriesInput,
    ) -> Outcome[toolsets.ArchiveMemoriesOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["get_memory_summary"],
        arguments: toolsets.GetMemorySummaryInput,
    ) -> Outcome[toolsets.GetMemorySummaryOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["layers_add_core_memory"],
        arguments: toolsets.LayersAddCoreMemoryInput,
    ) -> Outcome[toolsets.LayersAddCoreMemoryOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["add_core_memory"],
        arguments: toolsets.LayersAddCoreMemoryInput,
    ) -> Outcome[toolsets.LayersAddCoreMemoryOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["add_recent_memory"],
        arguments: toolsets.AddRecentMemoryInput,
    ) -> Outcome[toolsets.AddRecentMemoryOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["set_current_task"],
        arguments: toolsets.SetCurrentTaskInput,
    ) -> Outcome[toolsets.SetCurrentTaskOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["add_episodic_memory"],
        arguments: toolsets.AddEpisodicMemoryInput,
    ) -> Outcome[toolsets.AddEpisodicMemoryOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["get_core_memories"],
        arguments: toolsets.GetCoreMemoriesInput,
    ) -> Outcome[toolsets.GetCoreMemoriesOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["get_recent_memories"],
        arguments: toolsets.GetRecentMemoriesInput,
    ) -> Outcome[toolsets.GetRecentMemoriesOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["get_current_task"],
        arguments: toolsets.GetCurrentTaskInput,
    ) -> Outcome[toolsets.GetCurrentTaskOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["search_episodic_memories"],
        arguments: toolsets.SearchEpisodicMemoriesInput,
    ) -> Outcome[toolsets.SearchEpisodicMemoriesOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["delete_core_memory"],
        arguments: toolsets.DeleteCoreMemoryInput,
    ) -> Outcome[toolsets.DeleteCoreMemoryOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["clear_recent_memories"],
        arguments: toolsets.ClearRecentMemoriesInput,
    ) -> Outcome[toolsets.ClearRecentMemoriesOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["copy_core_memories"],
        arguments: toolsets.CopyCoreMemoriesInput,
    ) -> Outcome[toolsets.CopyCoreMemoriesOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["export_layers"],
        arguments: toolsets.ExportLayersInput,
    ) -> Outcome[toolsets.ExportLayersOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["import_layers"],
        arguments: toolsets.ImportLayersInput,
    ) -> Outcome[toolsets.ImportLayersOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["forget_text"],
        arguments: toolsets.ForgetTextInput,
    ) -> Outcome[toolsets.ForgetTextOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["cortex_get_recent_memories"],
        arguments: toolsets.CortexGetRecentMemoriesInput,
    ) -> Outcome[toolsets.CortexGetRecentMemoriesOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["list_memories"],
        arguments: toolsets.ListMemoriesInput,
    ) -> Outcome[toolsets.ListMemoriesOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["get_memory"],
        arguments: toolsets.GetMemoryInput,
    ) -> Outcome[toolsets.GetMemoryOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["add_memory"],
        arguments: toolsets.AddMemoryInput,
    ) -> Outcome[toolsets.AddMemoryOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["stores_update_memory"],
        arguments: toolsets.StoresUpdateMemoryInput,
    ) -> Outcome[toolsets.StoresUpdateMemoryOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["update_memory"],
        arguments: toolsets.StoresUpdateMemoryInput,
    ) -> Outcome[toolsets.StoresUpdateMemoryOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["move_memory"],
        arguments: toolsets.MoveMemoryInput,
    ) -> Outcome[toolsets.MoveMemoryOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["remove_memory"],
        arguments: toolsets.RemoveMemoryInput,
    ) -> Outcome[toolsets.RemoveMemoryOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["prune_memories"],
        arguments: toolsets.PruneMemoriesInput,
    ) -> Outcome[toolsets.PruneMemoriesOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["reindex_store"],
        arguments: toolsets.ReindexStoreInput,
    ) -> Outcome[toolsets.ReindexStoreOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["get_memory_file"],
        arguments: toolsets.GetMemoryFileInput,
    ) -> Outcome[toolsets.GetMemoryFileOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["put_memory_file"],
        arguments: toolsets.PutMemoryFileInput,
    ) -> Outcome[toolsets.PutMemoryFileOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["plan_import"],
        arguments: toolsets.PlanImportInput,
    ) -> Outcome[toolsets.PlanImportOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["import_memories"],
        arguments: toolsets.ImportMemoriesInput,
    ) -> Outcome[toolsets.ImportMemoriesOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["view_memory_file"],
        arguments: toolsets.ViewMemoryFileInput,
    ) -> Outcome[toolsets.ViewMemoryFileOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["create_memory_file"],
        arguments: toolsets.CreateMemoryFileInput,
    ) -> Outcome[toolsets.CreateMemoryFileOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["str_replace_memory_file"],
        arguments: toolsets.StrReplaceMemoryFileInput,
    ) -> Outcome[toolsets.StrReplaceMemoryFileOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["insert_memory_file"],
        arguments: toolsets.InsertMemoryFileInput,
    ) -> Outcome[toolsets.InsertMemoryFileOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["delete_memory_file"],
        arguments: toolsets.DeleteMemoryFileInput,
    ) -> Outcome[toolsets.DeleteMemoryFileOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["rename_memory_file"],
        arguments: toolsets.RenameMemoryFileInput,
    ) -> Outcome[toolsets.RenameMemoryFileOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["search_items"],
        arguments: toolsets.SearchItemsInput = ...,
    ) -> Outcome[toolsets.SearchItemsOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["get_item"],
        arguments: toolsets.GetItemInput,
    ) -> Outcome[toolsets.GetItemOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["put_item"],
        arguments: toolsets.PutItemInput,
    ) -> Outcome[toolsets.PutItemOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["delete_item"],
        arguments: toolsets.DeleteItemInput,
    ) -> Outcome[toolsets.DeleteItemOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["list_namespaces"],
        arguments: toolsets.ListNamespacesInput = ...,
    ) -> Outcome[toolsets.ListNamespacesOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["batch_items"],
        arguments: toolsets.BatchItemsInput,
    ) -> Outcome[toolsets.BatchItemsOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["resume_memory"],
        arguments: toolsets.ResumeMemoryInput = ...,
    ) -> Outcome[toolsets.ResumeMemoryOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["search_memory"],
        arguments: toolsets.SearchMemoryInput = ...,
    ) -> Outcome[toolsets.SearchMemoryOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["forget_memory"],
        arguments: toolsets.ForgetMemoryInput = ...,
    ) -> Outcome[toolsets.ForgetMemoryOutput]: ...
    @overload
    async def call(
        self,
        name: Literal["drop_vectors"],
        arguments: toolsets.DropVectorsInput = ...,
    ) -> Outcome[toolsets.DropVectorsOutput]: ...
    async def call_by_name(self, name: str, arguments: Mapping[str, Any] | None = ...) -> Outcome[Any]: ...
