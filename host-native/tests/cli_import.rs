//! `agent-memory store import`: a folder of Markdown files becomes memories.

mod process;
mod store;

use process::on_a_terminal;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use store::{Scratch, fails, stderr, stdout, succeeds};

/// The lines of an output, in order.
fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn a_folder_becomes_memories_and_the_same_import_again_changes_nothing() {
    let scratch = Scratch::new();
    scratch.put("in/My Notes/Deploy Plan.md", "# Deploy\n");
    scratch.put("in/b.md", "---\ntitle: B\ntags: [x]\n---\nB\n");
    scratch.put("in/logo.png", [0, 1, 2]);
    scratch.put("in/.git/HEAD.md", "hidden");
    let lines =
        "added\tnotes/b\tb.md\nadded\tnotes/my-notes/deploy-plan\tMy Notes/Deploy Plan.md\n";
    let others = "; 1 file is not Markdown\n";
    let dry = scratch.run(&["import", "team", "in", "--into", "notes", "--dry-run"]);
    succeeds(&dry, lines, &format!("2 memories would be imported{others}"));
    assert!(!scratch.store().join("notes").exists());

    let imported = scratch.run(&["import", "team", "in", "--into", "notes"]);
    succeeds(&imported, lines, &format!("2 memories imported{others}"));
    assert_eq!(scratch.text("team/notes/b.md"), "---\ntitle: B\ntags: [x]\n---\nB\n");
    let deploy = scratch.text("team/notes/my-notes/deploy-plan.md");
    assert!(deploy.ends_with("\nsource: user\n---\n# Deploy\n"), "{deploy}");
    let listed = scratch.run(&["list", "team", "--recursive"]);
    assert_eq!(stdout(&listed).lines().count(), 4, "{listed:?}");

    let again = scratch.run(&["import", "team", "in", "--into", "notes"]);
    succeeds(&again, "", &format!("0 memories imported, 2 imported before{others}"));
    assert_eq!(scratch.text("team/notes/my-notes/deploy-plan.md"), deploy);
}

#[test]
fn a_memory_with_another_text_is_skipped_replaced_or_refused() {
    let scratch = Scratch::new();
    scratch.put("in/a.md", "A\n");
    assert_eq!(scratch.run(&["import", "team", "in"]).status.code(), Some(0));
    let before = scratch.text("team/a.md");
    scratch.put("in/a.md", "A2\n");
    scratch.put("in/b.md", "B\n");
    let refused = scratch.run(&["import", "team", "in", "--on-conflict", "refuse"]);
    fails(&refused, 1, &["nothing of this page was imported", "`a`"]);
    assert!(!scratch.store().join("b.md").exists());

    let skipped = scratch.run(&["import", "team", "in"]);
    assert_eq!(skipped.status.code(), Some(1));
    assert_eq!(stdout(&skipped), "added\tb\tb.md\n");
    let tells = "`a.md` is skipped: there is a memory `a` with another text\n1 memory imported, 1 file \
        skipped\n";
    assert_eq!(stderr(&skipped), tells);
    assert_eq!(scratch.text("team/a.md"), before);

    let replaced = scratch.run(&["import", "team", "in", "--on-conflict", "replace"]);
    let tells = "1 memory imported, 1 of them replaced, 1 imported before\n";
    succeeds(&replaced, "replaced\ta\ta.md\n", tells);
    assert_eq!(scratch.text("team/a.md"), before.replace("\nA\n", "\nA2\n"));
}

#[test]
fn each_file_that_cannot_be_imported_is_named_and_the_others_are_imported() {
    let scratch = Scratch::new();
    scratch.put("in/good.md", "Good\n");
    scratch.put("in/bad.md", "---\n[\n---\n");
    scratch.put("in/blank.md", " \n");
    scratch.put("in/latin.md", b"a\xff");
    scratch.put("in/A b.md", "x");
    scratch.put("in/a-b.md", "x");
    scratch.put("in/日本.md", "x");
    scratch.put("in/long.md", "x".repeat(16 << 20));
    scratch.put("in/longer.md", "x".repeat((16 << 20) + 1));
    // A file that has front matter may be as long as a document.
    let front = "---\ntags: []\n---\n";
    let longest = format!("{front}{}", "x".repeat((16 << 20) - front.len()));
    scratch.put("in/longest.md", &longest);
    let imported = scratch.run(&["import", "team", "in"]);
    assert_eq!(imported.status.code(), Some(1));
    let added = "added\ta-b\ta-b.md\nadded\ta-b-041104\tA b.md\nadded\tgood\tgood.md\n\
        added\tlongest\tlongest.md\nadded\triben\t日本.md\n";
    assert_eq!(stdout(&imported), added);
    assert!(scratch.text("team/longest.md") == longest);
    let lines = stderr(&imported).lines().collect::<Vec<_>>();
    for (file, reason) in [
        ("bad.md", "line 3 of `bad.md`"),
        ("blank.md", "it is blank"),
        ("latin.md", "it is not UTF-8"),
        ("long.md", "it has more than 16 MiB with its front matter"),
        ("longer.md", "it has more than 16 MiB: split it"),
    ] {
        let line = lines.iter().find(|line| line.starts_with(&format!("`{file}` is skipped: ")));
        assert!(line.is_some_and(|line| line.contains(reason)), "{file}: {imported:?}");
    }
    assert_eq!(*lines.last().expect("a line"), "5 memories imported, 5 files skipped");
    assert_eq!(lines.len(), 6);

    fails(&scratch.run(&["import", "team", "nothing"]), 2, &["`nothing` is no directory"]);
    fails(&scratch.run(&["import", "taem", "in"]), 1, &["no store `taem`"]);
    fails(&scratch.run(&["import", "team", "in", "--into", "A"]), 1, &["use `a`"]);
}

