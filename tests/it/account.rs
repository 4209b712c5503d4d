//! No keyword is dropped: for each schema of the corpus and of the official suite, the locations of
//! the report are those that a walker of the tests' own counts, each exactly once.

mod holds;
mod random;
mod walker;

use crate::data;
use crate::suite_data::{Suite, draft, meta_documents};
use crate::support::amount;
use referencing::Draft;
use std::collections::BTreeSet;
use tokenmask::{Grammar, Options};
pub use walker::Documents;
use walker::occurrences;

/// A failing run names so many of its failures.
const SHOWN: usize = 30;

/// What was seen.
#[derive(Default)]
struct Tally {
    schemas: usize,
    keywords: usize,
    /// Schemas that do not compile, or that `serde_json` cannot read, and why.
    skipped: Vec<String>,
    failures: Vec<String>,
}

impl Tally {
    /// Compares one schema's report with the walker's count.
    fn add(
        &mut self,
        id: &str,
        schema: &str,
        options: &Options,
        draft: Option<Draft>,
        documents: &Documents,
    ) {
        let grammar = Grammar::compile(schema, options).map_err(|error| error.to_string());
        let value = serde_json::from_str(schema).map_err(|error| error.to_string());
        let (grammar, value) = match grammar.and_then(|grammar| Ok((grammar, value?))) {
            Ok(both) => both,
            Err(error) => {
                self.skipped.push(format!("{id}: {error}"));
                return;
            }
        };
        let expected = match occurrences(&value, draft, documents) {
            Ok(expected) => expected,
            Err(error) => {
                self.failures.push(format!("{id}: compiles, but {error}"));
                return;
            }
        };
        self.schemas += 1;
        self.keywords += expected.len();
        let mut seen = BTreeSet::new();
        for entry in grammar.report().entries() {
            if !seen.insert(entry.location.clone()) {
                self.failures.push(format!("{id}: {} is listed twice", entry.location));
            }
        }
        let missing = expected.difference(&seen).map(|at| format!("{id}: {at} is missing"));
        let superfluous = seen.difference(&expected).map(|at| format!("{id}: {at} is superfluous"));
        self.failures.extend(missing.chain(superfluous));
    }

    fn finish(self, name: &str) -> Tally {
        println!(
            "{name}: {} schemas, {} keywords, {} schemas skipped",
            self.schemas,
            self.keywords,
            self.skipped.len()
        );
        let shown = self.failures.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("\n");
        assert!(self.failures.is_empty(), "{} failures:\n{shown}", self.failures.len());
        self
    }
}

#[test]
fn corpus() {
    let Some(path) = data::find(data::CORPUS, "the account of the corpus' keywords") else {
        return;
    };
    let (documents, options) = with_documents(Documents::new());
    let (mut tally, mut has_valid_text) = (Tally::default(), BTreeSet::new());
    for record in data::records(&path).unwrap() {
        tally.add(&record.id, record.schema.get(), &options, None, &documents);
        if record.tests.iter().any(|test| test.valid) {
            has_valid_text.insert(record.id);
        }
    }
    let tally = tally.finish("corpus");
    // Some contradict themselves: their own texts must be invalid then.
    let unclear = tally.skipped.iter().filter(|why| match why.split_once(": unsatisfiable: ") {
        Some((id, _)) => has_valid_text.contains(id),
        None => true,
    });
    assert_eq!(unclear.collect::<Vec<_>>(), [""; 0]);
    assert!(tally.skipped.len() < 20, "{:#?}", tally.skipped);
    assert!(tally.schemas > 7_000 && tally.keywords > 500_000);
}

#[test]
fn official_suite() {
    let Some(suite) = Suite::find("the account of the suite's keywords") else { return };
    let read = |(uri, text): (String, String)| (uri, serde_json::from_str(&text).unwrap());
    let (documents, options) = with_documents(suite.remotes.into_iter().map(read).collect());
    let mut tally = Tally::default();
    for file in suite.files {
        let options = Options { dialect: Some(file.dialect), ..options.clone() };
        for case in file.cases() {
            let id = format!("{}: {}", file.name, case.description);
            tally.add(&id, case.schema.get(), &options, Some(draft(file.dialect)), &documents);
        }
    }
    let tally = tally.finish("suite");
    // Nothing else is wrong with a schema of the suite.
    let unclear = tally.skipped.iter().filter(|why| !why.contains(": unsatisfiable: "));
    assert_eq!(unclear.collect::<Vec<_>>(), [""; 0]);
    assert!(tally.schemas > 1_500 && tally.keywords > 5_000);
}

