//! Processes of the native host, of Node and of Python write to a disk whose power is cut at random
//! moments. After the file system has replayed its journal, all acknowledged data is complete.
//!
//! It runs only on request, as root, on a machine with loop devices, XFS and ext4:
//! `AGENT_MEMORY_POWER_LOSS=1 cargo test --release -p agent-memory-tests --test power_loss`, or
//! `scripts/test --power-loss`. `CUTS=100` makes 100 cuts.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::panic;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use agent_memory_conformance::case::{Documents, Format};
use agent_memory_conformance::in_memory::InMemory;
use agent_memory_conformance::runner::Answer;
use agent_memory_tests::cut_disk::CutDisk;
use agent_memory_tests::mounts::as_root_with_mounts;
use agent_memory_tests::process::{Call, Host, Process};
use agent_memory_tests::random::{Random, replay, seed_or};
use agent_memory_tests::skip::not_asked_for;
use agent_memory_tests::stored_records::tasks;
use serde_json::{Value, json};

const ASKED: &str = "AGENT_MEMORY_POWER_LOSS";
/// The number of cuts if `CUTS` is not set, and the number of cuts of one disk. On a new disk, first
/// sessions and first records are cut, too.
const CUTS: usize = 30;
const CUTS_OF_A_DISK: usize = 10;
/// The longest time between two cuts.
const LONGEST: Duration = Duration::from_secs(2);
/// About how many entries are added to a log or a file of records before the next one is begun.
const BUCKET: usize = 300;
/// How many words an entry has: from one line to some kilobytes.
const WORDS: [usize; 4] = [1, 5, 40, 600];

const DATE: &str = "2025-01-20";
const AGENT: &str = "aristotle";
const TREE: &str = "repo/.github/agent-memory";

/// The tests run one after the other, since each uses the whole machine.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn acknowledged_data_survives_a_loss_of_power() {
    const TEST: &str = "acknowledged_data_survives_a_loss_of_power";
    if !is_asked_for() {
        return not_asked_for(&format!("{ASKED}=1"));
    }
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    as_root_with_mounts(TEST, || {
        let seed = seed_or(1);
        let cuts = env::var("CUTS").map_or(CUTS, |text| text.parse().expect("CUTS is a number"));
        println!("to draw the same delays: {ASKED}=1 CUTS={cuts} {}", again(TEST, seed));
        let mut random = Random::new(seed);
        let mut figures = Figures::default();
        let began = Instant::now();
        for begun in (0..cuts).step_by(CUTS_OF_A_DISK) {
            let delays = (begun..cuts.min(begun + CUTS_OF_A_DISK))
                .map(|_| LONGEST.mul_f64(random.below(1000) as f64 / 1000.0));
            cut_disk(
                &Writer::all(&Host::all_with_python()),
                &delays.collect::<Vec<_>>(),
                &[],
                &mut figures,
            );
        }
        println!("{figures} in {:.1?}", began.elapsed());
        assert!(figures.complaints.is_empty(), "{}", figures.complaints.join("\n"));
        assert!(figures.acknowledged > 0, "every cut came before the first answer");
    });
}

/// This shows that the test can find a loss.
#[test]
fn with_relaxed_durability_a_loss_of_power_loses_data() {
    const TEST: &str = "with_relaxed_durability_a_loss_of_power_loses_data";
    if !is_asked_for() {
        return not_asked_for(&format!("{ASKED}=1"));
    }
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    as_root_with_mounts(TEST, || {
        let mut figures = Figures::default();
        let relaxed = ["env", "AGENT_MEMORY_DURABILITY=relaxed"];
        cut_disk(&Writer::all(&[Host::Native]), &[LONGEST; 3], &relaxed, &mut figures);
        println!("relaxed: {figures}");
        assert!(figures.lost > 0, "no data was lost");
    });
}

fn is_asked_for() -> bool {
    env::var(ASKED).is_ok_and(|asked| !matches!(asked.as_str(), "" | "0"))
}

fn again(test: &str, seed: u64) -> String {
    replay("power_loss", test, seed)
}

/// The kind of calls that a writer makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Work {
    /// Appends to the log of one agent.
    Log,
    /// Adds records in JSON.
    Json,
    /// Adds records in SQLite.
    Sqlite,
    /// Starts the first session of a new agent each time.
    NewAgents,
}

