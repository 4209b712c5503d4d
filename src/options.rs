//! Options, surface policy and limits: plain structs, no globals.

use crate::error::{Error, ErrorKind, Result};
use std::sync::Arc;

/// Everything that decides what a schema compiles to.
///
/// ```
/// use tokenmask::{Grammar, Options, SurfacePolicy};
/// let options = Options { policy: SurfacePolicy::tight(), ..Options::default() };
/// let grammar = Grammar::compile(r#"{"type": "boolean"}"#, &options)?;
/// assert!(grammar.report().is_exact());
/// # Ok::<(), tokenmask::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Which texts of a value are allowed.
    pub policy: SurfacePolicy,
    /// The dialect of documents in which no `$schema` is in force; `None` is the undeclared
    /// mixture (2020-12 plus array `items`, `additionalItems`, boolean `exclusive*`, `dependencies`).
    pub dialect: Option<Dialect>,
    /// Which `format`s are enforced.
    pub formats: Formats,
    /// Whether `contentEncoding` and `contentMediaType` are enforced.
    pub content: Content,
    /// Sizes at which work stops.
    pub limits: Limits,
    /// Documents that `$ref` may name: (URI, JSON text), parsed when first referred to.
    pub documents: Vec<(String, Arc<str>)>,
}

impl Options {
    /// Registers a document that `$ref` and `$schema` may name by `uri`. It is parsed when it is
    /// first referred to; nothing is ever fetched.
    pub fn document(mut self, uri: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        self.documents.push((uri.into(), text.into()));
        self
    }

    /// What is asserted beyond the dialect.
    pub(crate) fn asserted(&self) -> Asserted {
        Asserted { formats: self.formats, content: self.content }
    }

    /// Refuses settings that this version cannot honour.
    pub(crate) fn validate(&self) -> Result<()> {
        if let Whitespace::Bounded(n) = self.policy.whitespace
            && n > Whitespace::MAX_BOUND
        {
            return Err(Error::new(
                ErrorKind::Option,
                format!("a whitespace bound is at most {}, not {n}", Whitespace::MAX_BOUND),
            ));
        }
        Ok(())
    }
}

/// A JSON Schema dialect: a draft, or what OpenAPI 3.0 makes of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Dialect {
    /// The schema objects of OpenAPI 3.0: a part of draft 4 with `nullable`. No `$schema` names it,
    /// it holds by this option alone. `discriminator` is an annotation there.
    OpenApi30,
    /// Draft 4 (2013).
    Draft4,
    /// Draft 6 (2017).
    Draft6,
    /// Draft 7 (2018).
    Draft7,
    /// Draft 2019-09.
    Draft201909,
    /// Draft 2020-12.
    Draft202012,
}

impl Dialect {
    /// The drafts of JSON Schema, oldest first.
    pub const ALL: [Dialect; 5] = [
        Dialect::Draft4,
        Dialect::Draft6,
        Dialect::Draft7,
        Dialect::Draft201909,
        Dialect::Draft202012,
    ];

    /// The short name, as the command line takes it.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::OpenApi30 => "openapi-3.0",
            Dialect::Draft4 => "4",
            Dialect::Draft6 => "6",
            Dialect::Draft7 => "7",
            Dialect::Draft201909 => "2019-09",
            Dialect::Draft202012 => "2020-12",
        }
    }

    /// The dialect of a short name.
    ///
    /// ```
    /// use tokenmask::Dialect;
    /// assert_eq!(Dialect::from_name("2019-09"), Some(Dialect::Draft201909));
    /// assert_eq!(Dialect::from_name("openapi-3.0"), Some(Dialect::OpenApi30));
    /// ```
    pub fn from_name(name: &str) -> Option<Dialect> {
        let mut all = Dialect::ALL.into_iter().chain([Dialect::OpenApi30]);
        all.find(|dialect| dialect.name() == name)
    }

    /// The `$schema` URI, without a final `#`; only drafts have one.
    pub fn uri(self) -> Option<&'static str> {
        Some(match self {
            Dialect::OpenApi30 => return None,
            Dialect::Draft4 => "http://json-schema.org/draft-04/schema",
            Dialect::Draft6 => "http://json-schema.org/draft-06/schema",
            Dialect::Draft7 => "http://json-schema.org/draft-07/schema",
            Dialect::Draft201909 => "https://json-schema.org/draft/2019-09/schema",
            Dialect::Draft202012 => "https://json-schema.org/draft/2020-12/schema",
        })
    }
}

/// Which values of `format` are enforced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Formats {
    /// The drafts' formats and the others that this crate knows. The default.
    #[default]
    Enforce,
    /// Only the drafts' formats.
    Standard,
    /// None: every `format` is an annotation.
    Annotate,
}

/// Whether keywords that describe the content of a string are enforced, in the dialects that have
/// them (draft 7 and later).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Content {
    /// They are annotations. The default.
    #[default]
    Annotate,
    /// `contentEncoding` (base64, base64url, base32, base16) by the mask, and `contentMediaType`, if
    /// it is `application/json`, by a check of the decoded text.
    Enforce,
}

/// Which keywords assert what by option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asserted {
    pub(crate) formats: Formats,
    pub(crate) content: Content,
}

/// Which texts of a value are allowed; JSON Schema speaks of values, a model emits text.
///
/// Under every policy no key comes twice in an object, and an array with `uniqueItems` has at most
/// 100,000 items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SurfacePolicy {
    /// Whitespace between the tokens of JSON.
    pub whitespace: Whitespace,
    /// Whitespace before and after the whole value.
    pub margin: Margin,
    /// In which order the names of an object stand.
    pub order: Order,
    /// Whether an object without `additionalProperties` takes undeclared keys.
    pub objects: Objects,
    /// How numbers are spelled.
    pub numbers: Numbers,
    /// Which string escapes are allowed.
    pub escapes: Escapes,
}

