//! Dialects: which draft, and which of its vocabularies, hold in a schema resource.

use crate::options::{Dialect, Formats};

/// The draft that holds at a subschema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Draft {
    /// The part of draft 4 that OpenAPI 3.0 has, and `nullable`.
    OpenApi30,
    Draft4,
    Draft6,
    Draft7,
    Draft201909,
    Draft202012,
    /// Nothing is declared: 2020-12 plus array `items`, `additionalItems`, boolean `exclusive*`,
    /// `dependencies`.
    Undeclared,
}

impl Draft {
    pub(crate) fn of(dialect: Dialect) -> Self {
        match dialect {
            Dialect::OpenApi30 => Draft::OpenApi30,
            Dialect::Draft4 => Draft::Draft4,
            Dialect::Draft6 => Draft::Draft6,
            Dialect::Draft7 => Draft::Draft7,
            Dialect::Draft201909 => Draft::Draft201909,
            Dialect::Draft202012 => Draft::Draft202012,
        }
    }

    /// The dialect whose formats hold.
    pub(crate) fn dialect(self) -> Dialect {
        match self {
            Draft::OpenApi30 => Dialect::OpenApi30,
            Draft::Draft4 => Dialect::Draft4,
            Draft::Draft6 => Dialect::Draft6,
            Draft::Draft7 => Dialect::Draft7,
            Draft::Draft201909 => Dialect::Draft201909,
            Draft::Draft202012 | Draft::Undeclared => Dialect::Draft202012,
        }
    }

    /// The draft's bit in the keyword table.
    pub(super) fn bit(self) -> u8 {
        1 << self as u8
    }

    /// The name for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Draft::OpenApi30 => "OpenAPI 3.0",
            Draft::Draft4 => "draft 4",
            Draft::Draft6 => "draft 6",
            Draft::Draft7 => "draft 7",
            Draft::Draft201909 => "draft 2019-09",
            Draft::Draft202012 => "draft 2020-12",
            Draft::Undeclared => "a schema without `$schema`",
        }
    }

    /// Whether `$ref` makes all its siblings annotations.
    pub(crate) fn ref_stands_alone(self) -> bool {
        self <= Draft::Draft7
    }

    /// Whether `items` may be an array of schemas.
    pub(crate) fn has_array_items(self) -> bool {
        !matches!(self, Draft::OpenApi30 | Draft::Draft202012)
    }

    /// Whether it is draft 4, or a part of it: an integer has no fraction and no exponent, exclusive
    /// bounds are booleans, only some subschemas are.
    pub(crate) fn is_draft_4(self) -> bool {
        matches!(self, Draft::OpenApi30 | Draft::Draft4)
    }
}

/// A group of keywords that a meta-schema of 2019-09 or 2020-12 can leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Vocabulary {
    /// Never off.
    Core,
    Applicator,
    Unevaluated,
    Validation,
    MetaData,
    Format,
    Content,
}

impl Vocabulary {
    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// Set where the meta-schema asserts formats.
const FORMAT_ASSERTION: u8 = 1 << 7;
const ALL_VOCABULARIES: u8 = 0x7f;

/// The dialect in force at a subschema: a draft and its vocabularies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NodeDialect {
    draft: Draft,
    vocabularies: u8,
}

impl NodeDialect {
    /// A draft with all its vocabularies.
    pub(crate) fn plain(draft: Draft) -> Self {
        NodeDialect { draft, vocabularies: ALL_VOCABULARIES }
    }

    /// A draft with its core alone; [`NodeDialect::add`] adds vocabularies.
    pub(super) fn core_only(draft: Draft) -> Self {
        NodeDialect { draft, vocabularies: Vocabulary::Core.bit() }
    }

    /// The draft.
    pub(crate) fn draft(self) -> Draft {
        self.draft
    }

    /// Whether the keywords of `vocabulary` are more than annotations here.
    pub(crate) fn has(self, vocabulary: Vocabulary) -> bool {
        self.vocabularies & vocabulary.bit() != 0
    }

    /// Whether the meta-schema demands that `format` is enforced, whatever the options say.
    fn asserts_format(self) -> bool {
        self.vocabularies & FORMAT_ASSERTION != 0
    }

    /// Which formats are enforced here where the options say `chosen`: a meta-schema that asserts
    /// formats asserts at least the drafts' own.
    pub(crate) fn formats(self, chosen: Formats) -> Formats {
        match chosen {
            Formats::Annotate if self.asserts_format() => Formats::Standard,
            chosen => chosen,
        }
    }