impl Work {
    const ALL: [Self; 4] = [Self::Log, Self::Json, Self::Sqlite, Self::NewAgents];

    /// Starts a process in a directory.
    fn start(self, launcher: &[&str], host: Host, root: &Path) -> Process {
        let records =
            |name, format| Process::start_on_records_by(launcher, host, &root.join(name), format);
        match self {
            Self::Log | Self::NewAgents => Process::start_by(launcher, host, &root.join("repo")),
            Self::Json => records("json", Format::Json),
            Self::Sqlite => records("sqlite", Format::Sqlite),
        }
    }
}

/// The work of one process, and its progress.
struct Writer {
    host: Host,
    work: Work,
    sent: AtomicUsize,
    acknowledged: AtomicUsize,
}

impl Writer {
    /// A writer of each host for each kind of work.
    fn all(hosts: &[Host]) -> Vec<Self> {
        let works =
            Work::ALL.into_iter().flat_map(|work| hosts.iter().map(move |host| (*host, work)));
        let at = |(host, work)| Self { host, work, sent: 0.into(), acknowledged: 0.into() };
        works.map(at).collect()
    }

    fn name(&self) -> String {
        format!("{:?}", self.host)
    }

    /// Makes calls until it is stopped.
    fn run(&self, all: &[Self], root: &Path, launcher: &[&str], stop: &AtomicBool) {
        let mut process = self.work.start(launcher, self.host, root);
        let repo = root.join("repo");
        let mut day = None;
        while !stop.load(SeqCst) {
            let number = self.sent.load(SeqCst);
            let of_work = all.iter().filter(|writer| writer.work == self.work);
            let so_far: usize = of_work.map(|writer| writer.acknowledged.load(SeqCst)).sum();
            let bucket = so_far / BUCKET;
            if self.work == Work::Log && day != Some(bucket) {
                let start = json!({"agent_name": AGENT, "repo_root": repo, "date": date(bucket)});
                self.succeeds(&mut process, Call { tool: "start_session", arguments: start });
                day = Some(bucket);
            }
            self.sent.store(number + 1, SeqCst);
            self.succeeds(&mut process, self.call(number, bucket, &repo));
            self.acknowledged.store(number + 1, SeqCst);
        }
    }

    fn succeeds(&self, process: &mut Process, call: Call) {
        match process.call(&call) {
            Answer::Result(_) => {}
            answer => panic!("{} writes {:?}: {answer:?}", self.name(), self.work),
        }
    }

    fn call(&self, number: usize, bucket: usize, repo: &Path) -> Call {
        let content = content(&self.name(), number);
        let record = |agent: String| json!({"agent_id": agent, "type": "task", "content": content});
        match self.work {
            Work::Log => Call {
                tool: "append_entry",
                arguments: json!({"agent_name": AGENT, "repo_root": repo, "date": date(bucket),
                    "section": "Context", "content": content}),
            },
            Work::Json => Call { tool: "store_memory", arguments: record(format!("a{bucket}")) },
            Work::Sqlite => Call { tool: "store_memory", arguments: record("default".into()) },
            Work::NewAgents => Call {
                tool: "start_session",
                arguments: json!({"agent_name": format!("{}-{number}", self.name()),
                    "repo_root": repo, "date": DATE}),
            },
        }
    }
}

/// The text of an entry, on one line.
fn content(name: &str, number: usize) -> String {
    format!("{name}-{number}{} end", " word".repeat(WORDS[number % WORDS.len()]))
}

/// The date of a log.
fn date(bucket: usize) -> String {
    format!("{:04}-01-20", 2025 + bucket)
}

/// Counts of the test.
#[derive(Debug, Default)]
struct Figures {
    cuts: usize,
    /// Entries that were acknowledged before a cut.
    acknowledged: usize,
    lost: usize,
    /// Entries that are there in part.
    torn: usize,
    /// Entries that are there although they were not acknowledged.
    unsaid: usize,
    by_writer: BTreeMap<String, usize>,
    complaints: Vec<String>,
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { cuts, acknowledged, lost, torn, unsaid, by_writer, .. } = self;
        write!(
            f,
            "{cuts} cuts, {acknowledged} acknowledged writes looked for, {lost} lost, {torn} torn, \
             {unsaid} there before they were acknowledged; by writer: {by_writer:?}"
        )
    }
}

