//! The report: where each keyword of the schema is enforced, and what else is worth knowing.
//!
//! In: the [`Schema`](crate::schema::Schema) and its [`Sets`](crate::values::Sets). Out: [`Report`]:
//! exactly one [`Entry`] for each keyword occurrence, and [`Finding`]s.
//!
//! Invariants: an entry for each keyword of each subschema, reached or not; the route of a keyword
//! is the weakest over its uses; nothing here decides a route that the sets do not honour.

mod endless;
mod entries;
mod render;
mod route;

use crate::base::{Finding, Route};
use crate::options::Asserted;
use crate::schema::Schema;
use crate::values::{Emptiness, Sets};

/// Where every keyword of a schema is enforced.
///
/// ```
/// use tokenmask::{Grammar, Options, Route};
/// let grammar = Grammar::compile(
///     r#"{"type": "object", "properties": {"ids": {"type": "array", "uniqueItems": true}}}"#,
///     &Options::default(),
/// )?;
/// let report = grammar.report();
/// assert_eq!(report.route_of("#/properties/ids/type"), Some(Route::Mask));
/// assert_eq!(report.route_of("#/properties/ids/uniqueItems"), Some(Route::Check));
/// assert!(!report.is_exact());
/// # Ok::<(), tokenmask::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Report {
    entries: Vec<Entry>,
    findings: Vec<Finding>,
}

/// One keyword occurrence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// `<document's URI, empty for the root>#<RFC 6901 pointer from the document's root>`.
    pub location: String,
    /// The keyword, as the text has it.
    pub keyword: String,
    /// Its value as JSON text; `None` for keywords that hold subschemas, which have entries of
    /// their own.
    pub value: Option<String>,
    /// Where it is enforced: the weakest over its uses.
    pub route: Route,
    /// Why there.
    pub reason: String,
    /// The field of [`Limits`](crate::Limits) that was met.
    pub limit: Option<&'static str>,
    /// Its uses, only where they differ.
    pub uses: Vec<Use>,
    /// What the model is told.
    pub sentence: Option<String>,
    /// The name of the check that runs afterwards.
    pub check: Option<String>,
}

/// One use of a keyword.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Use {
    /// `positive` or `negative`: under an even or odd number of negations.
    pub position: &'static str,
    /// Where the keyword is enforced in this use.
    pub route: Route,
    /// Why there.
    pub reason: String,
}

impl Report {
    pub(crate) fn new(
        schema: &Schema,
        sets: &Sets,
        emptiness: &Emptiness,
        asserted: Asserted,
    ) -> Report {
        let entries = entries::entries(schema, sets, asserted);
        let mut findings: Vec<Finding> = schema
            .findings()
            .into_iter()
            .map(|f| Finding { kind: f.kind, location: f.location, message: f.message })
            .collect();
        findings.extend_from_slice(sets.findings());
        findings.extend(endless::findings(schema, sets, emptiness));
        Report { entries, findings }
    }

    /// Every keyword occurrence, in the order of the subschemas and their texts.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// What else is worth knowing.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Whether the mask enforces everything: no keyword is routed `mask+check`, `check` or
    /// `external`.
    pub fn is_exact(&self) -> bool {
        self.entries.iter().all(|entry| entry.route <= Route::Mask)
    }

    /// The route of the keyword at a location.
    pub fn route_of(&self, location: &str) -> Option<Route> {
        self.entries.iter().find(|entry| entry.location == location).map(|entry| entry.route)
    }
}

#[cfg(test)]
mod tests {
    use crate::base::Route;
    use crate::compile::Grammar;
    use crate::options::{Limits, Options};
    use crate::vocab::Vocabulary;

    /// A conjunction of unions that would have more shapes than the limit: what is left out is
    /// routed, with all that it holds; what fits stays exact; nothing valid is refused.
    #[test]
    fn what_a_limit_leaves_out_is_routed_with_its_name() {
        let factor = |i: usize| {
            format!(
                r#"{{"anyOf": [{{"properties": {{"k{i}": {{"type": "string"}}}}}},
                               {{"properties": {{"k{i}": {{"type": "integer"}}}}}}]}}"#
            )
        };
        let factors: Vec<String> = (0..6).map(factor).collect();
        let schema = format!(r#"{{"type": "object", "allOf": [{}]}}"#, factors.join(","));
        let limits = Limits { set_shapes: 16, ..Limits::default() };
        let grammar = Grammar::compile(&schema, &Options { limits, ..Options::default() }).unwrap();
        let report = grammar.report();
        let route = |location: &str| report.route_of(location);
        assert_eq!(route("#/allOf/3/anyOf"), Some(Route::Mask));
        assert_eq!(route("#/allOf/3/anyOf/0/properties/k3/type"), Some(Route::Mask));
        assert_eq!(route("#/allOf/4/anyOf"), Some(Route::MaskCheck));
        assert_eq!(route("#/allOf"), Some(Route::MaskCheck));
        let inner = "#/allOf/5/anyOf/1/properties/k5/type";
        assert_eq!(route(inner), Some(Route::Check));
        let entry = |at: &str| report.entries().iter().find(|e| e.location == at).unwrap();
        assert_eq!(entry("#/allOf/4/anyOf").limit, Some("set_shapes"));
        assert_eq!(entry(inner).uses.len(), 2);
        let mut matcher = grammar.bind(&Vocabulary::bytes()).unwrap().matcher();
        assert!(matcher.clone().accept_bytes(br#"{"k0": true"#).is_err());
        matcher.accept_bytes(br#"{"k0": "x", "k3": 1, "k4": "y", "k5": true}"#).unwrap();
        assert!(matcher.is_accepting());
    }

    #[test]
    fn uses_differ_by_position() {
        let schema = r##"{"$ref": "#/$defs/a", "not": {"allOf": [{"$ref": "#/$defs/a"}, {"uniqueItems": true}]},
            "$defs": {"a": {"type": "string"}, "b": {"type": "null"}}}"##;
        let report = Grammar::compile(schema, &Options::default()).unwrap().report().clone();
        let entry = |at: &str| report.entries().iter().find(|e| e.location == at).unwrap();
        let shared = entry("#/$defs/a/type");
        assert_eq!(shared.route, Route::Check);
        let uses: Vec<_> = shared.uses.iter().map(|one| (one.position, one.route)).collect();
        assert_eq!(uses, [("positive", Route::Mask), ("negative", Route::Check)]);
        assert_eq!(entry("#/$ref").route, Route::Mask);
        assert_eq!(entry("#/not").route, Route::Check);
        let unused = entry("#/$defs/b/type");
        assert_eq!((unused.route, &*unused.reason), (Route::Annotation, "unreferenced"));
    }
}
