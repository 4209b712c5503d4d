//! Steps of whole configurations: candidates, registers, keys, what a fingerprint tells apart.

use super::*;
use crate::options::{Options, Order, Whitespace};
use crate::schema::Schema;

fn automaton(schema: &str, policy: SurfacePolicy) -> Automaton {
    let options = Options { policy, ..Options::default() };
    let schema = Arc::new(Schema::parse(schema, &options).unwrap());
    let sets = Arc::new(Sets::compile(schema, &options).unwrap());
    let emptiness = Emptiness::decide(&sets);
    Automaton::new(sets, emptiness, &policy)
}

fn compact(order: Order) -> SurfacePolicy {
    SurfacePolicy { whitespace: Whitespace::Compact, order, ..SurfacePolicy::default() }
}

fn after(automaton: &Automaton, text: &str) -> Option<Config> {
    let mut config = automaton.start();
    automaton.steps(&mut config, text.as_bytes()).unwrap().is_none().then_some(config)
}

/// `Some(true)`: a document; `Some(false)`: the beginning of one; `None`: neither.
fn verdict(automaton: &Automaton, text: &str) -> Option<bool> {
    after(automaton, text).map(|config| automaton.can_end(&config))
}

#[test]
fn a_finished_value_selects_the_candidates() {
    let schema = r#"{"anyOf": [
        {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"const": 1}},
         "required": ["a", "b"], "additionalProperties": false},
        {"type": "object", "properties": {"a": {"type": "string"}, "c": {"const": 2}},
         "required": ["a", "c"], "additionalProperties": false},
        {"type": "object", "properties": {"a": {"type": ["integer", "null"]}},
         "required": ["a"], "additionalProperties": false}]}"#;
    let automaton = automaton(schema, compact(Order::Declared));
    assert_eq!(verdict(&automaton, r#"{"a":7}"#), Some(true));
    assert_eq!(verdict(&automaton, r#"{"a":7,"b":1}"#), Some(true));
    assert_eq!(verdict(&automaton, r#"{"a":"x","c":2}"#), Some(true));
    assert_eq!(verdict(&automaton, r#"{"a":null}"#), Some(true));
    // A string leaves only the second, null only the third.
    for text in [r#"{"a":"x"}"#, r#"{"a":"x","b"#, r#"{"a":7,"c"#, r#"{"a":null,"#, r#"{"b"#] {
        assert_eq!(verdict(&automaton, text), None, "{text}");
    }
}

#[test]
fn declared_order_and_its_window() {
    let schema = r#"{"type": "object", "properties": {"a": {}, "b": {}, "c": {}, "d": {}},
        "required": ["c", "z"]}"#;
    let declared = automaton(schema, compact(Order::Declared));
    for text in [
        r#"{"c":1,"z":1}"#,
        r#"{"a":1,"c":1,"d":1,"z":1}"#,
        r#"{"b":1,"c":1,"z":1,"other":1,"x":1}"#,
    ] {
        assert_eq!(verdict(&declared, text), Some(true), "{text}");
    }
    for text in [
        r#"{"d"#,              // `c` is required before it
        r#"{"b":1,"a"#,        // out of order
        r#"{"c":1,"other"#,    // `z` must come first
        r#"{"c":1,"z":1,"d""#, // names before other keys
        r#"{"c":1}"#,
    ] {
        assert_eq!(verdict(&declared, text), None, "{text}");
    }
    let any = automaton(schema, compact(Order::Any));
    assert_eq!(verdict(&any, r#"{"z":1,"other":1,"d":1,"a":1,"c":1}"#), Some(true));
    assert_eq!(verdict(&any, r#"{"z":1,"other":1}"#), None);
}

#[test]
fn no_key_comes_twice_however_it_is_spelled() {
    for order in [Order::Declared, Order::Any] {
        let automaton = automaton(r#"{"type": "object", "properties": {"a": {}}}"#, compact(order));
        for text in [
            r#"{"a":1,"a""#,
            r#"{"a":1,"\u0061""#,
            r#"{"\u0061":1,"a""#,
            r#"{"x":1,"x""#,
            r#"{"x":1,"\u0078""#,
            r#"{"":1,"y":2,"""#,
            r#"{"\ud83d\ude00":1,"😀""#,
        ] {
            assert_eq!(verdict(&automaton, text), None, "{text}");
            // One more character makes it another key.
            let longer = format!("{}!\":1}}", text.strip_suffix('"').unwrap());
            assert_eq!(verdict(&automaton, &longer), Some(true), "{longer}");
        }
        // The same key in another object is no repeat.
        assert_eq!(verdict(&automaton, r#"{"x":{"x":1},"y":{"x":1}}"#), Some(true));
    }
}

#[test]
fn registers_count_by_their_distance_to_a_bound() {
    let clip = Clip::new(16, 4, 4);
    let list = automaton(
        r#"{"type": "array", "items": {"type": "integer"}, "maxItems": 2000000000}"#,
        compact(Order::Any),
    );
    let key = |automaton: &Automaton, text: &str| {
        automaton.fingerprint(&after(automaton, text).unwrap(), &clip)
    };
    let items = |n: usize| format!("[{}", vec!["1"; n].join(","));
    assert_eq!(key(&list, &items(10)), key(&list, &items(1000)));
    let short = automaton(r#"{"type": "array", "maxItems": 12}"#, compact(Order::Any));
    assert_eq!(key(&short, &items(2)), key(&short, &items(5)));
    assert_ne!(key(&short, &items(10)), key(&short, &items(11)));
    let text = automaton(r#"{"type": "string", "maxLength": 100}"#, compact(Order::Any));
    let chars = |n: usize| format!("\"{}", "é".repeat(n));
    assert_eq!(key(&text, &chars(3)), key(&text, &chars(80)));
    assert_ne!(key(&text, &chars(95)), key(&text, &chars(96)));
    // Of an integer its digits count, of a number what an exponent could still reach.
    let integer = automaton(r#"{"type": "integer"}"#, compact(Order::Any));
    assert_eq!(key(&integer, "100"), key(&integer, "739"));
    assert_ne!(key(&integer, "100"), key(&integer, "1000"));
    let number = automaton(r#"{"type": "number"}"#, compact(Order::Any));
    assert_eq!(key(&number, "2.50"), key(&number, "7.39"));
    assert_ne!(key(&number, "0.01"), key(&number, "0.10"));
    assert_ne!(key(&number, "100"), key(&number, "200"));
    // Only as many levels count as one token can close.
    let any = automaton("true", compact(Order::Any));
    assert_eq!(key(&any, &"[".repeat(20)), key(&any, &"[".repeat(21)));
    assert_ne!(key(&any, "[["), key(&any, "[[["));
}

#[test]
fn masks_of_volatile_objects_are_not_shared() {
    let clip = Clip::new(16, 4, 4);
    let any = automaton(r#"{"type": "object"}"#, compact(Order::Any));
    let key = |text: &str| any.fingerprint(&after(&any, text).unwrap(), &clip);
    // Inside a key that depends on the keys before it, nothing is shared.
    assert!(key(r#"{"a"#).is_some());
    assert_eq!(key(r#"{"x":1,"a"#), None);
    // Between the members, which keys have come is left out of the key.
    assert_eq!(key(r#"{"x":1"#), key(r#"{"y":1"#));
}

#[test]
fn deep_stacks_are_dropped_without_recursion() {
    let any = automaton("true", compact(Order::Any));
    let config = after(&any, &"[".repeat(300_000)).unwrap();
    assert_eq!(config.frames().count(), 299_999);
    let copy = config.clone();
    drop(config);
    drop(copy);
}