/// Stops the writers when it is dropped, also if the test panics.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

/// Lets writers work on a new disk, and checks a cut of it after each delay.
fn cut_disk(writers: &[Writer], delays: &[Duration], launcher: &[&str], figures: &mut Figures) {
    let disk = CutDisk::new().unwrap_or_else(|why| panic!("no disk can be made here: {why}"));
    let root = disk.path();
    fs::create_dir_all(root.join("repo/.git")).expect("a directory");
    fs::write(root.join("repo/.git/HEAD"), "ref: refs/heads/main\n").expect("a file");
    let repository = fs::File::open(root).expect("it is there");
    rustix::fs::syncfs(repository).expect("the repository itself is on the disk");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let _stop = Stop(&stop);
        for writer in writers {
            let stop = &stop;
            scope.spawn(move || writer.run(writers, root, launcher, stop));
        }
        for delay in delays {
            thread::sleep(*delay);
            let count = |of: fn(&Writer) -> &AtomicUsize| -> Vec<usize> {
                writers.iter().map(|writer| of(writer).load(SeqCst)).collect()
            };
            let acknowledged = count(|writer| &writer.acknowledged);
            let cut = disk.cut().expect("the file system survives the cut");
            let sent = count(|writer| &writer.sent);
            figures.cuts += 1;
            for work in Work::ALL {
                let kept = StoredMemory::new(work, cut.path());
                figures.torn += kept.torn.len();
                let cut = figures.cuts;
                let torn =
                    kept.torn.iter().map(|what| format!("cut {cut}, {work:?}: torn: {what}"));
                figures.complaints.extend(torn);
                for (index, writer) in writers.iter().enumerate() {
                    if writer.work == work {
                        figures.judge(writer, &kept, acknowledged[index], sent[index]);
                    }
                }
            }
        }
    });
}

impl Figures {
    /// Checks that all acknowledged entries of a writer are there, and none that it had not sent.
    fn judge(&mut self, writer: &Writer, kept: &StoredMemory, acknowledged: usize, sent: usize) {
        let name = writer.name();
        let none = BTreeSet::new();
        let there = kept.whole.get(&name).unwrap_or(&none);
        let what = format!("cut {}, {name}, {:?}", self.cuts, writer.work);
        let lost: Vec<usize> = (0..acknowledged).filter(|number| !there.contains(number)).collect();
        let beyond: Vec<usize> = there.range(acknowledged..).copied().collect();
        self.acknowledged += acknowledged;
        self.lost += lost.len();
        self.unsaid += beyond.len();
        *self.by_writer.entry(format!("{name} {:?}", writer.work)).or_default() += acknowledged;
        if let (Some(first), Some(last)) = (lost.first(), lost.last()) {
            let lost = lost.len();
            let all = format!("{lost} of {acknowledged} are lost, from {first} to {last}");
            self.complaints.push(format!("{what}: {all}"));
        }
        // It makes one call at a time, so an entry is there only if all earlier ones are.
        let in_order = (acknowledged..).zip(&beyond).all(|(expected, number)| expected == *number);
        if !in_order || acknowledged + beyond.len() > sent {
            self.complaints.push(format!("{what}: {beyond:?} are there, and {sent} were sent"));
        }
    }
}

/// The stored data of one kind of work, read without the product.
#[derive(Default)]
struct StoredMemory {
    /// The numbers of the complete entries, by the writer's name.
    whole: BTreeMap<String, BTreeSet<usize>>,
    torn: Vec<String>,
}

impl StoredMemory {
    fn new(work: Work, root: &Path) -> Self {
        let mut kept = Self::default();
        match work {
            Work::Log => kept.read_logs(&root.join(TREE).join(AGENT).join("logs")),
            Work::Json => kept.read_files(&root.join("json")),
            Work::Sqlite => {
                // It panics if the database is damaged.
                match panic::catch_unwind(|| tasks(&root.join("sqlite"), Format::Sqlite)) {
                    Ok(tasks) => tasks
                        .iter()
                        .for_each(|task| kept.note_content(&task.content, "memories.db")),
                    Err(_) => kept.torn.push("memories.db is damaged".into()),
                }
            }
            Work::NewAgents => kept.read_agents(&root.join(TREE)),
        }
        kept
    }