impl SurfacePolicy {
    /// What most generation loops want: declared order, compact, plain numbers, minimal escapes,
    /// closed objects.
    ///
    /// ```
    /// use tokenmask::{Objects, SurfacePolicy, Whitespace};
    /// assert_eq!(SurfacePolicy::tight().whitespace, Whitespace::Compact);
    /// assert_eq!(SurfacePolicy::tight().objects, Objects::Closed);
    /// ```
    pub fn tight() -> Self {
        SurfacePolicy {
            whitespace: Whitespace::Compact,
            escapes: Escapes::Minimal,
            objects: Objects::Closed,
            ..SurfacePolicy::default()
        }
    }

    /// The widest policy: any order, any number form, both margins.
    pub fn exact() -> Self {
        SurfacePolicy {
            order: Order::Any,
            numbers: Numbers::Any,
            margin: Margin::Both,
            ..SurfacePolicy::default()
        }
    }
}

/// Whitespace between the tokens of JSON (RFC 8259 section 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Whitespace {
    /// Any whitespace, each run at most 64 bytes. The default.
    #[default]
    Flexible,
    /// None.
    Compact,
    /// Exactly `, ` and `: `, nothing else: what most models write.
    Spaced,
    /// Any whitespace, each run at most this many bytes (at most [`Whitespace::MAX_BOUND`]).
    Bounded(u32),
}

impl Whitespace {
    /// The longest run that [`Whitespace::Flexible`] allows, in bytes.
    pub const FLEXIBLE_BOUND: u32 = 64;
    /// The largest bound that can be chosen.
    pub const MAX_BOUND: u32 = 65_535;
}

/// Whitespace before and after the whole value; runs are bounded as between tokens
/// (by 64 bytes where whitespace is compact or spaced).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Margin {
    /// None on either side. The default.
    #[default]
    None,
    /// Before the value only.
    Lead,
    /// Before and after.
    Both,
}

/// In which order the names of an object stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Order {
    /// As the schema's text declares them; then names only in `required`; then others. The default.
    #[default]
    Declared,
    /// Any.
    Any,
}

/// Whether an object whose schema does not say takes undeclared keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Objects {
    /// As the schema says. The default.
    #[default]
    Open,
    /// Where `additionalProperties` and `unevaluatedProperties` are absent and `properties` is
    /// present, no other keys but `patternProperties` and required names. One subschema of an
    /// `allOf` (or behind a `$ref` with siblings) does not shut out what another one names: a key
    /// that any of them declares or requires may come.
    Closed,
}

/// How numbers are spelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Numbers {
    /// Integers are digits only, at most 18; other texts have at most 17 digits, and stay within
    /// 1e±307. A number with a bound, with `multipleOf`, or in `const` or `enum` has no exponent,
    /// but as many digits as that needs, up to 10,000 (one with more has no plain text). The
    /// default.
    #[default]
    Plain,
    /// Every JSON spelling, up to 1,024 digits before the exponent and 4 in it: `1.0` and `1e2` are
    /// integers.
    Any,
}

/// Which string escapes are allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Escapes {
    /// Every JSON escape; surrogates only in pairs. The default.
    #[default]
    All,
    /// Only escapes of the characters that JSON does not allow unescaped.
    Minimal,
}

/// Sizes at which work stops. Where a constraint would pass one while compiling, it is routed with
/// the limit's name; where a whole input would, the error names the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one schema document's text (an error). Default 64 MiB.
    pub schema_bytes: usize,
    /// Nesting of arrays and objects in a schema document (an error). Default 50,000.
    pub schema_depth: usize,
    /// Subschemas in all documents together, where there are dynamic references each one in every
    /// dynamic scope (an error). Default 2,000,000.
    pub schema_nodes: usize,
    /// Bytes of all keywords' locations together (an error): with the square of the depth they are
    /// longer than the schema. Default 64 MiB.
    pub location_bytes: usize,
    /// Bytes of the NFA of one `pattern` (routed). Default 4 MiB.
    pub pattern_bytes: usize,
    /// States of the automaton of a `pattern` with look-around, beside others or a least length, explored
    /// while compiling (routed); where `time` or `date-time` takes part, beyond twice its own, which are
    /// 12,000. Default 5,000.
    pub language_states: usize,
    /// States that one `pattern` alone may take while decoding (an error of that mask).
    /// Default 200,000.
    pub lazy_states: usize,
    /// Distinct value sets of one grammar (an error). Default 200,000.
    pub value_sets: usize,
    /// Shapes of one type in one value set (routed). Default 256.
    pub set_shapes: usize,
    /// Steps of intersecting and complementing value sets for one grammar; what is left then is not
    /// combined (routed). Default 300,000.
    pub set_steps: usize,
    /// Constraints on some items or members that may be open at once for one value (routed).
    /// Default 8.
    pub open_constraints: usize,
    /// Bytes of a shortest completion (an error). Default 16 MiB.
    pub completion_bytes: usize,
    /// Calls of `accept` that `rollback` can undo (an error). Default 1,024.
    pub rollback: usize,
    /// Bytes of masks that one engine keeps (older ones are dropped and computed again). Default 64 MiB.
    pub cache_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            schema_bytes: 64 << 20,
            schema_depth: 50_000,
            schema_nodes: 2_000_000,
            location_bytes: 64 << 20,
            pattern_bytes: 4 << 20,
            language_states: 5_000,
            lazy_states: 200_000,
            value_sets: 200_000,
            set_shapes: 256,
            set_steps: 300_000,
            open_constraints: 8,
            completion_bytes: 16 << 20,
            rollback: 1_024,
            cache_bytes: 64 << 20,
        }
    }
}