/// These documents and the official meta-schemas, for the walker and for the compiler.
pub fn with_documents(mut documents: Documents) -> (Documents, Options) {
    documents.extend(meta_documents().map(|(uri, document)| (uri, document.clone())));
    let mut options = Options::default();
    for (uri, document) in &documents {
        options = options.document(uri.as_str(), document.to_string());
    }
    (documents, options)
}

/// What the walker counts is right: places that only references reach, other documents, siblings of
/// `$ref`, keywords of other drafts, values that look like schemas.
#[test]
fn the_walker_counts_what_is_written_here() {
    let other = r##"{"$defs": {"x": {"type": "null"}}, "a~/b": {"if": {"minimum": 1}}}"##;
    let registered =
        [("http://example.org/o.json".to_owned(), serde_json::from_str(other).unwrap())];
    let (documents, options) = with_documents(Documents::from(registered));
    let mut tally = Tally::default();
    for (schema, expected) in [
        (
            r#"{"const": {"type": 1}, "enum": [{"type": 1}], "default": {"if": true}}"#,
            "const enum default",
        ),
        (r#"{"properties": {"const": {"const": 1}}}"#, "properties properties/const/const"),
        (
            r#"{"$defs": {"a": {"x": {"type": 1}, "not": {"title": 2}}}}"#,
            "$defs $defs/a/x $defs/a/not $defs/a/not/title",
        ),
        (
            r##"{"items": {"$ref": "#/x/1"}, "x": [{"type": "null"}, {"type": "string"}]}"##,
            "items items/$ref x x/1/type",
        ),
        (
            r##"{"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a",
              "definitions": {"a": {"type": "null"}, "b": {"$defs": {"c": {"title": ""}}}}}"##,
            "$schema $ref definitions definitions/a/type definitions/b/$defs definitions/b/$defs/c/title",
        ),
        // A reference beside `$ref` leads nowhere in draft 7, and somewhere in 2020-12.
        (
            r##"{"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/a", "a": {"type": "null"},
              "not": {"$ref": "#/b"}, "b": {"type": "null"}}"##,
            "$schema $ref a a/type not not/$ref b",
        ),
        (
            r##"{"$ref": "#/a", "a": {"type": "null"}, "anyOf": [{"$ref": "#/b"}], "b": {"title": ""}}"##,
            "$ref a a/type anyOf anyOf/0/$ref b b/title",
        ),
        (
            r#"{"dependencies": {"a": ["b"], "c": {"type": "object"}}, "items": [true, {"title": ""}]}"#,
            "dependencies dependencies/c/type items items/1/title",
        ),
        (
            r##"{"items": {"$ref": "http://example.org/o.json#/a~0~1b"}}"##,
            "items items/$ref o:$defs o:$defs/x/type o:a~0~1b o:a~0~1b/if o:a~0~1b/if/minimum",
        ),
    ] {
        let value = serde_json::from_str(schema).unwrap();
        let location = |at: &str| match at.strip_prefix("o:") {
            Some(at) => format!("http://example.org/o.json#/{at}"),
            None => format!("#/{at}"),
        };
        let expected: BTreeSet<String> = expected.split_whitespace().map(location).collect();
        assert_eq!(occurrences(&value, None, &documents), Ok(expected), "{schema}");
        tally.add(schema, schema, &options, None, &documents);
    }
    assert_eq!(tally.finish("by hand").skipped, [""; 0]);
}

/// Schemas at random: every keyword that holds schemas, references to any place.
#[test]
fn random_schemas() {
    let (documents, options) = with_documents(Documents::new());
    let mut tally = Tally::default();
    for seed in 0..amount(2_000, 100_000) as u64 {
        let (text, dialect) = random::schema(seed);
        let options = Options { dialect, ..options.clone() };
        let id = format!("seed {seed}: {text}");
        tally.add(&id, &text, &options, dialect.map(draft), &documents);
    }
    let tally = tally.finish("random");
    assert!(tally.schemas > amount(200, 10_000), "{}", tally.schemas);
}
