//! Random calls of agents, valid and invalid.

use jiff::civil::Date;
use serde_json::{Map, Value, json};

use super::Sessions;
use super::arguments::fields;
use super::files::SECTIONS;
use crate::model::Call;
use crate::model::text::{LONGEST, Text};
use crate::random::Random;

/// The agents of a sequence.
pub const AGENTS: [&str; 3] = ["ada", "aristotle", "x.y_z-1"];

const SUMMARY_SECTIONS: [&str; 6] =
    ["Overview", "Key Knowledge", "Active Decisions", "Important Patterns", "Risks", "Q & A"];

impl Sessions {
    pub(super) fn any_call(&self, random: &mut Random, today: &str) -> Call<Text> {
        let mut tool = random.pick(&self.tools).clone();
        // Appends are most frequent, since they have most error cases.
        if random.below(3) == 0 {
            tool = "append_entry".into();
        }
        let mut agent = *random.pick(&AGENTS);
        if tool == "read_session" {
            // Most agents have no log for some time.
            let has_logs =
                |name: &&&str| self.agents.get(**name).is_some_and(|a| !a.logs.is_empty());
            agent = AGENTS.iter().find(has_logs).unwrap_or(&agent);
        }
        let mut arguments = Map::new();
        let mut meaning = Text::default();
        let mut put = |name: &str, value: Value| arguments.insert(name.to_owned(), value);
        put("agent_name", json!(agent_name(random, agent)));
        if random.below(4) > 0 {
            put("repo_root", json!(root(random)));
        }
        match tool.as_str() {
            "append_entry" => {
                let date = self.date(random, agent, today);
                put("section", json!(self.section(random, agent)));
                meaning = Text::any(random);
                put("content", json!(content(random, &meaning, " \n\t\r\n")));
                date.map(|date| put("date", json!(date)));
            }
            "start_session" => {
                self.date(random, agent, today).map(|date| put("date", json!(date)));
            }
            "update_summary" => {
                put("section", json!(heading(random)));
                put("mode", json!(random.pick(&["append", "append", "replace", "remove"])));
                if random.below(4) > 0 {
                    meaning = Text::any(random);
                }
                put("content", json!(content(random, &meaning, " \n")));
            }
            "read_session" => {
                let known =
                    self.agents.get(agent).map(|agent| agent.logs.keys().collect::<Vec<_>>());
                let known = known.filter(|known| !known.is_empty() && random.below(4) > 0);
                let known = known.map(|known| (*random.pick(&known)).clone());
                let date = known.or_else(|| self.date(random, agent, today));
                date.map(|date| put("date", json!(date)));
                if random.below(2) == 0 {
                    put("section", json!(self.section(random, agent)));
                }
                if random.below(4) == 0 {
                    put(
                        "from",
                        json!(
                            random
                                .pick(&[0, 1, 1, 40, 40, 150, 150, 300, 900, 2_097_152, 2_097_153])
                        ),
                    );
                }
                if random.below(2) == 0 {
                    put(
                        "limit",
                        json!(random.pick(&[99, 100, 100, 150, 150, 300, 1000, 100_000, 100_001])),
                    );
                }
            }
            "read_summary" => {
                if random.below(4) == 0 {
                    put("from", json!(random.pick(&[0, 1, 40, 150, 900, 16_777_216, 16_777_217])));
                }
                if random.below(4) == 0 {
                    put("limit", json!(random.pick(&[99, 100, 150, 1000, 100_000, 100_001])));
                }
            }
            "list_sessions" => {
                let limit = *random.pick(&[-1, 0, 1, 1, 2, 2, 3, 1000, 1001]);
                if random.below(2) == 0 {
                    put("limit", json!(limit));
                }
            }
            _ => {}
        }
        if random.below(30) == 0 {
            spoil(random, &tool, &mut arguments);
        }
        if random.below(80) == 0 {
            tool = (*random.pick(&["", "Start_session", "delete_session"])).into();
        }
        Call { tool, arguments: Value::Object(arguments), meaning }
    }