    fn note(&mut self, name: &str, number: usize, place: &str) {
        if !self.whole.entry(name.to_owned()).or_default().insert(number) {
            self.torn.push(format!("{place}: {name}-{number} is there twice"));
        }
    }

    fn note_content(&mut self, text: &str, place: &str) {
        match of_content(text) {
            Some((name, number)) => self.note(&name, number, place),
            None => self.torn.push(format!("{place}: `{text}`")),
        }
    }

    fn read_logs(&mut self, directory: &Path) {
        for (name, text) in files(directory) {
            let empty = new_agent(AGENT, name.trim_end_matches(".md"));
            let empty = &empty[&format!("logs/{name}")];
            let mut frame = empty.lines().filter(|line| !line.is_empty()).peekable();
            for line in text.lines().filter(|line| !line.is_empty()) {
                if frame.peek() == Some(&line) {
                    frame.next();
                } else {
                    self.note_content(line, &name);
                }
            }
            if let Some(line) = frame.next() {
                self.torn.push(format!("{name}: `{line}` is missing in {} bytes", text.len()));
            }
        }
    }

    fn read_files(&mut self, directory: &Path) {
        for (name, text) in files(directory) {
            let is_file = name.ends_with(".json");
            if !is_file && !name.ends_with(".json.backup") {
                continue;
            }
            let file: Value = match serde_json::from_str(&text) {
                Ok(file) => file,
                Err(error) => {
                    self.torn.push(format!("{name}, {} bytes: {error}", text.len()));
                    continue;
                }
            };
            for task in file["tasks"].as_array().into_iter().flatten().filter(|_| is_file) {
                self.note_content(task["content"].as_str().unwrap_or_default(), &name);
            }
        }
    }

    /// The documents of a new agent appear one by one, each complete.
    fn read_agents(&mut self, tree: &Path) {
        for agent in names(tree).into_iter().filter(|agent| agent != AGENT) {
            let Some((name, number)) = of_name(&agent) else {
                self.torn.push(format!("`{agent}` is nobody's"));
                continue;
            };
            let mut missing = 0;
            let mut torn = 0;
            for (path, expected) in new_agent(&agent, DATE) {
                match fs::read_to_string(tree.join(&agent).join(&path)) {
                    Err(_) => missing += 1,
                    Ok(text) if text == expected => {}
                    Ok(text) => {
                        torn += 1;
                        self.torn.push(format!("{agent}/{path}, {} bytes", text.len()));
                    }
                }
            }
            if missing + torn == 0 {
                self.note(&name, number, &agent);
            }
        }
    }
}

/// The writer and the number of a complete entry.
fn of_content(text: &str) -> Option<(String, usize)> {
    let (name, number) = of_name(text.split(' ').next()?)?;
    (content(&name, number) == text).then_some((name, number))
}

fn of_name(text: &str) -> Option<(String, usize)> {
    let (name, number) = text.split_once('-')?;
    Some((name.to_owned(), number.parse().ok()?))
}

/// The documents of an agent after its first session, by their paths below its directory.
fn new_agent(agent: &str, date: &str) -> BTreeMap<String, String> {
    let memory = InMemory::new("/repo", &Documents::new());
    let arguments = json!({"agent_name": agent, "repo_root": "/repo", "date": date});
    let answer = memory.call("start_session", &arguments);
    assert!(matches!(answer, Answer::Result(_)), "{answer:?}");
    let document = |(path, bytes): (String, Vec<u8>)| {
        let path = path.split_once('/').expect("a document of the agent").1.to_owned();
        (path, String::from_utf8(bytes).expect("UTF-8"))
    };
    memory.documents().into_iter().map(document).collect()
}

/// The documents of a directory, without temporary files; empty if there is no directory.
fn files(directory: &Path) -> Vec<(String, String)> {
    let is_document = |name: &String| !name.starts_with('.');
    let read = |name: String| {
        let bytes = fs::read(directory.join(&name)).expect("a file can be read");
        (name, String::from_utf8_lossy(&bytes).into_owned())
    };
    names(directory).into_iter().filter(is_document).map(read).collect()
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
    entries.map(|entry| name(entry).into_string().expect("names are UTF-8")).collect()
}
