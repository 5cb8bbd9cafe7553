//! Runs `tests/families.json`, which describes its format, and tests what its format cannot express.

use super::layout_tests::{base, create, data, everything_below};
use super::*;
use agent_memory_storage::Writer as _;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

const LABEL: &str = "things";

/// The format of the registries in these tests: a JSON object from names to places.
#[derive(Debug)]
struct Json;

impl RegistryFormat for Json {
    fn parse(&self, text: &str) -> Result<String, String> {
        let parsed: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Ok(parsed.to_string())
    }

    fn edit(&self, text: &str, change: &str) -> Result<String, String> {
        let text = if text.is_empty() { "{}" } else { text };
        let mut places: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let change: Value = serde_json::from_str(change).unwrap();
        if let Some(name) = change["remove"]["name"].as_str() {
            places.as_object_mut().unwrap().remove(name).ok_or("nothing to remove")?;
        } else {
            let added = &change["add"];
            let name = added["name"].as_str().unwrap();
            if name.contains(['/', '.']) {
                return Err("no name".to_owned());
            }
            places[name] = json!({"path": added["path"]});
        }
        Ok(places.to_string())
    }

    fn warn(&self, _: &str, _: &str) {}
}

fn family(base: &str, registry: &str) -> FamilyGrant {
    FamilyGrant {
        label: LABEL.to_owned(),
        members: FamilyMembers::Registry { path: registry.into(), format: Arc::new(Json) },
        home: Some(format!("{base}/home").into()),
        data_directory: Some(format!("{base}/data").into()),
        databases: Vec::new(),
    }
}

fn storage(base: &str) -> Storage {
    let storage = Storage::new(StorageOptions::default());
    for directory in ["home", "data", "config"] {
        fs::create_dir_all(format!("{base}/{directory}")).unwrap();
    }
    storage.grant_family(family(base, &format!("{base}/config/registry.yaml"))).unwrap();
    storage
}

fn place(name: &str) -> Place {
    Place::in_group(LABEL, name)
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.unwrap().block_on(future)
}

fn timeout() -> LockTimeout {
    LockTimeout::new(Duration::from_secs(60))
}

fn create_place(storage: &Storage, name: &str) -> Result<Tree, Error> {
    block_on(storage.create_place(&place(name), timeout()))
}

fn mode(path: impl AsRef<Path>) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Locks a place. Checks the modes of its files, and that its lock directory is not listed.
fn check_lock(tree: &Tree, is_private: bool) {
    let at = tree.location().to_owned();
    let writer = block_on(tree.lock(timeout())).unwrap();
    let area = Area::Documents;
    let path = "a/b.md".to_owned();
    let put = Change::Put { area, path, contents: b"text".to_vec(), expects: None };
    writer.commit(&[put]).unwrap();
    assert_eq!(fs::read(format!("{at}/.agent-memory/.gitignore")).unwrap(), b"*\n");
    let names: Vec<_> = tree.list(Area::Documents, "").unwrap().unwrap();
    assert!(names.iter().all(|entry| entry.name != ".agent-memory"), "{names:?}");
    for (path, private) in [("a", 0o700), ("a/b.md", 0o600), (".agent-memory/turn.sqlite", 0o600)] {
        assert_eq!(mode(format!("{at}/{path}")) == private, is_private, "{at}/{path}");
    }
}

fn check_error(error: &Error, expected: &Value, base: &str) {
    assert_eq!(expected["refused"], error.code.name(), "{error}");
    let says = expected["says"].as_str().unwrap_or_default().replace("${base}", base);
    assert!(error.message.contains(&says), "{error} does not say {says}");
}

