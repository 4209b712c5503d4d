//! Findings: what is worth knowing beside the routes.

/// Something that the schema's author or the caller should know.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// A stable name: `endless`, `empty`, `not-in-dialect`, `unknown-keyword`, `unspellable`, ….
    pub kind: &'static str,
    /// Where, `<document's URI, empty for the root>#<RFC 6901 pointer>`.
    pub location: String,
    /// What it is, in a sentence.
    pub message: String,
}
