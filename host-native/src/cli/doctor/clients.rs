//! Checks the clients on this machine, and the programs and servers that they use.

use super::finding::Finding;
use super::reached::asked;
use crate::cli::program::typed;
use agent_memory_client_config::{
    Client, Directories, Runner, Scope, Server, installed, installed_hooks,
};
use agent_memory_setting_values::{hide_urls, is_database_url, path_mistake};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

const ABOUT: &str = "client";

/// How long a program that a client starts may take to print its version.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The most bytes of a printed version.
const MAX_LINE: u64 = 200;

pub(super) fn findings() -> Vec<Finding> {
    let directories = match Directories::from_system() {
        Ok(directories) => directories,
        Err(error) => return vec![Finding::warning(ABOUT, error)],
    };
    let found = Client::ALL.into_iter().filter(|client| client.is_found(&directories));
    let of_client = |client| {
        [finding(client, &directories)].into_iter().chain(finding_of_hooks(client, &directories))
    };
    found.flat_map(of_client).collect()
}

/// Checks the client's hooks that start this program. `None` if nothing is wrong, or if there are no
/// hooks.
fn finding_of_hooks(client: Client, directories: &Directories) -> Option<Finding> {
    if !client.has_hooks() {
        return None;
    }
    let title = client.title();
    let file = client.hooks_file(Scope::User, directories);
    let hooks = match file.and_then(|file| installed_hooks(&file, client)) {
        Ok(hooks) => hooks,
        // `finding` has reported this file already.
        Err(_) if client.has_one_file() => return None,
        Err(error) => return Some(Finding::warning(ABOUT, format!("hooks of {title}: {error}"))),
    };
    let programs = hooks.iter().filter_map(|(_, line)| line.first());
    let missing = programs.map(Path::new).find(|path| path.is_absolute() && !path.is_file())?;
    let missing = missing.display();
    let message = format!("hooks of {title} start `{missing}`, which does not exist");
    let again = format!("run `{} install {} --hooks`", typed(), client.name());
    Some(Finding::error(ABOUT, message).advise(again))
}

fn finding(client: Client, directories: &Directories) -> Finding {
    let title = client.title();
    let again = format!("run `{} install {}`", typed(), client.name());
    let found = client.file(Scope::User, directories).and_then(|file| installed(&file, client));
    let (program, arguments) = match found {
        Err(error) => return Finding::warning(ABOUT, format!("{title}: {error}")),
        Ok(None) => return Finding::good(ABOUT, format!("{title} has no agent-memory: {again}")),
        Ok(Some(Server::Url { url, .. })) => {
            return finding_of_url(title, &url);
        }
        Ok(Some(Server::Command { program, arguments })) => (program, arguments),
    };
    if program.is_empty() {
        let message = format!("{title} has an entry that starts nothing");
        return Finding::error(ABOUT, message).advise(again);
    }
    let path = Path::new(&program);
    if path.is_absolute() && !path.is_file() {
        let message = format!("{title} starts `{program}`, which does not exist");
        return Finding::error(ABOUT, message).advise(again);
    }
    if let Some((value, mistake)) = arguments.iter().find_map(|argument| unexpanded(argument)) {
        let message = format!("{title} gives `{}`, which {mistake}", hide_urls(value));
        return Finding::warning(ABOUT, message)
            .advise("write it out, unless the client expands it");
    }
    let line = [std::slice::from_ref(&program), &arguments].concat();
    if let Some(runner) = Runner::from_line(&line) {
        // Not started: the runner may download the package.
        return Finding::good(ABOUT, format!("{title} starts `{}`", runner.command()));
    }
    // Start only a program that has this name and an absolute path: the file may name any program.
    let is_named = path.file_stem().is_some_and(|stem| stem == "agent-memory");
    if !path.is_absolute() || !is_named {
        return Finding::good(ABOUT, format!("{title} starts `{program}`"));
    }
    let own = concat!("agent-memory ", env!("CARGO_PKG_VERSION"));
    match version(path) {
        Some(version) if version == own => {
            Finding::good(ABOUT, format!("{title} starts `{program}`"))
        }
        Some(version) => {
            let message = format!("{title} starts {version}, `{program}`; this is {own}");
            Finding::warning(ABOUT, message).advise(again)
        }
        None => {
            let message = format!("{title} starts `{program}`, which does not tell its version");
            Finding::error(ABOUT, message).advise(again)
        }
    }
}

fn finding_of_url(title: &str, url: &str) -> Finding {
    let shown = without_secrets(url);
    if url.contains(['$', '{']) {
        return Finding::good(
            ABOUT,
            format!("{title} uses {shown}, with a variable of the client"),
        );
    }
    match asked(url) {
        Ok(answer) => Finding::good(ABOUT, format!("{title} uses {shown}, which {answer}")),
        Err(mistake) => {
            let message = format!("{title} uses {shown}, which {mistake}");
            Finding::error(ABOUT, message).advise(
                "start `agent-memory serve --http` there, whose tools are at `/mcp`, or correct the URL",
            )
        }
    }
}

/// Finds a variable in an argument that was not expanded. Returns the argument's value and what is wrong
/// with it.
fn unexpanded(argument: &str) -> Option<(&str, &'static str)> {
    let value = argument.split_once('=').map_or(argument, |(_, value)| value);
    let has_variable = value.contains('$') || value.contains('%');
    // The URL of a database is no path, and its password may have `%` escapes.
    let may_be_path = !is_database_url(value);
    path_mistake(value).filter(|_| has_variable && may_be_path).map(|mistake| (value, mistake))
}

/// A URL without the parts that can have a secret: the user name, the password and the query. In a URL of
/// wrong form, these end with the last `@`.
fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    match (url.split_once("://"), url.rsplit_once('@')) {
        (_, None) => url.to_owned(),
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://{rest}"),
        (None, Some((_, rest))) => rest.to_owned(),
    }
}

/// Runs a program, and returns the first line that it prints. Does not wait for a process that the
/// program leaves behind.
fn version(program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    // A process group, so that a script is ended together with the processes that it starts.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().ok()?;
    let output = child.stdout.take()?;
    let (sender, line) = mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(output.take(MAX_LINE)).read_line(&mut line);
        // The receiver is gone after the timeout.
        let _ = sender.send(read.is_ok().then_some(line));
    });
    let line = line.recv_timeout(TIMEOUT).ok().flatten();
    end(&mut child);
    line.map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}

fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}