fn check(case: &Value) {
    let (_scratch, base) = base();
    for directory in ["home", "data", "config"] {
        fs::create_dir_all(format!("{base}/{directory}")).unwrap();
    }
    create(&base, case);
    let filled = |text: &str| text.replace("${base}", &base);
    let file = filled(case["registry_at"].as_str().unwrap_or("${base}/config/registry.yaml"));
    if let Some(registry) = case["registry"].as_object() {
        let places = registry.iter().map(|(name, place)| match place.as_str() {
            Some(path) => (name.clone(), json!({"path": filled(path)})),
            None => (name.clone(), serde_json::from_str(&filled(&place.to_string())).unwrap()),
        });
        fs::create_dir_all(Path::new(&file).parent().unwrap()).unwrap();
        fs::write(&file, Value::Object(places.collect()).to_string()).unwrap();
    }
    let storage = Storage::new(StorageOptions::default());
    let granted = storage.grant_family(family(&base, &file));
    if let Some(code) = case["grant_refused"].as_str() {
        assert_eq!(granted.unwrap_err().code.name(), code);
        return;
    }
    granted.unwrap();
    let no_places = serde_json::Map::new();
    for (name, expected) in case["places"].as_object().unwrap_or(&no_places) {
        let before = everything_below(Path::new(&base));
        let opened = storage.open(&place(name), &[]);
        assert_eq!(everything_below(Path::new(&base)), before, "opening {name} changed something");
        match (opened, expected["at"].as_str()) {
            (Ok(tree), Some(at)) => {
                assert_eq!(tree.location(), filled(at));
                check_lock(&tree, expected["private"].as_bool().unwrap());
            }
            (Err(error), None) => check_error(&error, expected, &base),
            (opened, _) => panic!("{name}: expected {expected}, got {opened:?}"),
        }
    }
    for (name, expected) in case["new"].as_object().unwrap_or(&no_places) {
        let before = fs::read(&file).ok();
        match (create_place(&storage, name), expected["at"].as_str()) {
            (Ok(tree), Some(at)) => {
                assert_eq!(tree.location(), filled(at));
                assert!(storage.registered(LABEL).unwrap().contains_key(name), "{name}");
                check_lock(&storage.open(&place(name), &[]).unwrap(), true);
            }
            (Err(error), None) => {
                check_error(&error, expected, &base);
                assert_eq!(fs::read(&file).ok(), before, "{name}");
            }
            (created, _) => panic!("{name}: expected {expected}, got {created:?}"),
        }
    }
    if let Some(listed) = case.get("listed") {
        let names = storage.list_places(&PlaceKind::Named(LABEL.to_owned()), &[]).unwrap();
        assert_eq!(json!(names), *listed);
    }
}

#[test]
fn every_registry_gives_its_places_or_their_refusals() {
    for case in data("families.json")["families"].as_array().unwrap() {
        println!("{}", case["name"]);
        check(case);
    }
}