    /// Switches on what a `$vocabulary` member names.
    pub(super) fn add(&mut self, known: KnownVocabulary, required: bool) {
        for vocabulary in known.parts {
            self.vocabularies |= vocabulary.bit();
        }
        if known.asserts_format == Asserts::Listed
            || known.asserts_format == Asserts::Required && required
        {
            self.vocabularies |= FORMAT_ASSERTION;
        }
    }
}

/// A vocabulary that this library knows by its URI.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownVocabulary {
    pub draft: Draft,
    parts: &'static [Vocabulary],
    asserts_format: Asserts,
}

/// Where a vocabulary turns `format` into an assertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asserts {
    Never,
    /// The vocabulary is nothing else; its boolean is for those who do not know it.
    Listed,
    /// Both uses are one vocabulary, and its boolean decides.
    Required,
}

/// Looks up a vocabulary URI.
pub(super) fn known_vocabulary(uri: &str) -> Option<KnownVocabulary> {
    let rest = without_scheme(uri).strip_prefix("json-schema.org/draft/")?;
    let (draft, name) = match rest.split_once("/vocab/")? {
        ("2019-09", name) => (Draft::Draft201909, name),
        ("2020-12", name) => (Draft::Draft202012, name),
        _ => return None,
    };
    let parts: &'static [Vocabulary] = match (draft, name) {
        (_, "core") => &[Vocabulary::Core],
        (Draft::Draft201909, "applicator") => &[Vocabulary::Applicator, Vocabulary::Unevaluated],
        (Draft::Draft202012, "applicator") => &[Vocabulary::Applicator],
        (Draft::Draft202012, "unevaluated") => &[Vocabulary::Unevaluated],
        (_, "validation") => &[Vocabulary::Validation],
        (_, "meta-data") => &[Vocabulary::MetaData],
        (_, "content") => &[Vocabulary::Content],
        (Draft::Draft201909, "format") => &[Vocabulary::Format],
        (Draft::Draft202012, "format-annotation" | "format-assertion") => &[Vocabulary::Format],
        _ => return None,
    };
    let asserts_format = match (draft, name) {
        (Draft::Draft202012, "format-assertion") => Asserts::Listed,
        (Draft::Draft201909, "format") => Asserts::Required,
        _ => Asserts::Never,
    };
    Some(KnownVocabulary { draft, parts, asserts_format })
}

/// The built-in dialect that a `$schema` names; `http` or `https` and a final `#` do not matter.
pub(super) fn known_draft(schema_uri: &str) -> Option<Draft> {
    let uri = same_document_key(schema_uri);
    Dialect::ALL.into_iter().find(|d| d.uri().map(without_scheme) == Some(uri)).map(Draft::of)
}

/// What remains of a `$schema` URI where `http` or `https` and a final `#` do not matter.
pub(super) fn same_document_key(uri: &str) -> &str {
    without_scheme(uri.strip_suffix('#').unwrap_or(uri))
}

fn without_scheme(uri: &str) -> &str {
    uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://")).unwrap_or(uri)
}

/// The known `$schema` URIs, for messages.
pub(super) fn known_uris() -> String {
    Dialect::ALL.into_iter().filter_map(Dialect::uri).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_uris_are_compared_without_scheme_and_hash() {
        assert_eq!(known_draft("http://json-schema.org/draft-07/schema#"), Some(Draft::Draft7));
        assert_eq!(known_draft("https://json-schema.org/draft-04/schema"), Some(Draft::Draft4));
        let uri = "http://json-schema.org/draft/2020-12/schema#";
        assert_eq!(known_draft(uri), Some(Draft::Draft202012));
        assert_eq!(known_draft("http://json-schema.org/draft-03/schema#"), None);
        assert_eq!(known_draft("http://json-schema.org/schema#"), None);
    }

    #[test]
    fn vocabularies_switch_keywords_on() {
        let mut dialect = NodeDialect::core_only(Draft::Draft201909);
        assert!(dialect.has(Vocabulary::Core) && !dialect.has(Vocabulary::Applicator));
        let uri = "https://json-schema.org/draft/2019-09/vocab/applicator";
        dialect.add(known_vocabulary(uri).unwrap(), true);
        assert!(dialect.has(Vocabulary::Unevaluated) && !dialect.has(Vocabulary::Validation));
        let uri = "https://json-schema.org/draft/2020-12/vocab/format-assertion";
        dialect.add(known_vocabulary(uri).unwrap(), true);
        assert!(dialect.asserts_format() && dialect.has(Vocabulary::Format));
        assert_eq!(dialect.formats(Formats::Annotate), Formats::Standard);
        assert_eq!(dialect.formats(Formats::Enforce), Formats::Enforce);
        assert!(known_vocabulary("https://example.com/vocab/core").is_none());
    }
}
