use super::output::print;
use super::program::NAME;
use super::{Error, help};
use clap::{Args, Command, ValueHint};
use clap_mangen::roff::{Roff, roman};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

/// Write the manual pages.
///
/// The program and each of its commands and subcommands has a page, with the text of its help.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[include_str!("help/man.txt")]))]
pub struct Man {
    /// Directory for all pages, created if it is missing; without it, the program's own page is
    /// printed
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    directory: Option<PathBuf>,
}

impl Man {
    pub(super) fn run(self, program: Command) -> Result<ExitCode, Error> {
        let mut program = program.disable_help_subcommand(true);
        program.build();
        match self.directory {
            None => print(page(program).map_err(failed)?.trim_end())?,
            Some(directory) => write_all(program, &directory).map_err(failed)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn failed(error: io::Error) -> Error {
    Error::storage(format!("the manual pages cannot be written: {error}"))
}

fn write_all(program: Command, directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let mut commands = vec![program];
    while let Some(command) = commands.pop() {
        commands.extend(command.get_subcommands().filter(|own| !own.is_hide_set()).cloned());
        let name = command.get_display_name().unwrap_or(NAME);
        let file = directory.join(format!("{name}.1"));
        fs::write(file, page(command)?)?;
    }
    Ok(())
}

/// The manual page of a command, with sections in the usual order of manuals.
fn page(command: Command) -> io::Result<String> {
    let sections = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let has_commands = command.has_subcommands();
    let version = format!("{} {}", NAME, env!("CARGO_PKG_VERSION"));
    let man = clap_mangen::Man::new(command).source(version).manual("Agent memory");

    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if has_commands {
        man.render_subcommands_section(&mut page)?;
    }
    verbatim(&sections).to_writer(&mut page)?;
    String::from_utf8(page).map_err(io::Error::other)
}

/// The sections at the end of the help as they are, without new line breaks.
fn verbatim(sections: &str) -> Roff {
    let mut roff = Roff::new();
    for line in sections.lines() {
        match help::heading(line) {
            Some(heading) => {
                roff.control("fi", []).control("SH", [heading.to_uppercase().as_str()]);
                roff.control("nf", []);
            }
            None => drop(roff.text([roman(line.strip_prefix("  ").unwrap_or(line))])),
        }
    }
    roff.control("fi", []);
    roff
}