#[cfg(unix)]
#[test]
fn an_import_follows_no_link_below_its_folder_and_opens_no_device() {
    use std::os::unix::fs::symlink;
    let scratch = Scratch::new();
    scratch.put("secret/key.md", "Secret\n");
    scratch.put("in/a.md", "A\n");
    symlink(scratch.root().join("secret/key.md"), scratch.root().join("in/key.md"))
        .expect("a link");
    symlink(scratch.root().join("secret"), scratch.root().join("in/keys")).expect("a link");
    symlink(scratch.root().join("in"), scratch.root().join("linked")).expect("a link");
    let _socket = std::os::unix::net::UnixListener::bind(scratch.root().join("in/s.md"));
    let imported = scratch.run(&["import", "team", "linked"]);
    assert_eq!(imported.status.code(), Some(1));
    assert_eq!(stdout(&imported), "added\ta\ta.md\n");
    let expected = "`key.md` is skipped: it is a symbolic link\n`keys` is skipped: it is a symbolic \
        link\n`s.md` is skipped: it is neither a file nor a directory\n1 memory imported, 3 files \
        skipped\n";
    assert_eq!(stderr(&imported), expected);
}

/// A folder with `count` files in two directories. Some of them are long.
fn many(scratch: &Scratch, count: usize) {
    for number in 0..count {
        let text = if number % 100 == 0 { "x".repeat(300_000) } else { format!("{number}\n") };
        scratch.put(&format!("in/c{}/n{number:04}.md", number % 2), text);
    }
}

#[test]
fn a_large_folder_is_imported_page_by_page() {
    let scratch = Scratch::new();
    many(&scratch, 900);
    let imported = scratch.run(&["import", "team", "in"]);
    assert_eq!(imported.status.code(), Some(0), "{imported:?}");
    assert_eq!(stderr(&imported), "900 memories imported\n");
    let lines = sorted(stdout(&imported));
    assert_eq!((lines.len(), lines[0]), (900, "added\tc0/n0000\tc0/n0000.md"));
    let listed = scratch.run(&["list", "team"]);
    succeeds(&listed, "c0/\t450 memories\nc1/\t450 memories\n", "");
}

#[test]
fn the_progress_of_an_import_is_shown_on_a_terminal_and_cleared() {
    let scratch = Scratch::new();
    many(&scratch, 900);
    let data = scratch.root().join("data");
    let variables = [("AGENT_MEMORY_DATA_DIR", data.to_str().expect("UTF-8"))];
    let words = ["store", "import", "team", "in"];
    let Some(shown) = on_a_terminal(&scratch.root(), &words, &variables) else { return };
    // A page is full at the seventh long file, so the first page has the 300 files before it.
    assert!(shown.contains("300 of 900 files"), "{shown}");
    assert!(!shown.lines().any(|line| line.ends_with(" of 900 files")), "{shown}");
    assert!(shown.trim_end().ends_with("900 memories imported"), "{shown}");
}

#[test]
fn an_import_that_was_killed_is_continued_by_the_same_command() {
    let scratch = Scratch::new();
    many(&scratch, 900);
    let mut command = scratch.command(&["import", "team", "in"]);
    let mut import = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it runs");
    let mut first = String::new();
    let mut lines = BufReader::new(import.stdout.take().expect("its output"));
    lines.read_line(&mut first).expect("a line");
    import.kill().expect("it is killed");
    import.wait().expect("it ends");
    assert!(first.starts_with("added\t"), "{first}");

    let again = scratch.run(&["import", "team", "in"]);
    assert_eq!(again.status.code(), Some(0), "{again:?}");
    let tells = stderr(&again);
    let added: usize = tells.split(' ').next().and_then(|n| n.parse().ok()).expect(tells);
    let before = 900 - added;
    assert!(before > 0, "{tells}");
    assert_eq!(tells, format!("{added} memories imported, {before} imported before\n"));
    let listed = scratch.run(&["list", "team"]);
    succeeds(&listed, "c0/\t450 memories\nc1/\t450 memories\n", "");
    let files = |of: &str| fs::read_dir(scratch.store().join(of)).expect("a category").count();
    // The memories and an index, but no file that is half written.
    assert_eq!((files("c0"), files("c1")), (451, 451));
}
