//! Tests of a request for the lock of a place that plugins (hosts in WASI) own.

use std::sync::Arc;

use agent_memory_storage::ErrorCode;
use agent_memory_storage_files::{Layout, owner};
use agent_memory_storage_lock::{IdleLocks, KEEPS_IDLE, PlaceLock, Progress, Request};

struct Scene {
    _directory: tempfile::TempDir,
    layout: Layout,
    idle: Arc<IdleLocks>,
}

impl Scene {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().canonicalize().unwrap();
        let layout = Layout::from_directory(&path, "notes", false, &[]).unwrap();
        Scene { _directory: directory, layout, idle: Arc::default() }
    }

    fn request(&self) -> Request {
        Request::open(&self.layout, &self.idle, false).unwrap()
    }

    fn hand_over_to_plugins(&self) {
        let directory = self.layout.create_lock_directory(false).unwrap();
        owner::hand_over_to_plugins(&directory, "notes").unwrap();
    }

    fn take_from_plugins(&self) {
        let directory = self.layout.create_lock_directory(false).unwrap();
        owner::take_from_plugins(&directory).unwrap();
    }

    fn refuses(&self, refused: Result<impl std::fmt::Debug, agent_memory_storage::Error>) {
        let refused = refused.unwrap_err();
        assert_eq!(refused.code, ErrorCode::ReadOnly);
        assert!(refused.message.contains("`notes`"), "{refused}");
        assert!(refused.message.contains("hand-over --to hosts notes"), "{refused}");
    }
}

fn locked(request: Request) -> PlaceLock {
    match request.ask().unwrap() {
        Progress::Locked(lock) => lock,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_request_is_refused_and_leaves_no_lock_file() {
    let scene = Scene::new();
    scene.hand_over_to_plugins();
    scene.refuses(Request::open(&scene.layout, &scene.idle, false));
    assert!(!scene.layout.lock_path().join(owner::LOCK_FILE).exists());
    assert!(Request::reopen(&scene.layout, &scene.idle).is_none());
}

#[test]
fn a_request_that_plugins_come_before_is_refused_and_holds_nothing() {
    let scene = Scene::new();
    let request = scene.request();
    scene.hand_over_to_plugins();
    scene.refuses(request.ask());
    scene.take_from_plugins();
    locked(scene.request());
}

#[test]
fn a_request_with_files_from_before_is_refused() {
    let scene = Scene::new();
    drop(locked(scene.request()));
    scene.hand_over_to_plugins();
    let request = Request::reopen(&scene.layout, &scene.idle);
    assert_eq!(request.is_some(), KEEPS_IDLE, "its files are open");
    if let Some(request) = request {
        scene.refuses(request.ask());
    }
}

#[test]
fn a_request_that_waits_while_plugins_come_is_refused() {
    let scene = Scene::new();
    let lock = locked(scene.request());
    let Progress::AtHead(waits) = scene.request().ask().unwrap() else { panic!("it is held") };
    scene.hand_over_to_plugins();
    drop(lock);
    scene.refuses(waits.ask());
}
