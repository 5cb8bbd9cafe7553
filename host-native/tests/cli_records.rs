//! `agent-memory records`: converting, exporting, importing and archiving.

mod process;

use process::{Client, ProtocolVersion, agent_memory};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const NOW: &str = "2025-01-20T10:00:00Z";

/// A working directory, in which the directory of records does not exist yet.
struct Scratch {
    directory: tempfile::TempDir,
}

impl Scratch {
    fn new() -> Self {
        Scratch { directory: tempfile::tempdir().expect("a temporary directory") }
    }

    fn root(&self) -> &Path {
        self.directory.path()
    }

    fn kept(&self, name: &str) -> PathBuf {
        self.root().join("memories").join(name)
    }

    fn command(&self, words: &str) -> Command {
        let mut command = agent_memory(self.root());
        command.args(words.split_whitespace()).stdin(Stdio::null());
        command.env("MEMORY_DIR", self.root().join("memories"));
        command.env("AGENT_MEMORY_FIXED_CLOCK", NOW).env("LOG_LEVEL", "ERROR");
        command
    }

    fn run(&self, words: &str) -> Output {
        self.command(words).output().expect("it runs")
    }

    fn run_with(&self, words: &str, input: &str) -> Output {
        let mut command = self.command(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it runs");
        let mut stdin = child.stdin.take().expect("its input");
        // Writing fails if the program ends before it has read everything.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        child.wait_with_output().expect("it ends")
    }

    fn call(&self, tool: &str, arguments: Value) -> Value {
        let mut command = self.command("call --toolset records");
        let output = command.arg(tool).arg(arguments.to_string()).output().expect("it runs");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
    }
}

/// Whether the database is one file, without a write-ahead log beside it.
fn is_in_one_file(scratch: &Scratch) -> bool {
    assert!(scratch.kept("memories.db").exists());
    !["memories.db-wal", "memories.db-shm"].iter().any(|name| scratch.kept(name).exists())
}

fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).expect("UTF-8")
}

fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).expect("UTF-8")
}

fn succeeds(output: &Output, tells: &str) {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(stderr(output), tells);
}

fn fails(output: &Output, status: i32, tells: &[&str]) {
    assert_eq!(output.status.code(), Some(status), "{output:?}");
    assert_eq!(stdout(output), "");
    for text in tells {
        assert!(stderr(output).contains(text), "{output:?}");
    }
}

fn record(number: usize) -> Value {
    json!({
        "id": format!("{number:08}-0000-4000-8000-000000000000"),
        "type": "learning",
        "content": format!("memory {number}"),
        "created_at": "2024-01-01T00:00:00.000Z",
        "updated_at": "2024-01-01T00:00:00.000Z",
        "accessed_at": "2024-01-01T00:00:00.000Z",
        "access_count": 0,
        "tags": ["x"],
        "importance": "medium",
        "archived": false,
    })
}

fn lines(count: usize) -> String {
    (0..count).map(|number| format!("{}\n", record(number))).collect()
}

#[test]
fn records_are_imported_and_exported_in_pages_through_files_and_pipes() {
    let scratch = Scratch::new();
    let lines = lines(12_000);
    fs::write(scratch.root().join("in.jsonl"), &lines).expect("a file");
    let output = scratch.run("records import --agent ada --records-format sqlite in.jsonl");
    succeeds(&output, "12000 records imported\n");
    assert!(scratch.kept("memories.db").exists());

    let output = scratch.run("records export --agent ada out.jsonl");
    succeeds(&output, "12000 records of agent `ada`\n");
    assert_eq!(fs::read_to_string(scratch.root().join("out.jsonl")).expect("a file"), lines);
    let output = scratch.run("records export --agent ada");
    succeeds(&output, "12000 records of agent `ada`\n");
    assert_eq!(stdout(&output), lines);

    let output = scratch.run_with("records import --agent bob -", &lines);
    succeeds(&output, "12000 records imported\n");
    assert!(scratch.kept("bob.json").exists());
    let document = scratch.run("records export --agent bob --format json");
    assert_eq!(fs::read(scratch.kept("bob.json")).expect("a file"), document.stdout);
    let output = scratch.run_with("records import --agent eve", stdout(&document));
    succeeds(&output, "12000 records imported\n");
    let names = fs::read_dir(scratch.root()).expect("the directory").count();
    assert_eq!(names, 3, "a file of an unfinished export is left");
}

