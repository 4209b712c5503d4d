//! What a matcher takes, counted by the allocator: one test in a process of its own, so that nothing
//! else allocates beside it.

use peak_alloc::PeakAlloc;
use tokenmask::{Engine, Grammar, Limits, Matcher, Options, Vocabulary};

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// What a matcher may take, the values it has seen aside.
const MOST: usize = 4 << 10;

fn engine(schema: &str, rollback: usize) -> Engine {
    let limits = Limits { rollback, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    Grammar::compile(schema, &options).unwrap().bind(&Vocabulary::bytes()).unwrap()
}

/// A matcher that has read `text` byte by byte and asked for each mask; and the bytes that it holds.
fn read(engine: &Engine, text: &str) -> (Matcher, usize) {
    let before = ALLOCATED.current_usage();
    let mut matcher = engine.matcher();
    for byte in text.bytes() {
        matcher.mask().unwrap();
        matcher.accept(u32::from(byte)).unwrap();
    }
    (matcher, ALLOCATED.current_usage() - before)
}

#[test]
fn matchers_are_small() {
    let deep = "[".repeat(20) + "1";
    let items: String = (0..5_000).map(|n| format!("{},", n % 10)).collect();
    let keys: String = (0..1_000).map(|n| format!("\"key {n}\":{n},")).collect();
    let names: Vec<String> =
        (0..300).map(|n| format!(r#""name_{n}":{{"type":"integer"}}"#)).collect();
    let named = format!(r#"{{"type":"object","properties":{{{}}}}}"#, names.join(","));
    // (schema, document in progress, bytes of the values that it has to remember)
    let documents = [
        ("true", "{\"some key\": [1, 2, \"text".to_owned(), 200),
        ("true", deep, 20 * 300),
        (r#"{"type":"string","maxLength":100000}"#, format!("\"{}", "x".repeat(50_000)), 0),
        (r#"{"type":"array","items":{"type":"integer"}}"#, format!("[{items}1"), 0),
        (&named, "{\"name_0\": 1, \"name_7\": 2, \"name_299".to_owned(), 0),
        ("true", format!("{{{keys}\"x"), 1_000 * 200),
    ];
    for (schema, text, seen) in &documents {
        let engine = engine(schema, 0);
        // What is shared is made by the first document.
        drop(read(&engine, text));
        let shared = engine.shared_states();
        let (matcher, heap) = read(&engine, text);
        assert_eq!(engine.shared_states(), shared);
        let takes = size_of::<Matcher>() + heap;
        println!("{takes} bytes after {} of {schema:.40}", text.len());
        assert!(takes <= MOST + seen, "{takes} bytes after {text:.40}");
        let before = ALLOCATED.current_usage();
        let fork = matcher.clone();
        let own = size_of::<Matcher>() + ALLOCATED.current_usage() - before;
        println!("{own} bytes of a clone");
        assert!(own <= MOST, "{own} bytes of a clone after {text:.40}");
        assert_eq!(fork.offset(), text.len());
    }
}
