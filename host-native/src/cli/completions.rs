use super::output::print;
use super::program::NAME;
use super::{Error, help};
use clap::{Args, Command};
use clap_complete::Shell;
use std::process::ExitCode;

/// Print a script that completes this command line in a shell.
///
/// It completes commands, options, their values, files and directories. Write it where the shell
/// looks for it, and again after an update of the program.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[include_str!("help/completions.txt")]))]
pub struct Completions {
    /// The shell that will read it
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, mut program: Command) -> Result<ExitCode, Error> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut program, NAME, &mut script);
        let script = String::from_utf8_lossy(&script);
        // In bash, clap_complete calls the commands of a program with a hyphen in its name by one
        // name and looks for them under another (clap-rs/clap#6421).
        let script = script.replace("agent__subcmd__memory", "agent__memory");
        print(script.trim_end())?;
        Ok(ExitCode::SUCCESS)
    }
}
