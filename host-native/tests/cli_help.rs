//! The help, the manual pages and the completions.

mod process;

use agent_memory_host::cli;
use process::{Repository, agent_memory, on_a_terminal};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program's commands and their subcommands, of any depth.
fn commands() -> Vec<String> {
    let mut program = cli::command().disable_help_subcommand(true);
    program.build();
    program.get_subcommands().flat_map(|command| with_subcommands("", command)).collect()
}

fn with_subcommands(above: &str, command: &clap::Command) -> Vec<String> {
    let name = format!("{above}{}", command.get_name());
    let own = command.get_subcommands().filter(|own| !own.is_hide_set());
    let own: Vec<_> = own.flat_map(|own| with_subcommands(&format!("{name} "), own)).collect();
    [name].into_iter().chain(own).collect()
}

/// The commands with a golden file. The commands of tools are all alike, so only one of them has a
/// file.
fn reviewed() -> Vec<String> {
    let is_tool = |command: &String| command.contains('_');
    let wanted = |command: &String| !is_tool(command) || command == "sessions append_entry";
    commands().into_iter().filter(wanted).collect()
}

/// The output of the program with these arguments.
fn printed(arguments: &[&str]) -> String {
    let mut program = agent_memory(Path::new("/"));
    // These variables would change the width and the colours.
    program.env_remove("COLUMNS").env_remove("CLICOLOR_FORCE").stdin(Stdio::null());
    let output = program.args(arguments).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The short and the long help of a command, without the blanks at the ends of lines.
fn help_of(command: Option<&str>) -> String {
    let mut text = String::new();
    for flag in ["-h", "--help"] {
        let words = command.into_iter().flat_map(str::split_whitespace);
        let arguments: Vec<&str> = words.chain([flag]).collect();
        text.push_str(&format!("$ agent-memory {}\n", arguments.join(" ")));
        for line in printed(&arguments).lines() {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text.push('\n');
    }
    text.trim_end().to_owned() + "\n"
}

fn golden(name: &str) -> PathBuf {
    let name = name.replace(' ', "-");
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/help/{name}.txt"))
}

#[test]
fn the_help_of_every_command_is_that_of_its_golden_file() {
    let bless = std::env::var_os("BLESS").is_some();
    let commands = reviewed();
    let pages = [("agent-memory", None)].into_iter();
    let pages = pages.chain(commands.iter().map(|name| (&**name, Some(&**name))));
    let mut changed = Vec::new();
    for (name, command) in pages {
        let file = golden(name);
        let help = help_of(command);
        if bless {
            fs::write(&file, &help).expect("the help is written");
        } else if fs::read_to_string(&file).ok().as_ref() != Some(&help) {
            changed.push((name.to_owned(), help));
        }
    }
    let names: Vec<&str> = changed.iter().map(|(name, _)| &**name).collect();
    assert!(
        changed.is_empty(),
        "the help of {names:?} differs from `host-native/tests/help/`; to accept it, run this with \
         BLESS=1:\n{}",
        changed[0].1
    );
    let files = fs::read_dir(golden("x").with_file_name("")).expect("the directory").count();
    assert_eq!(files, commands.len() + 1, "a file in `host-native/tests/help/` has no command");
}

#[test]
fn the_command_help_and_the_flag_print_the_same() {
    for command in &commands() {
        let words = command.split_whitespace();
        let help = [vec!["help"], words.clone().collect()].concat();
        assert_eq!(printed(&help), printed(&words.chain(["--help"]).collect::<Vec<_>>()));
    }
}

#[test]
fn every_long_help_has_examples_and_exit_statuses_within_100_columns() {
    for command in &commands() {
        let words = command.split_whitespace().chain(["--help"]);
        let help = printed(&words.collect::<Vec<_>>());
        for section in ["\nExamples:\n", "\nExit status:\n  0  "] {
            assert!(help.contains(section), "{command}: {help}");
        }
        let widest = help.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{command}: {help}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let pages = scratch.path().join("share/man1");
    printed(&["man", pages.to_str().expect("UTF-8")]);
    let page = |name: &str| fs::read_to_string(pages.join(name)).expect(name);
    assert_eq!(page("agent-memory.1").trim_end(), printed(&["man"]).trim_end());
    for command in &commands() {
        let page = page(&format!("agent-memory-{}.1", command.replace(' ', "-")));
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS"] {
            let heading = [format!(".SH {section}\n"), format!(".SH \"{section}\"\n")];
            assert!(heading.iter().any(|line| page.contains(line)), "{command}: {section}: {page}");
        }
        assert!(!page.contains('\x1b'), "{command}: {page}");
    }
    let made = fs::read_dir(&pages).expect("the pages").count();
    assert_eq!(made, commands().len() + 1);

    let mut groff = Command::new("groff");
    groff.args(["-man", "-Tutf8", "-ww", "-z"]);
    groff.args(fs::read_dir(&pages).expect("the pages").map(|page| page.expect("a page").path()));
    match groff.output() {
        Ok(output) => {
            assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        }
        Err(error) => println!("the pages are not formatted: there is no groff ({error})"),
    }
}

/// The completions that bash offers for the last of these words.
fn completed(script: &Path, words: &[&str]) -> Option<Vec<String>> {
    // Like the shell, calls the completion function with the command, the last word and the word before
    // it. `complete` prints the function's name.
    let program = r#"
        source "$1"; shift
        read -ra registered <<<"$(complete -p agent-memory)"
        for at in "${!registered[@]}"; do
            [[ ${registered[at]} == -F ]] && function=${registered[at + 1]}
        done
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        "$function" agent-memory "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", program, "bash"]).arg(script).args(words);
    let output = match bash.output() {
        Ok(output) => output,
        Err(error) => {
            println!("completions are not tried: there is no bash ({error})");
            return None;
        }
    };
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    Some(text.lines().map(str::to_owned).collect())
}

