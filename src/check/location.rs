//! From the `jsonschema` crate's keyword locations to those of reports.
//!
//! That crate names a keyword by the base URI of its resource (`$id`) and a pointer inside it;
//! reports name it by the document's registered URI and a pointer from the document's root.

use crate::base::Route;
use crate::report::{Entry, Report};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{Uri, ValidationError, uri};
use serde_json::Value;
use std::collections::HashMap;

/// The base of a schema without `$id`: relative references need one.
const IMPLIED_BASE: &str = "document:///";

/// Keywords whose parts are only asserted under a condition; where such a keyword is routed to a
/// check, so is what stands inside. (Of `dependentRequired`, the validator names the entry.)
const COMBINATORS: [&str; 14] = [
    "oneOf",
    "anyOf",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "patternProperties",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords behind which a way goes on elsewhere.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Where each resource stands: its base URI → (the document's URI, the pointer to the resource).
#[derive(Debug)]
pub(crate) struct Places {
    resources: HashMap<String, (String, String)>,
    implied_base: bool,
}

impl Places {
    /// Collects the resources of the root schema and of the registered documents.
    pub(crate) fn new(root: &Value, documents: &[(String, Value)]) -> Self {
        let implied_base = identifier(root).is_none_or(|id| uri::from_str(id).is_err())
            || identifier(root).is_some_and(|id| !id.contains(':'));
        let mut places = Places { resources: HashMap::new(), implied_base };
        places.collect(root, "", IMPLIED_BASE);
        for (name, document) in documents {
            places.collect(document, name, &absolute(name));
        }
        places
    }

    /// The base to give to the validator, where the schema has none of its own.
    pub(crate) fn implied_base(&self) -> Option<&'static str> {
        self.implied_base.then_some(IMPLIED_BASE)
    }

    /// Notes each resource of `document`; no recursion, for any depth.
    fn collect(&mut self, document: &Value, name: &str, base: &str) {
        self.note(base, name, "");
        let mut open = vec![(document, String::new(), base.to_owned())];
        while let Some((value, pointer, mut base)) = open.pop() {
            match value {
                Value::Object(members) => {
                    if let Some(own) = identifier(value).and_then(|id| resolve(&base, id)) {
                        base = own;
                        self.note(&base, name, &pointer);
                    }
                    for (key, member) in members {
                        let key = key.replace('~', "~0").replace('/', "~1");
                        open.push((member, format!("{pointer}/{key}"), base.clone()));
                    }
                }
                Value::Array(items) => {
                    for (index, item) in items.iter().enumerate() {
                        open.push((item, format!("{pointer}/{index}"), base.clone()));
                    }
                }
                _ => {}
            }
        }
    }

    fn note(&mut self, base: &str, name: &str, pointer: &str) {
        let base = base.trim_end_matches('#').to_owned();
        self.resources.entry(base).or_insert_with(|| (name.to_owned(), pointer.to_owned()));
    }

    /// The location of the keyword that `error` violates, as in reports.
    pub(crate) fn of(&self, error: &ValidationError<'_>) -> String {
        let mut location = self.place(error);
        if matches!(error.kind(), ValidationErrorKind::Required { .. })
            && !location.ends_with("/required")
        {
            // A name may be required by a keyword that has places for it inside.
            let ends = ["/dependentRequired", "/dependencies"]
                .map(|keyword| location.rfind(keyword).map(|at| at + keyword.len()));
            location.truncate(ends.into_iter().flatten().max().unwrap_or(location.len()));
        }
        location
    }

    fn place(&self, error: &ValidationError<'_>) -> String {
        let Some(absolute) = error.absolute_keyword_location() else {
            return format!("#{}", error.schema_path());
        };
        let (base, fragment) = absolute.as_str().split_once('#').unwrap_or((absolute.as_str(), ""));
        let fragment = percent_decode(fragment);
        match self.resources.get(base) {
            Some((name, pointer)) => format!("{name}#{pointer}{fragment}"),
            None => format!("{base}#{fragment}"),
        }
    }
}

/// The URI under which a registered document is reached.
pub(crate) fn absolute(name: &str) -> String {
    resolve(IMPLIED_BASE, name).unwrap_or_else(|| name.to_owned())
}

/// Whether the mask enforces nothing of the keyword at `location`, or of a combinator around it.
pub(crate) fn is_unenforced(location: &str, report: &Report) -> bool {
    let unenforced =
        |location: &str| report.route_of(location).is_some_and(|route| route >= Route::Check);
    if unenforced(location) {
        return true;
    }
    let start = location.find('#').map_or(0, |at| at + 1);
    let mut end = location.len();
    while let Some(at) = location.get(start..end).and_then(|pointer| pointer.rfind('/')) {
        let keyword = &location[start + at + 1..end];
        if COMBINATORS.contains(&keyword) && unenforced(&location[..end]) {
            return true;
        }
        end = start + at;
    }
    false
}

/// Whether the way of an evaluation passes a keyword of which the mask enforces nothing. Up to the
/// first reference the way is a location; behind it only the keywords' names are known, and then
/// no keyword of that name may be enforced. Those that assert nothing do not count.
pub(crate) fn passes_unenforced(path: &str, report: &Report) -> bool {
    let direct = REFERENCES.iter().filter_map(|name| path.find(&format!("/{name}"))).min();
    if is_unenforced(&format!("#{}", &path[..direct.unwrap_or(path.len())]), report) {
        return true;
    }
    path.split('/').any(|keyword| {
        let asserts = |entry: &&Entry| entry.keyword == keyword && entry.route > Route::Annotation;
        let mut routes = report.entries().iter().filter(asserts).peekable();
        routes.peek().is_some() && routes.all(|entry| entry.route >= Route::Check)
    })
}

/// Whether a check enforces a part of the keyword at `location`.
pub(crate) fn is_partly_enforced(location: &str, report: &Report) -> bool {
    report.route_of(location) == Some(Route::MaskCheck)
}

/// Whether the mask leaves out the keyword that holds the subschema at `location`, or, by a limit, a
/// part of it.
pub(crate) fn is_held_in_part(location: &str, report: &Report) -> bool {
    location.rsplit_once('/').is_some_and(|(keyword, _)| {
        let at = |entry: &&Entry| entry.location == keyword;
        let entry = report.entries().iter().find(at);
        entry.is_some_and(|entry| {
            entry.route >= Route::Check || entry.route == Route::MaskCheck && entry.limit.is_some()
        })
    })
}

fn identifier(schema: &Value) -> Option<&str> {
    let id = schema.get("$id").or_else(|| schema.get("id"))?.as_str()?;
    (!id.starts_with('#') && !id.is_empty()).then_some(id)
}

fn resolve(base: &str, reference: &str) -> Option<String> {
    let base: Uri<String> = uri::from_str(base).ok()?;
    let found = uri::resolve_against(&base.borrow(), reference).ok()?;
    Some(found.as_str().trim_end_matches('#').to_owned())
}

/// Pointers in URIs are percent-encoded; in reports they are not.
fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let code = (byte == b'%').then(|| tail.get(..2)).flatten();
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(decoded) => {
                bytes.push(decoded);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(byte);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn percent_codes_are_decoded_once() {
        assert_eq!(percent_decode("/%C3%A9/%25/a%2"), "/é/%/a%2");
        assert_eq!(percent_decode("/^a%5E"), "/^a^");
    }

    #[test]
    fn resources_are_collected_with_their_pointers() {
        let root = json!({"$id": "https://example.com/a/", "$defs": {"x/y": {"$id": "b"}}});
        let places = Places::new(&root, &[("c".to_owned(), json!({}))]);
        let place = |base: &str| places.resources.get(base).cloned();
        assert_eq!(place("https://example.com/a/"), Some((String::new(), String::new())));
        assert_eq!(place("https://example.com/a/b"), Some((String::new(), "/$defs/x~1y".into())));
        assert_eq!(place("document:///c"), Some(("c".into(), String::new())));
        assert_eq!(places.implied_base(), None);
        assert_eq!(Places::new(&json!({}), &[]).implied_base(), Some(IMPLIED_BASE));
    }
}
