//! Generated from the core's description of its tools.

export_tools! {
    sessions {
        start_session = "sessions_start_session" (agent_name: String, repo_root: Option<String>, date: Option<String>);
        append_entry = "sessions_append_entry" (agent_name: String, repo_root: Option<String>, date: Option<String>, section: String, content: String);
        read_summary = "sessions_read_summary" (agent_name: String, repo_root: Option<String>, from: Option<i64>, limit: Option<i64>);
        update_summary = "sessions_update_summary" (agent_name: String, repo_root: Option<String>, section: String, content: Option<String>, mode: String, old_text: Option<String>, new_text: Option<String>, version: Option<String>);
        list_sessions = "sessions_list_sessions" (agent_name: String, repo_root: Option<String>, limit: Option<i64>);
        read_session = "sessions_read_session" (agent_name: String, repo_root: Option<String>, date: Option<String>, section: Option<String>, from: Option<i64>, limit: Option<i64>);
    }
    records {
        recall_context = "records_recall_context" (agent_id: Option<String>, limit: Option<i64>);
        add_core_memory = "records_add_core_memory" (content: String, agent_id: Option<String>, category: Option<String>, tags: Option<Vec<String>>, importance: Option<String>);
        add_recent_learning = "records_add_recent_learning" (content: String, agent_id: Option<String>, category: Option<String>, tags: Option<Vec<String>>, importance: Option<String>);
        add_recent_task = "records_add_recent_task" (content: String, agent_id: Option<String>, category: Option<String>, tags: Option<Vec<String>>, importance: Option<String>);
        store_memory = "records_store_memory" (r#type: Option<String>, content: Option<String>, agent_id: Option<String>, category: Option<String>, tags: Option<Vec<String>>, importance: Option<String>, id: Option<String>, version: Option<String>);
        query_memories = "records_query_memories" (agent_id: Option<String>, ids: Option<Vec<String>>, r#type: Option<String>, tags: Option<Vec<String>>, search: Option<String>, importance: Option<String>, category: Option<String>, archived: Option<bool>, limit: Option<i64>, offset: Option<i64>, sort_by: Option<String>, sort_order: Option<String>);
        update_memory = "records_update_memory" (id: String, agent_id: Option<String>, content: Option<String>, category: Option<String>, tags: Option<Vec<String>>, importance: Option<String>, archived: Option<bool>, version: Option<String>);
        delete_memory = "records_delete_memory" (id: String, agent_id: Option<String>, permanent: Option<bool>);
        get_memory_stats = "records_get_memory_stats" (agent_id: Option<String>);
    }
    stores {
        cortex_get_recent_memories = "stores_cortex_get_recent_memories" (store: String, category: Option<String>, limit: Option<i64>, include_expired: Option<bool>);
        list_memories = "stores_list_memories" (store: String, category: Option<String>, recursive: Option<bool>, include_expired: Option<bool>, limit: Option<i64>, cursor: Option<String>);
        get_memory = "stores_get_memory" (store: String, path: String, include_expired: Option<bool>, from: Option<i64>, limit: Option<i64>);
        add_memory = "stores_add_memory" (store: String, path: String, content: String, tags: Option<Vec<String>>, expires_at: Option<String>, citations: Option<Vec<String>>);
        update_memory = "stores_update_memory" (store: String, path: String, content: Option<String>, old_text: Option<String>, new_text: Option<String>, tags: Option<Vec<String>>, expires_at: Option<String>, clear_expiry: Option<bool>, citations: Option<Vec<String>>, version: Option<String>);
        move_memory = "stores_move_memory" (store: String, from_path: String, to_path: String);
        remove_memory = "stores_remove_memory" (store: String, path: String);
        prune_memories = "stores_prune_memories" (store: String, dry_run: Option<bool>, cursor: Option<String>);
        reindex_store = "stores_reindex_store" (store: String, cursor: Option<String>);
    }
    files {
        view_memory_file = "files_view_memory_file" (path: String, view_range: Option<Vec<i64>>);
        create_memory_file = "files_create_memory_file" (path: String, file_text: String);
        str_replace_memory_file = "files_str_replace_memory_file" (path: String, old_str: String, new_str: Option<String>);
        insert_memory_file = "files_insert_memory_file" (path: String, insert_line: i64, insert_text: String);
        delete_memory_file = "files_delete_memory_file" (path: String);
        rename_memory_file = "files_rename_memory_file" (old_path: String, new_path: String);
    }
    memory {
        resume_memory = "memory_resume_memory" (agent: Option<String>, repo_root: Option<String>, budget: Option<i64>);
        search_memory = "memory_search_memory" (query: Option<String>, agent: Option<String>, repo_root: Option<String>, toolsets: Option<Vec<String>>, from_date: Option<String>, to_date: Option<String>, include_archived: Option<bool>, limit: Option<i64>);
        forget_memory = "memory_forget_memory" (text: Option<String>, id: Option<String>, path: Option<String>, section: Option<String>, agent: Option<String>, repo_root: Option<String>, store: Option<String>, dry_run: Option<bool>);
    }
}