#[cfg(unix)]
#[test]
fn an_exported_file_is_private_to_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    scratch.call("add_core_memory", json!({"content": "x"}));
    succeeds(&scratch.run("records export out"), "1 record of agent `default`\n");
    let mode = fs::metadata(scratch.root().join("out")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[cfg(unix)]
#[test]
fn an_export_follows_links_and_replaces_only_regular_files() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let scratch = Scratch::new();
    scratch.call("add_core_memory", json!({"content": "x"}));
    let exported = stdout(&scratch.run("records export")).to_owned();
    let at = |name: &str| scratch.root().join(name);
    let done = "1 record of agent `default`\n";

    // The file keeps its mode, and the link stays a link.
    fs::write(at("file"), "old").expect("a file");
    fs::set_permissions(at("file"), fs::Permissions::from_mode(0o640)).expect("its mode");
    symlink("file", at("link")).expect("a link");
    succeeds(&scratch.run("records export link"), done);
    assert!(at("link").is_symlink());
    assert_eq!(fs::read_to_string(at("file")).expect("a file"), exported);
    let mode = fs::metadata(at("file")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);

    let pipe = at("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).expect("a pipe");
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe)
    });
    succeeds(&scratch.run("records export pipe"), done);
    assert_eq!(reader.join().expect("it reads").expect("a text"), exported);
    assert!(fs::metadata(&pipe).expect("it is there").file_type().is_fifo());

    // The file of an open descriptor is written in place instead of replaced, also through a link.
    symlink("/dev/stdout", at("output")).expect("a link");
    let script = "{ echo first; \"$0\" records export /dev/stdout; echo last; } >out
                  { echo first; \"$0\" records export output; echo last; } >>out
                  { echo first; \"$0\" records export /dev/fd/3; } 3>>out";
    let program = scratch.command("").get_program().to_owned();
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script).arg(program).current_dir(scratch.root());
    shell.env("MEMORY_DIR", scratch.kept("")).env("LOG_LEVEL", "ERROR");
    assert!(shell.output().expect("it runs").status.success());
    let written = fs::read_to_string(at("out")).expect("a file");
    let one = format!("first\n{exported}last\n");
    assert_eq!(written, format!("{one}{one}{exported}"));

    // This path below `/proc` is no descriptor: the file is replaced.
    fs::write(at("file"), "old").expect("a file");
    succeeds(&scratch.run("records export /proc/self/cwd/file"), done);
    assert_eq!(fs::read_to_string(at("file")).expect("a file"), exported);
    let kept = fs::read(scratch.kept("default.json")).expect("a file");
    let output = scratch.run("records export /proc/self/cwd/memories/default.json");
    fails(&output, 2, &["is in the directory of the records"]);
    let script = "\"$0\" records export /dev/fd/3 3>>memories/default.json";
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script).arg(scratch.command("").get_program()).current_dir(scratch.root());
    shell.env("MEMORY_DIR", scratch.kept("")).env("LOG_LEVEL", "ERROR");
    fails(&shell.output().expect("it runs"), 2, &["is in the directory of the records"]);
    assert_eq!(fs::read(scratch.kept("default.json")).expect("a file"), kept);

    symlink("nowhere", at("dangling")).expect("a link");
    fails(&scratch.run("records export dangling"), 2, &["`nowhere`", "name a file"]);
    fails(&scratch.run("records export memories"), 2, &["is a directory"]);
    assert!(!at("nowhere").exists());
}

#[test]
fn an_existing_record_is_refused_skipped_or_replaced_on_import() {
    let scratch = Scratch::new();
    succeeds(&scratch.run_with("records import", &lines(1)), "1 record imported\n");
    let two = lines(2).replace("memory 0", "other");
    let output = scratch.run_with("records import", &two);
    fails(&output, 1, &["line 1: the id `00000000-", "skip or replace"]);
    let output = scratch.run_with("records import --on-conflict skip", &two);
    succeeds(&output, "1 record imported, 1 skipped\n");
    let output = scratch.run_with("records import --on-conflict replace", &two);
    succeeds(&output, "2 records imported, 2 of them replaced others\n");
    assert!(stdout(&scratch.run("records export")).contains("other"));
}

#[test]
fn lines_with_a_byte_order_mark_are_still_imported_as_lines() {
    let scratch = Scratch::new();
    let text = lines(5_000).replace("memory ", &"x".repeat(4096));
    let text = format!("\u{feff}{text}");
    let output = scratch.run_with("records import --records-format sqlite", &text);
    succeeds(&output, "5000 records imported\n");
}

#[test]
fn an_import_error_names_the_line_and_the_records_imported_before() {
    let scratch = Scratch::new();
    let text = lines(5_500) + "{\"type\": \"core\"}\n";
    let output = scratch.run_with("records import", &text);
    fails(&output, 1, &["line 5501: a memory without `created_at`", "before that: 5000 records"]);
    let output = scratch.run_with("records import --on-conflict skip", &lines(5_500));
    succeeds(&output, "500 records imported, 5000 skipped\n");
    let document = stdout(&scratch.run("records export --format json")).to_owned();
    let output = scratch.run_with("records import --agent ada", &document[..document.len() - 2]);
    fails(&output, 1, &["line "]);
    let output = scratch.run_with("records import --agent ada", "\u{1}");
    fails(&output, 1, &["line 1: "]);
    fails(&scratch.run("records import no-such-file"), 2, &["`no-such-file`"]);
}

