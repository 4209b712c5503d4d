//! The report as a table and as JSON.

use super::{Entry, Report};
use crate::base::{Finding, Route};
use serde_json::{Map, Value, json};
use std::fmt;

impl Report {
    /// The report as JSON text: `{"version": 1, "entries": […], "findings": […]}`. A keyword's
    /// value stands as it stands in the schema.
    ///
    /// ```
    /// let grammar = tokenmask::Grammar::any_object();
    /// let json: serde_json::Value = serde_json::from_str(&grammar.report().to_json()).unwrap();
    /// assert_eq!(json["entries"][0]["location"], "#/type");
    /// assert_eq!(json["entries"][0]["value"], "object");
    /// assert_eq!(json["entries"][0]["route"], "mask");
    /// ```
    pub fn to_json(&self) -> String {
        let entries: Vec<String> = self.entries.iter().map(entry).collect();
        let findings: Vec<String> = self.findings.iter().map(|f| finding(f).to_string()).collect();
        let list = |items: &[String]| match items {
            [] => "[]".to_owned(),
            _ => format!("[\n    {}\n  ]", items.join(",\n    ")),
        };
        format!(
            "{{\n  \"version\": 1,\n  \"entries\": {},\n  \"findings\": {}\n}}\n",
            list(&entries),
            list(&findings)
        )
    }
}

/// One entry. The value is the schema's own text: a number there may be one that no machine type
/// keeps.
fn entry(entry: &Entry) -> String {
    let before = json!({ "location": entry.location, "keyword": entry.keyword });
    let mut after = Map::new();
    after.insert("route".into(), entry.route.name().into());
    after.insert("reason".into(), entry.reason.clone().into());
    let mut optional = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            after.insert(name.into(), value.into());
        }
    };
    optional("limit", entry.limit);
    optional("sentence", entry.sentence.as_deref());
    optional("check", entry.check.as_deref());
    if !entry.uses.is_empty() {
        let uses = entry.uses.iter().map(|one| {
            json!({ "position": one.position, "route": one.route.name(), "reason": one.reason })
        });
        after.insert("uses".into(), Value::Array(uses.collect()));
    }
    let inside = |value: Value| {
        let text = value.to_string();
        text[1..text.len() - 1].to_owned()
    };
    let value = entry.value.as_deref().unwrap_or("null");
    format!("{{{},\"value\":{value},{}}}", inside(before), inside(after.into()))
}

fn finding(finding: &Finding) -> Value {
    json!({
        "kind": finding.kind,
        "location": finding.location,
        "message": finding.message,
    })
}

impl fmt::Display for Report {
    /// A table: route, location, value, and the reason where it is not simply the mask.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.entries.iter().map(|e| e.location.chars().count()).max().unwrap_or(0);
        let width = width.min(60);
        for entry in &self.entries {
            write!(f, "{:<10}  {:<width$}", entry.route, entry.location)?;
            if let Some(value) = &entry.value {
                write!(f, "  {}", short(value))?;
            }
            if entry.route > Route::Mask {
                write!(f, "  — {}", entry.reason)?;
                if let Some(limit) = entry.limit {
                    write!(f, " (limit `{limit}`)")?;
                }
            }
            writeln!(f)?;
            for one in &entry.uses {
                writeln!(f, "            {} use: {} — {}", one.position, one.route, one.reason)?;
            }
        }
        if !self.findings.is_empty() {
            writeln!(f)?;
        }
        for finding in &self.findings {
            writeln!(f, "{}: {}: {}", finding.kind, finding.location, finding.message)?;
        }
        Ok(())
    }
}

/// A value on one line, cut where it is long.
fn short(value: &str) -> String {
    const SHOWN: usize = 48;
    let line: String = value.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
