//! The expected answers of the tools, and their changes.

use agent_memory_core::storage::version_of;
use serde_json::{Value, json};

use super::arguments::{fields, understood, violations};
use super::files::{Damage, Log, Schema, Summary};
use super::{Agent, Sessions};
use crate::model::document::Document;
use crate::model::expected::{Expected, Reason};
use crate::model::text::{Kind, Text};
use crate::model::{Call, Model};

const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
const TREE: &str = ".github/agent-memory";

impl Sessions {
    pub(super) fn answer(&mut self, call: &Call<Text>, today: &str) -> Expected {
        let none = serde_json::Map::new();
        let given = call.arguments.as_object().unwrap_or(&none);
        if fields(&call.tool).is_empty() {
            return Expected::NotFound;
        }
        let given = &understood(&call.tool, given);
        let violations = violations(&call.tool, given);
        if !violations.is_empty() {
            return Expected::Violations(violations);
        }
        let text = |name: &str| given.get(name).and_then(Value::as_str);
        let name = text("agent_name").unwrap_or_default();
        let section = text("section").unwrap_or_default();
        let date = text("date").unwrap_or(today);
        // The repository is the only one that is granted.
        let root = text("repo_root").unwrap_or("${repo}");

        let mut reasons = reasons_in(name, root);
        let is_reached = reasons.is_empty();
        if call.meaning.offends {
            reasons.push(Reason::state("InvalidContent"));
        }
        if text("mode") == Some("append") && text("content") == Some("") {
            reasons.push(Reason::field("InvalidInput", "/content"));
        }
        let removes = text("mode") == Some("remove");
        let lacks_content = call.tool == "update_summary" && text("content").is_none() && !removes;
        let removes_content = removes && !matches!(text("content"), None | Some(""));
        if lacks_content || removes_content {
            reasons.push(Reason::field("InvalidInput", "/content"));
        }
        if is_reached && self.has_twin(name) {
            reasons.push(Reason::field("InvalidInput", "/agent_name"));
        }
        let mut agent = self.agents.get(name).cloned().unwrap_or_default();
        let schema_reason = agent.schema_reason();
        let number = |name: &str| given.get(name).and_then(Value::as_u64);
        let from = number("from").unwrap_or(0) as usize;
        let answered = match call.tool.as_str() {
            "start_session" => agent.start_session(name, date, today),
            "append_entry" => agent.append_entry(name, date, section, &call.meaning),
            "read_summary" => {
                agent.read_summary(name, from, number("limit").unwrap_or(50_000) as usize)
            }
            "update_summary" if text("mode") == Some("remove") => {
                agent.remove_section(name, section)
            }
            "update_summary" => {
                let replaces = text("mode") == Some("replace");
                agent.update_summary(name, section, &call.meaning, replaces)
            }
            "read_session" => {
                let limit = number("limit").unwrap_or(8000) as usize;
                agent.read_session(name, date, text("section"), from, limit)
            }
            _ => Ok(agent.list_sessions(given.get("limit").and_then(Value::as_u64))),
        };
        match (schema_reason, answered) {
            // An unreachable agent gives no reason, and neither do logs without a schema.
            _ if !is_reached => {}
            (Some(reason), _) => reasons.push(reason),
            (None, Err(further)) => reasons.extend(further),
            (None, Ok(expected)) if reasons.is_empty() => {
                self.agents.insert(name.to_owned(), agent);
                return expected;
            }
            (None, Ok(_)) => {}
        }
        Expected::Error(reasons)
    }

    /// Whether a name differs only in case from one in the tree.
    fn has_twin(&self, name: &str) -> bool {
        let documents = self.documents();
        let mut names = documents.keys().filter_map(|path| path.split('/').next());
        names.any(|other| other != name && other.eq_ignore_ascii_case(name))
    }
}

/// The errors in a name and a root that the tool's schema accepts.
fn reasons_in(name: &str, root: &str) -> Vec<Reason> {
    let stem = name.split('.').next().unwrap_or_default().to_lowercase();
    let numbered = |kind: &str| (1..=9).any(|n| stem == format!("{kind}{n}"));
    let is_device = DEVICES.contains(&stem.as_str()) || numbered("com") || numbered("lpt");
    let mut reasons = Vec::new();
    if name.contains("..") || name.ends_with('.') || is_device {
        reasons.push(Reason::field("InvalidInput", "/agent_name"));
    }
    match root {
        "${repo}" => {}
        "${elsewhere}" => reasons.push(Reason::state("RepositoryNotAllowed")),
        _ => reasons.push(Reason::field("InvalidInput", "/repo_root")),
    }
    reasons
}

/// The version that a read returns with a document.
fn version(contents: &[u8]) -> String {
    version_of(contents)[..16].to_owned()
}

type Answered = Result<Expected, Vec<Reason>>;

fn refused(code: &'static str) -> Answered {
    Err(vec![Reason::state(code)])
}

impl Agent {
    fn schema_reason(&self) -> Option<Reason> {
        match &self.schema {
            None if !self.logs.is_empty() => Some(Reason::state("SchemaMissing")),
            Some(Schema { damage: Some(_), .. }) => Some(Reason::state("SchemaInvalid")),
            _ => None,
        }
    }

