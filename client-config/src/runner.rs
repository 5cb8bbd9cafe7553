//! Programs that start this program from its package, without installing it: `npx` and `uvx`.

use std::path::Path;

/// A program that puts this program's package into its cache, and starts it there.
///
/// The cache may be cleaned at any time, so a client has to start the runner, and not the program in
/// the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runner {
    /// `npx` of npm.
    Npx,
    /// `uvx` of uv.
    Uvx,
}

/// The directories of uv's cache that hold environments, without the number of their format.
const ENVIRONMENTS_OF_UV: [&str; 3] = ["archive", "builds", "environments"];

impl Runner {
    const ALL: [Runner; 2] = [Runner::Npx, Runner::Uvx];

    /// The runner that has a program in its cache. `None` if no runner has.
    pub fn from_program(program: &Path) -> Option<Self> {
        if program.components().any(|part| part.as_os_str() == "_npx") {
            return Some(Runner::Npx);
        }
        // The interpreter is `CACHE/archive-v0/ID/bin/python`.
        let environments = program.ancestors().nth(3)?;
        let (name, format) = environments.file_name()?.to_str()?.rsplit_once("-v")?;
        let is_of_uv = ENVIRONMENTS_OF_UV.contains(&name)
            && format.parse::<u32>().is_ok()
            && environments.with_file_name("CACHEDIR.TAG").is_file();
        is_of_uv.then_some(Runner::Uvx)
    }

    /// The runner with which a command line starts this program. `None` if there is none.
    pub fn from_line(line: &[String]) -> Option<Self> {
        Runner::ALL.into_iter().find(|runner| runner.start_of(line).is_some())
    }

    /// This program as people type it.
    pub fn command(self) -> &'static str {
        match self {
            Runner::Npx => "npx -y agent-memory",
            Runner::Uvx => "uvx agent-memory",
        }
    }

    /// The command that installs this program, so that it starts without the runner.
    pub fn installation(self) -> &'static str {
        match self {
            Runner::Npx => "npm install -g agent-memory",
            Runner::Uvx => "uv tool install agent-memory",
        }
    }

    /// The command line with which a client starts this program, without arguments.
    pub fn start(self) -> Vec<String> {
        let command = self.command().split(' ').map(str::to_owned);
        if cfg!(windows) && self == Runner::Npx {
            // Only `cmd` starts the file `npx.cmd`.
            return ["cmd", "/c"].map(str::to_owned).into_iter().chain(command).collect();
        }
        command.collect()
    }

    /// The words of a line that start this program with this runner.
    fn start_of(self, line: &[String]) -> Option<&[String]> {
        let after_cmd = match line {
            [cmd, option, ..] if cmd == "cmd" && option == "/c" && self == Runner::Npx => 2,
            _ => 0,
        };
        let words = line[after_cmd..].iter().map(String::as_str);
        let count = self.command().split(' ').count();
        let starts = words.take(count).eq(self.command().split(' '));
        starts.then(|| &line[..after_cmd + count])
    }
}

/// The words of a line that start this program with a runner. `None` if the line starts it otherwise.
pub(crate) fn start_of(line: &[String]) -> Option<&[String]> {
    Runner::ALL.into_iter().find_map(|runner| runner.start_of(line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_program_in_the_cache_of_a_runner_is_started_by_the_runner() {
        let npx = "/home/ada/.npm/_npx/5f2/node_modules/@agent-memory/linux-x64/bin/agent-memory";
        assert_eq!(Runner::from_program(Path::new(npx)), Some(Runner::Npx));
        let cache = tempfile::tempdir().unwrap();
        let python = |environments: &str| cache.path().join(environments).join("Ab1/bin/python");
        assert_eq!(Runner::from_program(&python("archive-v0")), None, "no cache");
        fs::write(cache.path().join("CACHEDIR.TAG"), "").unwrap();
        for environments in ["archive-v0", "builds-v0", "environments-v12"] {
            assert_eq!(Runner::from_program(&python(environments)), Some(Runner::Uvx));
        }
        for installed in [
            python("archive"),
            python("archive-vx"),
            python("other-v0"),
            "/usr/local/lib/node_modules/@agent-memory/linux-x64/bin/agent-memory".into(),
            "/home/ada/.local/share/uv/tools/agent-memory/bin/python".into(),
            "agent-memory".into(),
        ] {
            assert_eq!(Runner::from_program(&installed), None, "{}", installed.display());
        }
    }

    #[test]
    fn a_line_that_a_runner_begins_is_found_again() {
        let line = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for runner in Runner::ALL {
            assert_eq!(Runner::from_line(&runner.start()), Some(runner));
            let longer = [runner.start(), line("hook codex session-end")].concat();
            assert_eq!(start_of(&longer), Some(&runner.start()[..]));
        }
        let windows = line("cmd /c npx -y agent-memory serve");
        assert_eq!(Runner::from_line(&windows), Some(Runner::Npx));
        for other in
            ["npx -y", "npx -y other agent-memory", "cmd /c uvx agent-memory", "uvx", "cmd /c"]
        {
            assert_eq!(Runner::from_line(&line(other)), None, "{other}");
        }
        assert_eq!(Runner::from_line(&[]), None);
    }
}
