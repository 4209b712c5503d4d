//! The keyword table: the only place that lists the keywords of all dialects.

use super::dialect::{Draft, Vocabulary};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// What subschemas a keyword's value holds, in any draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    Nothing,
    /// One schema.
    Schema,
    /// One schema or, in some drafts, an array of schemas.
    SchemaOrArray,
    /// An array of schemas.
    Array,
    /// An object of schemas by name or pattern.
    Map,
    /// An object of schemas or arrays of names.
    Dependencies,
}

/// What a keyword's value must be, beyond the subschemas that it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// Anything; also where [`Holds`] says it all, and for annotations.
    Any,
    Text,
    Boolean,
    Number,
    PositiveNumber,
    /// A number, in draft 4 a boolean, undeclared both.
    ExclusiveBound,
    /// An integer that is not negative.
    Length,
    /// A type name or an array of distinct ones.
    TypeNames,
    Array,
    /// An array of distinct strings.
    Names,
    /// An object of arrays of distinct strings.
    NamesByName,
    /// An object of booleans.
    Booleans,
}

/// What a keyword is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Asserts by its own value.
    Assertion,
    /// Applies subschemas.
    Applicator,
    /// Applies a subschema from elsewhere.
    Reference,
    /// Keeps subschemas for others.
    Definitions,
    /// Asserts nothing.
    Annotation,
    /// Says which schema this is, or in which dialect.
    Identity,
}

/// A row of the table.
#[derive(Debug)]
pub(crate) struct KeywordSpec {
    pub name: &'static str,
    /// The drafts that have the keyword, as bits.
    drafts: u8,
    pub holds: Holds,
    pub check: Check,
    pub vocabulary: Vocabulary,
    pub role: Role,
}

/// OpenAPI 3.0.
const OA: u8 = 1;
const D4: u8 = 2;
const D6: u8 = 4;
const D7: u8 = 8;
const D19: u8 = 16;
const D20: u8 = 32;
/// Undeclared.
const U: u8 = 64;
const ALL: u8 = D4 | D6_UP;
const ALL_OA: u8 = OA | ALL;
const D6_UP: u8 = D6 | D7_UP;
const D7_UP: u8 = D7 | D19_UP;
const D19_UP: u8 = D19 | D20_UP;
const D20_UP: u8 = D20 | U;

macro_rules! keywords {
    ($($kw:ident $name:literal $drafts:expr, $holds:ident $check:ident $vocabulary:ident $role:ident;)*) => {
        /// A known keyword.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub(crate) enum Kw { $(#[doc = concat!("`", $name, "`")] $kw,)* }

        static TABLE: &[(Kw, KeywordSpec)] = &[$((Kw::$kw, KeywordSpec {
            name: $name,
            drafts: $drafts,
            holds: Holds::$holds,
            check: Check::$check,
            vocabulary: Vocabulary::$vocabulary,
            role: Role::$role,
        }),)*];
    };
}

