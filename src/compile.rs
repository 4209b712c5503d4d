//! The whole pipeline on one screen; the only file that knows every stage.

use crate::automaton::{Automaton, Unspellable, UnspellableWhat};
use crate::base::Finding;
use crate::error::{Error, ErrorKind, Result};
use crate::matcher::Engine;
use crate::options::Options;
use crate::report::Report;
use crate::schema::Schema;
use crate::values::{Emptiness, Sets};
use crate::vocab::Vocabulary;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A compiled schema. Cheap to clone, `Send` and `Sync`; needs no vocabulary.
///
/// ```
/// use tokenmask::{Grammar, Options, Vocabulary};
/// let grammar = Grammar::compile(r#"{"type": "integer"}"#, &Options::default())?;
/// assert!(grammar.report().is_exact());
/// let mut matcher = grammar.bind(&Vocabulary::bytes())?.matcher();
/// matcher.accept_bytes(b"42")?;
/// assert!(matcher.is_accepting());
/// # Ok::<(), tokenmask::Error>(())
/// ```
#[derive(Clone)]
pub struct Grammar(Arc<Inner>);

struct Inner {
    schema: Arc<Schema>,
    emptiness: Emptiness,
    automaton: Arc<Automaton>,
    options: Options,
    report: OnceLock<Report>,
}

impl Grammar {
    /// Compiles the text of a schema.
    ///
    /// # Errors
    /// `json-syntax`, `invalid-schema`, `unknown-dialect`, `unresolved-reference`,
    /// `reference-cycle`, `invalid-pattern`, `unsatisfiable`, `limit`, each with its location;
    /// `option` for a setting that is not available.
    pub fn compile(schema: &str, options: &Options) -> Result<Grammar> {
        options.validate()?;
        Grammar::of_schema(Schema::parse(schema, options)?, options)
    }

    /// Compiles a schema that was parsed already. Its properties stand in the order in which
    /// `serde_json` keeps them (sorted by name, unless its feature `preserve_order` is on), its
    /// numbers are those that `serde_json` keeps, and of keys that stood twice the last is left.
    ///
    /// # Errors
    /// Those of [`Grammar::compile`].
    ///
    /// ```
    /// use tokenmask::{Grammar, Options};
    /// let schema = serde_json::json!({"type": ["string", "null"]});
    /// assert!(Grammar::compile_value(&schema, &Options::default())?.report().is_exact());
    /// # Ok::<(), tokenmask::Error>(())
    /// ```
    pub fn compile_value(schema: &serde_json::Value, options: &Options) -> Result<Grammar> {
        options.validate()?;
        Grammar::of_schema(Schema::parse_value(schema, options)?, options)
    }

    /// Any JSON value.
    pub fn any_json() -> Grammar {
        Grammar::compile("true", &Options::default()).expect("`true` is a schema")
    }

    /// Any JSON object.
    pub fn any_object() -> Grammar {
        Grammar::compile(r#"{"type": "object"}"#, &Options::default()).expect("this is a schema")
    }

    fn of_schema(schema: Schema, options: &Options) -> Result<Grammar> {
        let schema = Arc::new(schema);
        let sets = Arc::new(Sets::compile(schema.clone(), options)?);
        let emptiness = Emptiness::decide(&sets);
        if emptiness.is_empty(sets.root()) {
            return Err(unsatisfiable(&schema, &sets, &emptiness));
        }
        let automaton = Arc::new(Automaton::new(sets, emptiness.clone(), &options.policy));
        let options = options.clone();
        Ok(Grammar(Arc::new(Inner {
            schema,
            emptiness,
            automaton,
            options,
            report: OnceLock::new(),
        })))
    }

    /// Where each keyword of the schema is enforced. Made when first asked for.
    pub fn report(&self) -> &Report {
        self.0.report.get_or_init(|| {
            let sets = self.0.automaton.sets();
            Report::new(&self.0.schema, sets, &self.0.emptiness, self.0.options.asserted())
        })
    }

    /// Binds the grammar to a vocabulary; cheap, but for a vocabulary that lacks single bytes.
    ///
    /// # Errors
    /// `vocabulary` without an end token, or where the vocabulary cannot spell a document at all.
    pub fn bind(&self, vocabulary: &Vocabulary) -> Result<Engine> {
        let findings = |unspellable: &[_]| self.unspellable(unspellable);
        Engine::bind(self.0.automaton.clone(), vocabulary, self.0.options.limits, &findings)
    }

    /// What a vocabulary has no tokens for, as findings.
    fn unspellable(&self, parts: &[Unspellable]) -> Vec<Finding> {
        let sets = self.0.automaton.sets();
        let finding = |part: &Unspellable| {
            let message = match part.what {
                UnspellableWhat::All => "the vocabulary can spell no value of this".to_owned(),
                UnspellableWhat::Strings(n) => {
                    format!("the vocabulary lacks single-byte tokens for {n} of the strings here")
                }
                UnspellableWhat::Names(n) => {
                    format!("the vocabulary lacks single-byte tokens for {n} of the names here")
                }
            };
            let location = sets.nodes(part.set).next().map(|node| self.0.schema.location(node));
            Finding { kind: "unspellable", location: location.unwrap_or_default(), message }
        };
        parts.iter().map(finding).collect()
    }
}

impl fmt::Debug for Grammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grammar").field("options", &self.0.options).finish_non_exhaustive()
    }
}

/// The error for an empty root: it names the keywords in conflict, at the place where the emptiness
/// begins.
fn unsatisfiable(schema: &Schema, sets: &Sets, emptiness: &Emptiness) -> Error {
    let place = sets.empty_origin(emptiness);
    let nodes: Vec<_> = sets.nodes(place).collect();
    let keywords = sets.conflict(schema, place);
    let location = nodes.first().map_or_else(|| "#".into(), |&node| schema.location(node));
    let message = if keywords.is_empty() {
        "no document is valid: no value is valid here".to_owned()
    } else {
        format!("no document is valid; in conflict: {}", keywords.join(", "))
    };
    Error::new(ErrorKind::Unsatisfiable, message).at(location)
}