    /// The effective schema, if it is known.
    fn effective_schema(&self) -> Schema {
        self.schema.clone().unwrap_or_default()
    }

    fn start_session(&mut self, name: &str, date: &str, today: &str) -> Answered {
        let schema = self.effective_schema();
        let log = self.logs.get(date);
        if log.is_some_and(|log| log.is_malformed(&schema)) {
            return refused("MalformedLog");
        }
        let created = log.is_none();
        self.schema.get_or_insert_default();
        self.summary.get_or_insert_with(Summary::template);
        let log = self.logs.entry(date.into()).or_insert_with(|| Log::new(name, date, &schema));
        Ok(Expected::Result {
            fields: json!({
                "session_file": format!("{TREE}/{name}/logs/{date}.md"),
                "created": created,
                "session_id": log.session_id,
            }),
            warnings: Some([warnings(&schema, Some(log)), future(date, today)].concat()),
        })
    }

    fn append_entry(&mut self, name: &str, date: &str, section: &str, text: &Text) -> Answered {
        let schema = self.effective_schema();
        let mut reasons = Vec::new();
        if !schema.sections.iter().any(|known| known == section) {
            reasons.push(Reason::field("InvalidSection", "/section"));
        }
        let Some(log) = self.logs.get_mut(date) else {
            reasons.push(Reason::state("SessionNotFound"));
            return Err(reasons);
        };
        if log.is_malformed(&schema) {
            reasons.push(Reason::state("MalformedLog"));
            return Err(reasons);
        }
        let place = log.document.named(section).first().copied();
        let above = place.map_or(Kind::Other, |index| log.document.sections[index].end());
        let meddles = log.document.labels().any(|label| text.defines.iter().any(|l| l == label));
        if meddles || text.joins(above) {
            reasons.push(Reason::state("InvalidContent"));
        }
        if !reasons.is_empty() || text.offends {
            return Err(reasons);
        }
        let mut warnings = warnings(&schema, Some(log));
        let above = place.and_then(|index| log.document.sections[index].heading_above(text));
        warnings.extend(above.map(|heading| format!("`{heading}`")));
        match place {
            Some(index) => log.document.add(index, text),
            None => {
                let earlier = schema.sections.iter().take_while(|other| *other != section);
                let present = |name: &String| log.document.named(name).first().copied();
                let nearest = earlier.filter_map(present).last();
                let header = || log.document.named("Header").first().copied();
                let after = nearest.or_else(header).unwrap_or(0);
                log.document.insert(after, section, Some(text));
            }
        }
        Ok(Expected::Result {
            fields: json!({
                "session_file": format!("{TREE}/{name}/logs/{date}.md"),
                "section": section,
            }),
            warnings: Some(warnings),
        })
    }

    fn read_summary(&self, name: &str, from: usize, limit: usize) -> Answered {
        let template = Summary::template();
        let summary = self.summary.as_ref().unwrap_or(&template);
        let Ok(text) = String::from_utf8(summary.render()) else {
            return refused("MalformedLog");
        };
        if from > 0 && from >= text.chars().count() {
            return Err(vec![Reason::field("InvalidInput", "/from")]);
        }
        Ok(Expected::Page {
            fields: json!({
                "summary_file": format!("{TREE}/{name}/_summary.md"),
                "exists": self.summary.is_some(),
                "version": version(text.as_bytes()),
            }),
            warnings: warnings(&self.effective_schema(), None)
                .into_iter()
                .chain(self.summary.is_none().then(|| "has no summary yet".to_owned()))
                .collect(),
            text: "summary",
            rest: text.chars().skip(from).collect(),
            before: from,
            limit,
        })
    }

    fn update_summary(
        &mut self,
        name: &str,
        section: &str,
        text: &Text,
        replaces: bool,
    ) -> Answered {
        let summary = self.summary.get_or_insert_with(Summary::template);
        let document = &mut summary.document;
        let places = document.named(section);
        let place = places.first().copied();
        let (is_last, is_empty) =
            (place == Some(document.sections.len() - 1), text.stored.is_empty());
        let mut reasons = Vec::new();
        if places.len() > 1 || section.contains('\n') {
            reasons.push(Reason::field("InvalidSection", "/section"));
        }
        let is_plain = section.trim() == section;
        if places.is_empty() && (is_near(document, section) || !is_plain) {
            reasons.push(Reason::field("InvalidSection", "/section"));
        }
        // The end of a section belongs to its body.
        let heals = replaces && is_last && summary.damage != Some(Damage::NotUtf8);
        if summary.damage.is_some() && !heals {
            reasons.push(Reason::state("MalformedLog"));
        }
        if let Some(index) = place.filter(|_| replaces) {
            document.replace(index, None);
        }
        let above = place.map_or(Kind::Other, |index| document.sections[index].end());
        if document.labels().any(|label| text.defines.iter().any(|l| l == label))
            || text.joins(above)
        {
            reasons.push(Reason::state("InvalidContent"));
        }
        if !reasons.is_empty() || text.offends {
            return Err(reasons);
        }
        let text = Some(text).filter(|_| !is_empty);
        match place {
            Some(index) => text.into_iter().for_each(|text| document.add(index, text)),
            None => document.insert(document.sections.len() - 1, section, text),
        }
        summary.damage = None;
        Ok(Expected::Result {
            fields: json!({
                "summary_file": format!("{TREE}/{name}/_summary.md"),
                "section": section,
                "mode": if replaces { "replace" } else { "append" },
                "created_section": place.is_none(),
            }),
            warnings: None,
        })
    }