#[test]
fn a_conversion_works_both_ways_and_can_be_repeated() {
    let scratch = Scratch::new();
    succeeds(&scratch.run_with("records import", &lines(12_000)), "12000 records imported\n");
    let before = fs::read(scratch.kept("default.json")).expect("a file");
    for _ in 0..2 {
        let output = scratch.run("records convert --to sqlite");
        succeeds(&output, "agent `default` is in SQLite, with 12000 records\n");
        assert!(!scratch.kept("default.json").exists());
        let converted = scratch.kept("default.json.converted");
        assert_eq!(fs::read(converted).expect("a file"), before);
    }
    fails(&scratch.run("records convert --to json"), 1, &["`default.json.converted`"]);
    fs::remove_file(scratch.kept("default.json.converted")).expect("a file");
    for _ in 0..2 {
        let output = scratch.run("records convert --to json");
        succeeds(&output, "agent `default` is in JSON, with 12000 records\n");
        assert_eq!(fs::read(scratch.kept("default.json")).expect("a file"), before);
    }
    fails(&scratch.run("records convert --to json --agent ada"), 1, &["`ada`"]);
    fails(&scratch.run("records export --agent ada"), 1, &["`ada`"]);
}

#[test]
fn archiving_archives_old_memories() {
    let scratch = Scratch::new();
    succeeds(&scratch.run_with("records import", &lines(3)), "3 records imported\n");
    scratch.call("add_recent_learning", json!({"content": "new"}));
    let output = scratch.run("records archive --older-than 90d --type core");
    succeeds(&output, "0 records of agent `default` archived\n");
    let output = scratch.run("records archive --older-than 12w --type learning");
    succeeds(&output, "3 records of agent `default` archived\n");
    let stats = scratch.call("get_memory_stats", json!({}));
    assert_eq!((&stats["total_memories"], &stats["archived_count"]), (&json!(1), &json!(3)));
    fails(&scratch.run("records archive --older-than soon"), 2, &["`90d`"]);
}

#[test]
fn storage_that_fails_exits_with_3_and_leaves_no_file() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.kept("default.json")).expect("a directory");
    fails(&scratch.run("records export out"), 3, &["`default.json`"]);
    assert!(!scratch.root().join("out").exists());
    fails(&scratch.run_with("records import", &lines(1)), 3, &[]);
    let names = fs::read_dir(scratch.root()).expect("the directory").count();
    assert_eq!(names, 1);
}

#[test]
fn a_command_leaves_the_database_in_one_file() {
    let scratch = Scratch::new();
    let input = lines(1);
    let commands = [
        "records import --records-format sqlite",
        "call --toolset records add_core_memory {\"content\":\"x\"}",
        "call --toolset records query_memories",
        "records export",
        "records archive --older-than 90d",
    ];
    for command in commands {
        let output = scratch.run_with(command, &input);
        assert!(output.status.success(), "{command}: {output:?}");
        assert!(is_in_one_file(&scratch), "{command}");
    }
}

#[test]
fn a_server_leaves_the_database_in_one_file_when_it_ends() {
    use rustix::process::{Pid, Signal, kill_process};
    for signal in [None, Some(Signal::TERM), Some(Signal::INT)] {
        let scratch = Scratch::new();
        let mut serve = scratch.command("serve --toolset records --records-format sqlite");
        let mut client = Client::new(&mut serve, ProtocolVersion::Initialized);
        client.call("add_core_memory", json!({"content": "x"}));
        assert!(!is_in_one_file(&scratch), "while it runs");
        let status = match signal {
            None => client.end().1,
            Some(signal) => {
                let server = Pid::from_raw(client.id().cast_signed()).expect("an id");
                kill_process(server, signal).expect("it is there");
                client.wait()
            }
        };
        assert!(status.success(), "{signal:?}: {status}");
        assert!(is_in_one_file(&scratch), "{signal:?}");
    }
}

#[test]
fn an_export_into_the_directory_of_the_records_is_refused_before_anything_is_written() {
    for (format, file) in [("json", "default.json"), ("sqlite", "memories.db")] {
        let scratch = Scratch::new();
        let import = format!("records import --records-format {format}");
        succeeds(&scratch.run_with(&import, &lines(3)), "3 records imported\n");
        let before = fs::read(scratch.kept(file)).expect("it is there");
        let link = scratch.root().join("link");
        std::os::unix::fs::symlink(scratch.kept(""), &link).expect("a link");
        let names = [file, "new.jsonl", ".agent-memory/new.jsonl", "../memories/new.jsonl"];
        let within = names.map(|name| scratch.kept(name)).into_iter().chain([link.join(file)]);
        for target in within {
            let export = format!("records export {}", target.display());
            let tells = ["is in the directory of the records", "name a file elsewhere"];
            fails(&scratch.run(&export), 2, &tells);
            let at_work = scratch.command(&export).current_dir(scratch.kept("")).output();
            fails(&at_work.expect("it runs"), 2, &tells);
        }
        let mut relative = scratch.command("records export new.jsonl");
        fails(
            &relative.current_dir(scratch.kept("")).output().expect("it runs"),
            2,
            &["elsewhere"],
        );
        assert_eq!(fs::read(scratch.kept(file)).expect("it is there"), before);
        assert!(!scratch.kept("new.jsonl").exists());
        let beside = scratch.run("records export memories.jsonl");
        succeeds(&beside, "3 records of agent `default`\n");
    }
}