#[test]
fn bash_completes_commands_options_and_values() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let script = scratch.path().join("completions.bash");
    fs::write(&script, printed(&["completions", "bash"])).expect("the script");
    let cases: [(&[&str], &[&str]); 5] = [
        (&["va"], &["validate"]),
        (&["serve", "--dur"], &["--durability"]),
        (&["serve", "--durability", ""], &["full", "relaxed"]),
        (&["validate", "--format", "j"], &["json"]),
        (&["completions", "z"], &["zsh"]),
    ];
    for (words, expected) in cases {
        let words: Vec<&str> = ["agent-memory"].into_iter().chain(words.iter().copied()).collect();
        if let Some(offered) = completed(&script, &words) {
            assert_eq!(offered, expected, "{words:?}");
        }
    }
}

#[test]
fn there_are_completions_for_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = printed(&["completions", shell]);
        for part in ["agent-memory", "validate", "durability"] {
            assert!(script.contains(part), "{shell}: `{part}`");
        }
    }
}

const ESCAPE: char = '\x1b';

#[test]
fn colours_are_used_on_terminals_only_unless_a_variable_says_no() {
    let repository = Repository::new();
    let root = repository.root();
    let logs = root.join(".github/agent-memory/aristotle/logs");
    fs::create_dir_all(&logs).expect("a directory");
    fs::write(logs.join("notes.txt"), "").expect("a file");
    let coloured: [&[&str]; 4] =
        [&["serve", "--help"], &["no-such-command"], &["tools"], &["validate"]];
    for arguments in coloured {
        let Some(plain) = on_a_terminal(&root, arguments, &[]) else { return };
        assert!(plain.contains(ESCAPE), "{arguments:?}: {plain}");
        let unwanted: [&[(&str, &str)]; 3] =
            [&[("NO_COLOR", "1")], &[("TERM", "dumb")], &[("TERM", "dumb"), ("CI", "1")]];
        for variables in unwanted {
            let shown = on_a_terminal(&root, arguments, variables).expect("as before");
            assert!(!shown.is_empty(), "{arguments:?} {variables:?}");
            assert!(!shown.contains(ESCAPE), "{arguments:?} {variables:?}: {shown}");
        }
        let output = agent_memory(&root).env("TERM", "xterm").args(arguments).output();
        let output = output.expect("it runs");
        let shown = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
        assert!(!shown.is_empty() && !shown.contains(ESCAPE), "{arguments:?}: {shown}");
    }
}

#[test]
fn a_server_on_a_terminal_says_that_it_waits_for_a_client() {
    let repository = Repository::new();
    let Some(shown) = on_a_terminal(&repository.root(), &["serve"], &[]) else { return };
    assert!(shown.contains("a client is expected"), "{shown}");
    assert!(!shown.contains(ESCAPE) && !shown.contains("tracing"), "{shown}");
}

#[test]
fn progress_is_shown_on_a_terminal_and_cleared() {
    let repository = Repository::new();
    let logs = repository.root().join(".github/agent-memory/aristotle/logs");
    fs::create_dir_all(&logs).expect("a directory");
    for number in 0..450 {
        fs::write(logs.join(format!("note-{number:03}.txt")), "").expect("a file");
    }
    let dumb = [("TERM", "dumb")];
    for (variables, expected) in [(&[][..], true), (&dumb, false)] {
        let Some(shown) = on_a_terminal(&repository.root(), &["validate"], variables) else {
            return;
        };
        assert_eq!(shown.contains(" of 450 documents"), expected, "{variables:?}: {shown}");
        // Each line of progress is cleared before the next output.
        let left = shown.lines().filter(|line| line.ends_with(" of 450 documents"));
        assert_eq!(left.count(), 0, "{shown}");
        assert!(shown.trim_end().ends_with("450 documents, 0 errors, 450 warnings"), "{shown}");
    }
}