    fn remove_section(&mut self, name: &str, section: &str) -> Answered {
        let summary = self.summary.get_or_insert_with(Summary::template);
        let document = &mut summary.document;
        let mut reasons = Vec::new();
        let is_last = |index: usize| index == document.sections.len() - 1;
        match document.named(section)[..] {
            // The end of the document belongs to its last section.
            [index]
                if document.sections[index].is_empty()
                    && !(is_last(index) && summary.damage.is_some()) =>
            {
                if summary.damage.is_none() {
                    document.remove(index);
                }
            }
            _ => reasons.push(Reason::field("InvalidSection", "/section")),
        }
        if summary.damage.is_some() {
            reasons.push(Reason::state("MalformedLog"));
        }
        if !reasons.is_empty() {
            return Err(reasons);
        }
        Ok(Expected::Result {
            fields: json!({
                "summary_file": format!("{TREE}/{name}/_summary.md"),
                "section": section,
                "mode": "remove",
                "created_section": false,
            }),
            warnings: None,
        })
    }

    fn read_session(
        &self,
        name: &str,
        date: &str,
        section: Option<&str>,
        from: usize,
        limit: usize,
    ) -> Answered {
        let schema = self.effective_schema();
        let Some(log) = self.logs.get(date) else { return refused("SessionNotFound") };
        let place = section.map(|section| log.document.named(section).first().copied());
        let Some([before, text]) = log.parts(place.flatten(), name, date) else {
            return refused("MalformedLog");
        };
        if place == Some(None) {
            return Err(vec![Reason::field("InvalidSection", "/section")]);
        }
        let count = |text: &str| text.chars().count();
        let skipped = from.saturating_sub(count(&before));
        if from > 0 && skipped >= count(&text) {
            return Err(vec![Reason::field("InvalidInput", "/from")]);
        }
        let rest: String = text.chars().skip(skipped).collect();
        let above = [before.as_str(), &text[..text.len() - rest.len()]].concat();
        let warnings = if log.is_malformed(&schema) {
            warnings(&schema, None).into_iter().chain(["malformed".into()]).collect()
        } else {
            warnings(&schema, Some(log))
        };
        Ok(Expected::Page {
            fields: json!({
                "session_file": format!("{TREE}/{name}/logs/{date}.md"),
                "line": 1 + above.matches('\n').count(),
                "version": version(&log.render(name, date)),
            }),
            warnings,
            text: "text",
            rest,
            before: count(&above),
            limit,
        })
    }

    fn list_sessions(&self, limit: Option<u64>) -> Expected {
        let limit = limit.unwrap_or(u64::MAX) as usize;
        let names = self.logs.keys().rev().take(limit).map(|date| format!("{date}.md"));
        let names: Vec<String> = names.collect();
        Expected::Result { fields: json!({ "sessions": names }), warnings: None }
    }
}

/// Whether a section differs from one of the document only in case or spaces.
fn is_near(document: &Document, section: &str) -> bool {
    let key = |name: &str| name.split_whitespace().collect::<String>().to_lowercase();
    let mut names = document.sections.iter().filter_map(|section| section.name.as_deref());
    names.any(|name| key(name) == key(section))
}

/// The text of the warning of a day after tomorrow.
fn future(date: &str, today: &str) -> Vec<String> {
    let day = |text: &str| text.parse::<jiff::civil::Date>().expect("the model's dates are dates");
    let is_future = day(today).tomorrow().is_ok_and(|tomorrow| day(date) > tomorrow);
    if is_future { vec![format!("{date} is in the future")] } else { Vec::new() }
}

/// The text that each warning has to contain.
fn warnings(schema: &Schema, log: Option<&Log>) -> Vec<String> {
    let mut names = Vec::new();
    if schema.version != 1 {
        names.push(format!("v{}", schema.version));
    }
    let Some(log) = log else { return names };
    if let Some(version) = log.schema.filter(|version| *version != schema.version) {
        names.push(format!("v{version}"));
    }
    let quoted = |name: &str| format!("`{name}`");
    let lacks = |name: &&String| log.document.named(name).is_empty();
    names.extend(schema.sections.iter().filter(lacks).map(|name| quoted(name)));
    let is_known = |name: &str| name == "Header" || schema.sections.iter().any(|s| s == name);
    let present = log.document.sections.iter().filter_map(|section| section.name.as_deref());
    names.extend(present.filter(|name| !is_known(name)).map(quoted));
    names
}
