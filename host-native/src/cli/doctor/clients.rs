//! The clients on this machine, and what they start.

use super::Finding;
use agent_memory_client_config::{Client, Directories, Scope, Server, installed};
use agent_memory_setting_values::path_mistake;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ABOUT: &str = "client";

/// How long another program of this name has to print its version.
const TIMEOUT: Duration = Duration::from_secs(5);

pub(super) fn findings() -> Vec<Finding> {
    let directories = match Directories::of_system() {
        Ok(directories) => directories,
        Err(error) => return vec![Finding::warning(ABOUT, error)],
    };
    let found = Client::ALL.into_iter().filter(|client| client.is_found(&directories));
    found.map(|client| finding(client, &directories)).collect()
}

fn finding(client: Client, directories: &Directories) -> Finding {
    let (title, again) = (client.title(), format!("run `agent-memory install {}`", client.name()));
    let found = client.file(Scope::User, directories).and_then(|file| installed(&file, client));
    let (program, arguments) = match found {
        Err(error) => return Finding::warning(ABOUT, format!("{title}: {error}")),
        Ok(None) => return Finding::good(ABOUT, format!("{title} has no agent-memory: {again}")),
        Ok(Some(Server::Url(url))) => return Finding::good(ABOUT, format!("{title} uses {url}")),
        Ok(Some(Server::Command { program, arguments })) => (program, arguments),
    };
    let values =
        arguments.iter().map(|argument| argument.split_once('=').map_or(&**argument, |of| of.1));
    if let Some(value) = values.into_iter().find(|value| value.contains("${")) {
        let mistake = path_mistake(value).unwrap_or("has a variable");
        let message = format!("{title} gives `{value}`, which {mistake}");
        return Finding::warning(ABOUT, message).advise("the client may expand it");
    }
    let path = Path::new(&program);
    if path.is_absolute() && !path.is_file() {
        let message = format!("{title} starts `{program}`, which does not exist");
        return Finding::error(ABOUT, message).advise(again);
    }
    // Another program is not started.
    if path.file_stem().is_none_or(|stem| stem != "agent-memory") {
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

fn version(program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let has_ended = wait(&mut child);
    if !has_ended {
        let _ = child.kill();
    }
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (has_ended && output.status.success()).then(|| text.trim().to_owned())
}

fn wait(child: &mut Child) -> bool {
    let until = Instant::now() + TIMEOUT;
    while Instant::now() < until {
        match child.try_wait() {
            Ok(Some(_)) => return true,
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            Err(_) => return false,
        }
    }
    false
}
