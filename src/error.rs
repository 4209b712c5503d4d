//! The one public error type: what went wrong, where, and which limit, if one was met.

use std::fmt;
use std::sync::Arc;

/// What kind of problem an [`Error`] reports.
///
/// The names are stable: the command line prints them, and tests compare them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The schema text is not JSON, or holds a key twice or a lone surrogate.
    JsonSyntax,
    /// A keyword's value is not what its dialect demands.
    InvalidSchema,
    /// `$schema` names a dialect that is neither built in nor registered.
    UnknownDialect,
    /// A reference points at nothing, or at what is no schema.
    UnresolvedReference,
    /// A subschema refers to itself without a value in between.
    ReferenceCycle,
    /// A `pattern` is not an ECMA-262 regular expression.
    InvalidPattern,
    /// No document is valid against the schema.
    Unsatisfiable,
    /// A limit of [`Limits`](crate::Limits) was met; [`Error::limit`] names it.
    Limit,
    /// A vocabulary cannot be read, or cannot spell what the schema requires.
    Vocabulary,
    /// An option has no such setting, or not yet.
    Option,
    /// A token was refused, is unknown, or came after the end.
    Token,
    /// A mask has the wrong length or cannot be computed.
    Mask,
    /// A file cannot be read, or its encoding is wrong.
    Input,
    /// A rule beyond JSON Schema is invalid.
    Rule,
}

impl ErrorKind {
    /// The kind's stable name, as in `json-syntax`.
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::JsonSyntax => "json-syntax",
            ErrorKind::InvalidSchema => "invalid-schema",
            ErrorKind::UnknownDialect => "unknown-dialect",
            ErrorKind::UnresolvedReference => "unresolved-reference",
            ErrorKind::ReferenceCycle => "reference-cycle",
            ErrorKind::InvalidPattern => "invalid-pattern",
            ErrorKind::Unsatisfiable => "unsatisfiable",
            ErrorKind::Limit => "limit",
            ErrorKind::Vocabulary => "vocabulary",
            ErrorKind::Option => "option",
            ErrorKind::Token => "token",
            ErrorKind::Mask => "mask",
            ErrorKind::Input => "input",
            ErrorKind::Rule => "rule",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An error of this crate: opaque, cheap to move, with accessors.
///
/// ```
/// use tokenmask::{ErrorKind, Grammar, Options};
/// let error = Grammar::compile(r#"{"type": "strnig"}"#, &Options::default()).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::InvalidSchema);
/// assert_eq!(error.location(), Some("#/type"));
/// ```
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    location: Option<String>,
    limit: Option<&'static str>,
    offset: Option<usize>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error of `kind`; `message` says what is wrong and what to do.
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner {
            kind,
            message: message.into(),
            location: None,
            limit: None,
            offset: None,
            source: None,
        }))
    }

    /// A `limit` error: `name` is the field of [`Limits`](crate::Limits), `value` its setting.
    pub(crate) fn limit_met(name: &'static str, value: usize, what: &str) -> Self {
        let mut error =
            Error::new(ErrorKind::Limit, format!("{what} passes the limit `{name}` = {value}"));
        error.0.limit = Some(name);
        error
    }

    /// Adds the place: `<uri>#<JSON pointer>` in a schema, a path for a file.
    pub(crate) fn at(mut self, location: impl Into<String>) -> Self {
        self.0.location = Some(location.into());
        self
    }

    /// Adds a byte offset: into the schema text, or into the document that a matcher reads.
    pub(crate) fn at_offset(mut self, offset: usize) -> Self {
        self.0.offset = Some(offset);
        self
    }

    /// Adds the error that caused this one.
    pub(crate) fn caused_by(
        mut self,
        source: impl std::error::Error + Send + Sync + 'static,
    ) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// The kind, for `match`.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What is wrong and what to do, without kind and location.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Where: `<uri>#<JSON pointer>` for schemas, a path for files.
    pub fn location(&self) -> Option<&str> {
        self.0.location.as_deref()
    }

    /// The field of [`Limits`](crate::Limits) that was met.
    pub fn limit(&self) -> Option<&'static str> {
        self.0.limit
    }

    /// A byte offset: in the schema text for syntax errors, in the document for refused tokens.
    pub fn offset(&self) -> Option<usize> {
        self.0.offset
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.0.kind)?;
        if let Some(location) = &self.0.location {
            write!(f, "{location}: ")?;
        }
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({self})")
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|e| e as &(dyn std::error::Error + 'static))
    }
}

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
