use crate::cli::toolsets::memory::hook::Hook;
use crate::cli::{Error, value};
use agent_memory_client_config::{Client, Event, Hooks};
use clap::{Args, ValueEnum};

// The hooks that a client gets. No doc comment here: clap would show it as the help of the command.
#[derive(Debug, Args)]
pub(super) struct HookOptions {
    /// Also add hooks, which tell the client's agent what is remembered when a session starts
    ///
    /// With `all` others add a line to the agent's log when a session ends or its context is cut, in
    /// repositories that have such logs. The line has no
    /// word of what the user asked for.
    #[arg(
        long,
        value_name = "WHICH",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "start",
        conflicts_with_all = ["http", "file"]
    )]
    hooks: Option<Which>,

    /// The agent of the hooks, if a repository has several
    #[arg(long, value_name = "NAME", requires = "hooks", value_parser = value::agent)]
    agent: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Which {
    /// A session starts: tell what is remembered
    Start,
    /// Also record in the log that a session ends or its context is cut
    All,
}

impl HookOptions {
    pub(super) fn are_wanted(&self) -> bool {
        self.hooks.is_some()
    }

    /// The hooks to add. `None` without `--hooks`. `start` is the command line of this program, and
    /// `arguments` are those of the hooks besides the agent.
    pub(super) fn hooks(
        &self,
        client: Client,
        start: &[String],
        arguments: &[String],
    ) -> Result<Option<Hooks>, Error> {
        let Some(which) = self.hooks else { return Ok(None) };
        let agent = self.agent.as_ref().map(|agent| format!("--agent={agent}"));
        let options: Vec<String> = agent.into_iter().chain(arguments.iter().cloned()).collect();
        let own = ["hook", client.name(), Event::SessionStart.name()].map(str::to_owned);
        let line: Vec<String> = own.into_iter().chain(options.iter().cloned()).collect();
        Hook::check(&line).map_err(|error| {
            let message = error.render().to_string();
            let first = message.lines().next().unwrap_or_default();
            let reason = first.strip_prefix("error: ").unwrap_or(first);
            Error::usage(format!(
                "`agent-memory hook` would not start: {reason}; give what only `serve` takes by its \
                 variable"
            ))
        })?;
        let events = match which {
            Which::Start => vec![Event::SessionStart],
            Which::All => Event::ALL.to_vec(),
        };
        Ok(Some(Hooks { start: start.to_vec(), events, options }))
    }
}