keywords! {
    // Core. `definitions` is in the meta-schemas of 2019-09 and 2020-12 too.
    Schema "$schema" ALL, Nothing Text Core Identity;
    IdDraft4 "id" D4, Nothing Text Core Identity;
    Id "$id" D6_UP, Nothing Text Core Identity;
    Anchor "$anchor" D19_UP, Nothing Text Core Identity;
    DynamicAnchor "$dynamicAnchor" D20_UP, Nothing Text Core Identity;
    RecursiveAnchor "$recursiveAnchor" D19, Nothing Boolean Core Identity;
    Vocabulary "$vocabulary" D19_UP, Nothing Booleans Core Identity;
    Ref "$ref" ALL_OA, Nothing Text Core Reference;
    DynamicRef "$dynamicRef" D20_UP, Nothing Text Core Reference;
    RecursiveRef "$recursiveRef" D19, Nothing Text Core Reference;
    Defs "$defs" D19_UP, Map Any Core Definitions;
    Definitions "definitions" ALL, Map Any Core Definitions;
    Comment "$comment" D7_UP, Nothing Any Core Annotation;
    // Applicators. `dependencies` is enforced in every dialect.
    AllOf "allOf" ALL_OA, Array Any Applicator Applicator;
    AnyOf "anyOf" ALL_OA, Array Any Applicator Applicator;
    OneOf "oneOf" ALL_OA, Array Any Applicator Applicator;
    Not "not" ALL_OA, Schema Any Applicator Applicator;
    If "if" D7_UP, Schema Any Applicator Applicator;
    Then "then" D7_UP, Schema Any Applicator Applicator;
    Else "else" D7_UP, Schema Any Applicator Applicator;
    DependentSchemas "dependentSchemas" D19_UP, Map Any Applicator Applicator;
    Dependencies "dependencies" ALL, Dependencies Any Applicator Applicator;
    Properties "properties" ALL_OA, Map Any Applicator Applicator;
    PatternProperties "patternProperties" ALL, Map Any Applicator Applicator;
    AdditionalProperties "additionalProperties" ALL_OA, Schema Any Applicator Applicator;
    PropertyNames "propertyNames" D6_UP, Schema Any Applicator Applicator;
    PrefixItems "prefixItems" D20_UP, Array Any Applicator Applicator;
    Items "items" ALL_OA, SchemaOrArray Any Applicator Applicator;
    AdditionalItems "additionalItems" D4 | D6 | D7 | D19 | U, Schema Any Applicator Applicator;
    Contains "contains" D6_UP, Schema Any Applicator Applicator;
    UnevaluatedItems "unevaluatedItems" D19_UP, Schema Any Unevaluated Applicator;
    UnevaluatedProperties "unevaluatedProperties" D19_UP, Schema Any Unevaluated Applicator;
    // Validation.
    Type "type" ALL_OA, Nothing TypeNames Validation Assertion;
    Enum "enum" ALL_OA, Nothing Array Validation Assertion;
    Const "const" D6_UP, Nothing Any Validation Assertion;
    MultipleOf "multipleOf" ALL_OA, Nothing PositiveNumber Validation Assertion;
    Maximum "maximum" ALL_OA, Nothing Number Validation Assertion;
    ExclusiveMaximum "exclusiveMaximum" ALL_OA, Nothing ExclusiveBound Validation Assertion;
    Minimum "minimum" ALL_OA, Nothing Number Validation Assertion;
    ExclusiveMinimum "exclusiveMinimum" ALL_OA, Nothing ExclusiveBound Validation Assertion;
    MaxLength "maxLength" ALL_OA, Nothing Length Validation Assertion;
    MinLength "minLength" ALL_OA, Nothing Length Validation Assertion;
    Pattern "pattern" ALL_OA, Nothing Text Validation Assertion;
    MaxItems "maxItems" ALL_OA, Nothing Length Validation Assertion;
    MinItems "minItems" ALL_OA, Nothing Length Validation Assertion;
    UniqueItems "uniqueItems" ALL_OA, Nothing Boolean Validation Assertion;
    MaxContains "maxContains" D19_UP, Nothing Length Validation Assertion;
    MinContains "minContains" D19_UP, Nothing Length Validation Assertion;
    MaxProperties "maxProperties" ALL_OA, Nothing Length Validation Assertion;
    MinProperties "minProperties" ALL_OA, Nothing Length Validation Assertion;
    Required "required" ALL_OA, Nothing Names Validation Assertion;
    DependentRequired "dependentRequired" D19_UP, Nothing NamesByName Validation Assertion;
    // Format, content, meta-data.
    Format "format" ALL_OA, Nothing Text Format Assertion;
    ContentEncoding "contentEncoding" D7_UP, Nothing Any Content Annotation;
    ContentMediaType "contentMediaType" D7_UP, Nothing Any Content Annotation;
    ContentSchema "contentSchema" D19_UP, Schema Any Content Annotation;
    Title "title" ALL_OA, Nothing Any MetaData Annotation;
    Description "description" ALL_OA, Nothing Any MetaData Annotation;
    Default "default" ALL_OA, Nothing Any MetaData Annotation;
    Examples "examples" D6_UP, Nothing Any MetaData Annotation;
    Deprecated "deprecated" OA | D19_UP, Nothing Any MetaData Annotation;
    ReadOnly "readOnly" OA | D7_UP, Nothing Any MetaData Annotation;
    WriteOnly "writeOnly" OA | D7_UP, Nothing Any MetaData Annotation;
    // OpenAPI 3.0 alone: in drafts these are unknown. `discriminator` may not change what is valid.
    Nullable "nullable" OA, Nothing Boolean Validation Assertion;
    Discriminator "discriminator" OA, Nothing Any MetaData Annotation;
    Xml "xml" OA, Nothing Any MetaData Annotation;
    ExternalDocs "externalDocs" OA, Nothing Any MetaData Annotation;
    Example "example" OA, Nothing Any MetaData Annotation;
}

