//! The messages of this toolset's errors.

pub(super) use crate::error::{Code, Error};
use crate::existing::MAX_NAMES;
use crate::listing::listed;
use crate::text::excerpt;

/// The labels that are accepted, in words.
const LABEL_ACCEPTED: &str = "labels without a period, such as `[\"users\", \"ada\"]`";

impl Error {
    pub(super) fn period_in_label(label: &str) -> Self {
        let message =
            format!("label `{}` of `namespace` has a period: leave it out", excerpt(label));
        Self::at(Code::InvalidInput, message, "namespace", LABEL_ACCEPTED.into())
    }

    /// LangGraph reserves `langgraph` as the first label of a namespace.
    pub(super) fn reserved_root() -> Self {
        let message = "`langgraph` is reserved as the first label of `namespace`: choose another";
        Self::at(Code::InvalidInput, message, "namespace", "another first label".into())
    }

    pub(super) fn null_in_key() -> Self {
        let message = "`key` has a null character: leave it out";
        Self::at(Code::InvalidInput, message, "key", "a text without U+0000".into())
    }

    /// The namespace is not below an agent that the caller may use.
    pub(super) fn not_below_an_agent(labels: &[String], agents: &[String]) -> Self {
        let namespace = excerpt(&serde_json::to_string(labels).unwrap_or_default());
        let remedy = match agents {
            [] => "ask for a grant".to_owned(),
            _ => {
                format!("begin it with {}, and let another label follow", listed(agents, MAX_NAMES))
            }
        };
        let message = format!("namespace `{namespace}` is not granted to this caller: {remedy}");
        Self::new(Code::PermissionError, message)
    }

    /// The value is too long for an item.
    pub(super) fn value_too_long(bytes: usize, most: usize) -> Self {
        let message = format!(
            "`value` has {bytes} bytes as JSON: at most {most} are stored, so keep large parts \
             elsewhere"
        );
        Self::at(Code::LimitExceeded, message, "value", format!("at most {most} bytes of JSON"))
    }

    /// The objects and lists of the value are nested too deep.
    pub(super) fn value_too_deep(levels: usize, most: usize) -> Self {
        let message = format!(
            "`value` has {levels} levels of objects and lists within each other: at most {most} are \
             stored, so make it flatter, or store the inner ones as JSON texts"
        );
        Self::at(Code::LimitExceeded, message, "value", format!("at most {most} levels"))
    }

    /// The value contains too many values.
    pub(super) fn too_many_values(values: usize, most: usize) -> Self {
        let message = format!(
            "`value` has {values} values in it: at most {most} are stored, so divide it among several \
             items, or store long lists as JSON texts"
        );
        Self::at(Code::LimitExceeded, message, "value", format!("at most {most} values"))
    }

    /// An unknown operator of a filter.
    pub(super) fn unknown_operator(operator: &str, field: &str, known: &[&str]) -> Self {
        let known = listed(known, known.len());
        let message = format!(
            "`filter` has `{}` for `{}`, which is no operator; there are {known}",
            excerpt(operator),
            excerpt(field)
        );
        Self::at(Code::InvalidInput, message, "filter", known)
    }

    /// A filter has an operator where a field is expected.
    pub(super) fn operator_for_field(operator: &str, known: &[&str]) -> Self {
        let known = listed(known, known.len());
        let message = format!(
            "`filter` has `{}` in the place of a field; it takes fields, and for each of them a value \
             or the operators {known}",
            excerpt(operator)
        );
        Self::at(Code::InvalidInput, message, "filter", known)
    }

    /// The operand of `$in` or `$nin` is not a list.
    pub(super) fn not_a_list(operator: &str, field: &str) -> Self {
        let message = format!("`{operator}` for `{}` in `filter` takes a list", excerpt(field));
        Self::at(Code::InvalidInput, message, "filter", format!("a list for `{operator}`"))
    }

    /// A path of a field is malformed.
    pub(super) fn bad_path(path: &str) -> Self {
        let message = format!("`{}` in `index` is no path of a field", excerpt(path));
        let accepted = "paths such as `title`, `meta.title`, `parts[*].text` or `$`".to_owned();
        Self::at(Code::InvalidInput, message, "index", accepted)
    }

    /// An operation of a batch must have exactly one of the fields `put`, `delete`, `get`, `search`
    /// and `list`.
    pub(super) fn not_one_operation(at: usize) -> Self {
        let message = format!(
            "operation {at} of the batch is none or several: pass exactly one of `put`, `delete`, \
             `get`, `search` and `list`"
        );
        let accepted = "one of `put`, `delete`, `get`, `search` and `list`".to_owned();
        Self::at(Code::InvalidInput, message, &format!("operations/{at}"), accepted)
    }

    /// The results of a batch are longer than an answer may be.
    pub(super) fn results_too_long(most: usize) -> Self {
        let message = format!(
            "the results of the batch have more than {most} bytes: ask for less in one batch"
        );
        Self::new(Code::LimitExceeded, message)
    }

    /// Returns the error with its pointers moved to an operation of a batch:
    /// `/operations/<at>/<kind>/...`.
    pub(super) fn in_operation(mut self, at: usize, kind: &str) -> Self {
        for detail in &mut self.details {
            detail.pointer = format!("/operations/{at}/{kind}{}", detail.pointer);
        }
        self
    }
}