#[test]
fn an_edited_registry_counts_at_once_and_keeps_its_lock_private() {
    let (_scratch, base) = base();
    let storage = storage(&base);
    let file = format!("{base}/config/registry.yaml");
    fs::create_dir(format!("{base}/home/a")).unwrap();
    fs::create_dir(format!("{base}/home/b")).unwrap();
    fs::write(&file, r#"{"a": {"path": "~/a"}}"#).unwrap();
    assert!(storage.open(&place("a"), &[]).is_ok());
    // The new text has the same length, so only the bytes show that the file has changed.
    fs::write(&file, r#"{"b": {"path": "~/b"}}"#).unwrap();
    assert_eq!(storage.open(&place("a"), &[]).unwrap_err().code, ErrorCode::NotFound);
    assert!(storage.open(&place("b"), &[]).is_ok());

    let registry = block_on(storage.lock_registry(LABEL, timeout())).unwrap();
    let path = registry.register("c", "~/c", None).unwrap();
    assert_eq!(path, Path::new(&base).join("home/c"));
    registry.unregister("b").unwrap();
    assert_eq!(registry.unregister("b").unwrap_err().code, ErrorCode::NotFound);
    assert!(path.is_dir(), "registering makes the directory");
    drop(registry);
    assert_eq!(fs::read_to_string(&file).unwrap(), r#"{"c":{"path":"~/c"}}"#);
    let lock = format!("{base}/config/.agent-memory/registry.yaml");
    assert_eq!((mode(&lock), mode(format!("{lock}/turn.sqlite"))), (0o700, 0o600));
    assert_eq!(fs::read(format!("{lock}/.gitignore")).unwrap(), b"*\n");
}

#[test]
fn a_place_is_created_once_by_threads_at_the_same_time() {
    let (_scratch, base) = base();
    let storage = storage(&base);
    let created = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|number| {
                let storage = &storage;
                scope.spawn(move || {
                    let own = create_place(storage, &format!("own-{number}"));
                    own.unwrap();
                    create_place(storage, "shared").map(drop)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    let errors: Vec<_> = created.into_iter().filter_map(Result::err).collect();
    assert_eq!(errors.len(), 7);
    assert!(errors.iter().all(|error| error.code == ErrorCode::AlreadyExists), "{errors:?}");
    assert_eq!(storage.registered(LABEL).unwrap().len(), 9);
}

#[test]
fn places_of_the_embedding_program_are_all_and_follow_the_same_rules() {
    let (_scratch, base) = base();
    let grant = |places: &[(&str, &str)]| {
        let places = places.iter().map(|(name, path)| {
            (String::from(*name), PathBuf::from(path.replace("${base}", &base)))
        });
        let members = FamilyMembers::Fixed(places.collect());
        let storage = Storage::new(StorageOptions::default());
        let granted = storage.grant_family(FamilyGrant { members, ..family(&base, "") });
        granted.map(|()| storage)
    };
    let storage = grant(&[("notes", "${base}/notes"), ("own", "~/own")]).unwrap();
    assert!(storage.open(&place("notes"), &[]).is_ok());
    let listed = storage.list_places(&PlaceKind::Named(LABEL.to_owned()), &[]);
    assert_eq!(listed.unwrap(), ["notes", "own"]);
    assert_eq!(storage.open(&place("more"), &[]).unwrap_err().code, ErrorCode::NotFound);
    let refused = create_place(&storage, "more").unwrap_err();
    assert_eq!(refused.code, ErrorCode::NotGranted);
    assert!(refused.message.contains("the program that embeds this host"), "{refused}");

    for wrong in [&[("a", "/")][..], &[("a", "notes")], &[("a", "${base}/x"), ("b", "${base}/x/y")]]
    {
        assert_eq!(grant(wrong).unwrap_err().code, ErrorCode::NotGranted, "{wrong:?}");
    }
    assert_eq!(grant(&[("a/b", "${base}/x")]).unwrap_err().code, ErrorCode::InvalidPath);
}

#[test]
fn a_family_and_other_places_do_not_meet() {
    let (_scratch, base) = base();
    let storage = storage(&base);
    let directory = |path: String| NamedPlace {
        label: "drawer".to_owned(),
        kind: NamedPlaceKind::Directory,
        path: path.into(),
        is_private: true,
        databases: Vec::new(),
    };
    let around = storage.grant_place(directory(format!("{base}/config"))).unwrap_err();
    assert_eq!(around.code, ErrorCode::InvalidPath);
    assert!(around.message.contains("it contains `things`"), "{around}");
    storage.grant_place(directory(format!("{base}/home/memories"))).unwrap();
    let registry = json!({"in": {"path": "~/memories/in"}, "apart": {"path": "~/apart"}});
    fs::write(format!("{base}/config/registry.yaml"), registry.to_string()).unwrap();
    fs::create_dir(format!("{base}/home/apart")).unwrap();
    let within = storage.open(&place("in"), &[]).unwrap_err();
    assert!(within.message.contains("it lies within `drawer`"), "{within}");
    assert!(storage.open(&place("apart"), &[]).is_ok());
}