impl Kw {
    /// The keyword's row.
    pub(crate) fn spec(self) -> &'static KeywordSpec {
        &TABLE[self as usize].1
    }

    /// The keyword's name.
    pub(crate) fn name(self) -> &'static str {
        self.spec().name
    }

    /// Looks a keyword up by name.
    pub(crate) fn from_name(name: &str) -> Option<Kw> {
        static BY_NAME: OnceLock<FxHashMap<&'static str, Kw>> = OnceLock::new();
        let table = || TABLE.iter().map(|(kw, spec)| (spec.name, *kw)).collect();
        BY_NAME.get_or_init(table).get(name).copied()
    }

    /// Whether `draft` has the keyword.
    pub(crate) fn is_in(self, draft: Draft) -> bool {
        self.spec().drafts & draft.bit() != 0
    }

    /// Whether only OpenAPI has the keyword.
    pub(crate) fn is_of_openapi(self) -> bool {
        self.spec().drafts == OA
    }

    /// Whether the subschemas apply to the very value that the keyword's schema applies to.
    pub(crate) fn applies_in_place(self) -> bool {
        matches!(
            self,
            Kw::Ref
                | Kw::DynamicRef
                | Kw::RecursiveRef
                | Kw::AllOf
                | Kw::AnyOf
                | Kw::OneOf
                | Kw::Not
                | Kw::If
                | Kw::Then
                | Kw::Else
                | Kw::DependentSchemas
                | Kw::Dependencies
        )
    }

    /// The keyword of any draft whose name is nearest to `name`: at most two edits away, and fewer
    /// edits than half of its letters.
    pub(crate) fn nearest(name: &str) -> Option<&'static str> {
        nearest(name, TABLE.iter().filter(|(_, spec)| spec.drafts != OA).map(|(_, spec)| spec.name))
    }
}

/// The names that `type` takes.
pub(crate) const TYPE_NAMES: [&str; 7] =
    ["null", "boolean", "object", "array", "number", "string", "integer"];

/// The candidate nearest to `name`, see [`Kw::nearest`].
pub(super) fn nearest(
    name: &str,
    candidates: impl Iterator<Item = &'static str>,
) -> Option<&'static str> {
    if name.len() > 40 {
        return None;
    }
    candidates
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= 2)
        .map(|candidate| (edit_distance(name.as_bytes(), candidate.as_bytes()), candidate))
        .filter(|(distance, candidate)| *distance <= 2 && distance * 2 < candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours, without regard to ASCII case.
fn edit_distance(a: &[u8], b: &[u8]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let equal = a[i - 1].eq_ignore_ascii_case(&b[j - 1]);
            row[j] = (last[j - 1] + usize::from(!equal)).min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_variants_agree() {
        for (index, (kw, spec)) in TABLE.iter().enumerate() {
            assert_eq!(*kw as usize, index);
            assert_eq!(Kw::from_name(spec.name), Some(*kw));
        }
        assert_eq!(Kw::from_name("divisibleBy"), None);
    }

    #[test]
    fn drafts_have_their_keywords() {
        assert!(Kw::IdDraft4.is_in(Draft::Draft4) && !Kw::IdDraft4.is_in(Draft::Undeclared));
        assert!(!Kw::If.is_in(Draft::Draft6) && Kw::If.is_in(Draft::Draft7));
        assert!(!Kw::AdditionalItems.is_in(Draft::Draft202012));
        assert!(Kw::AdditionalItems.is_in(Draft::Undeclared));
        assert!(Kw::Dependencies.is_in(Draft::Draft202012));
        assert!(!Kw::PrefixItems.is_in(Draft::Draft201909));
        assert!(Kw::Not.is_in(Draft::OpenApi30) && !Kw::PatternProperties.is_in(Draft::OpenApi30));
        assert!(Kw::Nullable.is_of_openapi() && !Kw::Deprecated.is_of_openapi());
    }

    #[test]
    fn near_names_are_found() {
        assert_eq!(Kw::nearest("maxLenght"), Some("maxLength"));
        assert_eq!(Kw::nearest("additionalproperties"), Some("additionalProperties"));
        assert_eq!(Kw::nearest("propertes"), Some("properties"));
        assert_eq!(Kw::nearest("example"), Some("examples"));
        assert_eq!(Kw::nearest("x-order"), None);
        assert_eq!(Kw::nearest("of"), None);
        assert_eq!(nearest("strnig", TYPE_NAMES.into_iter()), Some("string"));
    }
}