    fn date(&self, random: &mut Random, agent: &str, today: &str) -> Option<String> {
        const WRONG: [&str; 5] = ["2025-02-29", "2025-1-2", "today", "", "2025-01-02T00:00:00Z"];
        let known = self.agents.get(agent).map(|agent| agent.logs.keys().collect::<Vec<_>>());
        match random.below(12) {
            0..6 => None,
            6..9 => Some(near(random, today)),
            9..11 => known.filter(|known| !known.is_empty()).map(|k| (*random.pick(&k)).clone()),
            _ if random.below(2) == 0 => Some((*random.pick(&WRONG)).into()),
            _ => Some((*random.pick(&["2024-02-29", "0001-01-01", "9999-12-31"])).into()),
        }
    }

    fn section(&self, random: &mut Random, agent: &str) -> String {
        const WRONG: [&str; 6] = ["Header", "decisions", "Decisions ", "## Decisions", "", "None"];
        let schema = self.agents.get(agent).and_then(|agent| agent.schema.clone());
        match random.below(12) {
            0 if random.below(2) == 0 => "é".repeat(*random.pick(&[100, 101])),
            0 => (*random.pick(&WRONG)).into(),
            1 => (*random.pick(&SECTIONS)).into(),
            _ => random.pick(&schema.unwrap_or_default().sections).clone(),
        }
    }
}

/// A day of the same week.
pub fn near(random: &mut Random, today: &str) -> String {
    let today: Date = today.parse().expect("the model's dates are dates");
    let days = random.below(5) as i64 - 2;
    today.saturating_add(jiff::Span::new().days(days)).to_string()
}

fn agent_name(random: &mut Random, agent: &str) -> String {
    const WRONG: [&str; 10] =
        ["", "-a", "a b", "a/b", "..", "a..b", "con", "Lpt1.md", "end.", "größe"];
    match random.below(30) {
        0 => (*random.pick(&WRONG)).into(),
        1 => agent.to_uppercase(),
        2 if random.below(2) == 0 => "a".repeat(*random.pick(&[64, 65])),
        _ => agent.into(),
    }
}

fn root(random: &mut Random) -> String {
    const WRONG: [&str; 5] = ["", "project", "${repo}/.", "${repo}/../repo", "${repo}\n"];
    match random.below(40) {
        0 => "${elsewhere}".into(),
        1 => (*random.pick(&WRONG)).into(),
        _ => "${repo}".into(),
    }
}

fn heading(random: &mut Random) -> String {
    match random.below(20) {
        0 => "é".repeat(*random.pick(&[100, 101])),
        1 => (*random.pick(&["", " ", "two\nlines"])).into(),
        2 => (*random.pick(&["overview", "KeyKnowledge", " Risks", "Q  &  A", "OURS"])).into(),
        _ => (*random.pick(&SUMMARY_SECTIONS)).into(),
    }
}

/// The text, or sometimes one that is not accepted: too long, or blank.
fn content(random: &mut Random, text: &Text, blank: &str) -> String {
    match random.below(60) {
        0 => blank.into(),
        1 if random.below(4) == 0 => "x".repeat(LONGEST + 1),
        _ => text.given.clone(),
    }
}

/// Makes the arguments violate the tool's list.
fn spoil(random: &mut Random, tool: &str, arguments: &mut Map<String, Value>) {
    for _ in 0..=random.below(2) {
        let (name, ..) = *random.pick(fields(tool));
        match random.below(4) {
            0 => drop(arguments.remove(name)),
            1 => drop(arguments.insert("Date".into(), json!("2025-01-20"))),
            _ => {
                let value = random.pick(&[json!(null), json!(7), json!(["x"]), json!(1.5)]).clone();
                arguments.insert(name.into(), value);
            }
        }
    }
}
