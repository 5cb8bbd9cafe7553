use super::target::{Target, records};
use crate::cli::output::print_note;
use crate::cli::progress::Progress;
use crate::cli::{Error, help};
use clap::{Args, ValueEnum};
use serde::Deserialize;
use serde_json::json;

/// Archive the memories that an agent has not used for some time.
///
/// The age of a memory counts from when it was last recalled, changed or created. Archived memories
/// stay, but queries leave them out unless they ask for them.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("help/archive.txt"),
    include_str!("help/status.txt"),
]))]
pub(super) struct Archive {
    /// The least age, in days or weeks, such as `90d` or `12w`
    #[arg(long, value_name = "AGE", value_parser = days)]
    older_than: u32,

    /// Only memories of this type
    #[arg(long = "type", value_name = "TYPE", value_enum)]
    kind: Option<Kind>,

    #[command(flatten)]
    target: Target,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    Core,
    Learning,
    Task,
}

#[derive(Deserialize)]
struct Page {
    archived: u64,
    cursor: Option<String>,
    #[serde(default)]
    warnings: Vec<String>,
}

impl Archive {
    pub(super) fn run(self) -> Result<(), Error> {
        let target = self.target.open()?;
        let mut arguments = json!({"older_than_days": self.older_than});
        if let Some(kind) = self.kind.and_then(|kind| kind.to_possible_value()) {
            arguments["type"] = json!(kind.get_name());
        }
        let mut progress = Progress::new("records");
        let mut archived = 0;
        loop {
            let page = target.page::<Page>("archive_memories", arguments.clone());
            progress.clear();
            let page = page?;
            archived += page.archived;
            let Some(cursor) = page.cursor else {
                page.warnings.iter().for_each(|warning| print_note(warning));
                break;
            };
            arguments["cursor"] = json!(cursor);
            progress.show_count(archived as usize);
        }
        print_note(&format!("{} of agent `{}` archived", records(archived), target.agent));
        Ok(())
    }
}

fn days(text: &str) -> Result<u32, String> {
    let parsed = match (text.strip_suffix('d'), text.strip_suffix('w')) {
        (Some(days), _) => days.parse().ok(),
        (_, Some(weeks)) => weeks.parse::<u32>().ok().and_then(|weeks| weeks.checked_mul(7)),
        _ => None,
    };
    parsed
        .filter(|days| *days <= 100_000)
        .ok_or_else(|| "an age is a number of days or weeks, such as `90d` or `12w`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::days;

    #[test]
    fn an_age_is_days_or_weeks() {
        assert_eq!(days("90d"), Ok(90));
        assert_eq!(days("12w"), Ok(84));
        assert_eq!(days("0d"), Ok(0));
        for wrong in ["", "90", "d", "-1d", "1.5d", "9999999999w", "100001d", "1m"] {
            assert!(days(wrong).is_err(), "{wrong}");
        }
    }
}
