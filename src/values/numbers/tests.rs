//! The algebra of numbers by example, and against membership of single numbers.

use super::*;
use crate::options::Numbers;

fn decimal(text: &str) -> Decimal {
    Decimal::parse(text).unwrap_or_else(|| panic!("{text} is a number"))
}

/// `[1,` at least 1; `(1,` above; `,1]`, `,1)`; `i` integer; `*2` multiples; `/2` no multiples;
/// `d` digits only; `=1` a value. All hold.
fn shape(text: &str) -> Option<NumberShape> {
    let one = |part: &str| -> Option<NumberShape> {
        let (first, rest) = part.split_at(1);
        match (first, part.split_at(part.len() - 1)) {
            ("i", _) => Some(NumberShape::integers(false)),
            ("d", _) => Some(NumberShape::integers(true)),
            ("*", _) => NumberShape::multiples_of(decimal(rest)),
            ("/", _) => NumberShape::multiples_of(decimal(rest))?.negate()?.pop(),
            ("=", _) => NumberShape::of_values(rest.split('|').map(decimal).collect()),
            ("[", _) => NumberShape::at_least(decimal(rest), false),
            ("(", _) => NumberShape::at_least(decimal(rest), true),
            (_, (most, "]")) => NumberShape::at_most(decimal(most), false),
            (_, (most, _)) => NumberShape::at_most(decimal(most), true),
        }
    };
    text.split_whitespace().try_fold(NumberShape::ANY, |all, part| all.intersect(&one(part)?))
}

#[test]
fn what_holds_no_number_is_nothing() {
    for text in [
        "i (1 2)",
        "[1 1)",
        "(1 1]",
        "[2 1]",
        "i *0.5 (0 1)",
        "*1000003 [1 1000002]",
        "*1e-8 (0 1e-8)",
        "i /1",
        "*4 /2",
        "*0.5 /0.25",
        "*6 [7 11]",
        "i /2 [4 4]",
        "i /2 /3 [8 10]",
        "=1|2 [3",
        "=1.5 i",
        "=3 /1",
        "[1e400 1e400)",
        "(1e-400 1e-400]",
        "[1e20000",
        "*7 /7",
        "[0.5 0.5] i",
    ] {
        assert_eq!(shape(text), None, "{text}");
    }
    for text in [
        "i (1 2]",
        "[1 1]",
        "(1 1.0000000000000000000000000000000000001)",
        "*1000003 [1 1000003]",
        "i /2 /3 [8 11]",
        "i /2 /3 /5 /7 /11 /13 [2 17]",
        "*0.01 (0.01 0.02]",
        "(0 1e-400)",
        "[1e400 1e401]",
        "*2 /4",
        "/1 [3 4]",
    ] {
        assert!(shape(text).is_some(), "{text}");
    }
}

#[test]
fn equal_sets_have_one_form() {
    for (a, b) in [
        ("i [0.5 7.5]", "i [1 7]"),
        ("i (1 3)", "=2 i"),
        ("*4 *6", "*12"),
        ("i *0.5", "i"),
        ("i *1.5", "i *3"),
        ("*0.2 *0.5", "*1"),
        ("[5 5]", "=5"),
        ("i /2 /4", "i /2"),
        ("*3 /2", "*3 /6"),
        ("/2 [2", "/2 (2"),
        ("d i", "d"),
        ("[1 9] [2 8)", "[2 8)"),
        ("1e30000]", ""),
    ] {
        assert_eq!(shape(a), shape(b), "{a} · {b}");
        assert!(shape(a).is_some(), "{a}");
    }
    assert_eq!(shape("*2").and_then(|s| s.multiple), Some(decimal("2")));
}

#[test]
fn values_in_order() {
    let values = |text: &str, limit| {
        let values = shape(text)?.values_up_to(limit)?;
        Some(values.iter().map(|v| v.to_plain_text().unwrap()).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(values("i [-2 2]", 5).as_deref(), Some("-2 -1 0 1 2"));
    assert_eq!(values("i [-2 2]", 4), None);
    assert_eq!(values("*0.3 (0 1]", 9).as_deref(), Some("0.3 0.6 0.9"));
    assert_eq!(values("i /2 /3 [0 12]", 9).as_deref(), Some("1 5 7 11"));
    assert_eq!(values("=3|1|2 [2", 9).as_deref(), Some("2 3"));
    assert_eq!((values("[0 1]", 9), values("i [0", 9)), (None, None));
    assert_eq!(values("i [1 10000]", 10_000).map(|v| v.len()), Some(48_893));
    assert_eq!(values("i [1 10001]", 10_000), None);
}

/// A number is in exactly one of a set and its negation, and in an intersection if it is in both.
#[test]
fn algebra_agrees_with_membership() {
    let parts = [
        "",
        "i",
        "[1",
        "(1",
        "7]",
        "7)",
        "*2",
        "*1.5",
        "*0.1",
        "/2",
        "/1",
        "/0.3",
        "=1|2|3.5|-4",
        "[-3 i",
        "*3 /2 [-6 6]",
        "i /2 /3",
        "/1 (0 9)",
        "[-0.5 0.5)",
    ];
    let samples: Vec<Decimal> = (-160..=160)
        .map(|n| Decimal::new(&BigInt::from(n * 5), -2))
        .chain(["1e-30", "-1e-30", "1e30", "3e-1", "6.9999999999", "7.0000000001"].map(decimal))
        .collect();
    for a in parts {
        let x = shape(a).unwrap();
        let negation = x.negate().unwrap();
        for value in &samples {
            let outside = negation.iter().any(|n| n.contains(value));
            assert_eq!(outside, !x.contains(value), "not {a} · {value:?}");
        }
        for b in parts {
            let y = shape(b).unwrap();
            let both = x.intersect(&y);
            for value in &samples {
                let inside = both.as_ref().is_some_and(|s| s.contains(value));
                assert_eq!(inside, x.contains(value) && y.contains(value), "{a} · {b} · {value:?}");
            }
        }
    }
}

#[test]
fn spellings_and_integers_of_a_width() {
    let digits = shape("d").unwrap();
    let others = digits.negate().unwrap();
    assert_eq!(others, [NumberShape { spelling: Spelling::Other, ..NumberShape::ANY }]);
    assert_eq!(others[0].negate(), Some(vec![digits.clone()]));
    assert_eq!(digits.intersect(&others[0]), None);
    let union = NumberShape::of_format("int32").unwrap();
    let has = |text: &str| union.iter().any(|s| s.contains(&decimal(text)));
    assert!(has("-2147483648") && has("2147483647") && has("2147483647.5") && has("1e-9"));
    assert!(!has("2147483648") && !has("-2147483649") && !has("1e10"));
    assert_eq!(NumberShape::of_format("float"), None);
}

#[test]
fn what_is_too_large_is_left_out_and_said() {
    let large = NumberShape::multiples_of(decimal(&format!("1{}7", "0".repeat(1_200)))).unwrap();
    let (rest, partial) = large.clone().take_partial();
    assert_eq!((rest, partial), (NumberShape::ANY, true));
    assert_eq!(large.negate(), None);
    // The product of two primes' powers is too long, one of them stays.
    let (a, b) = (format!("1{}1", "0".repeat(600)), format!("1{}3", "0".repeat(600)));
    let both = shape(&format!("*{a} *{b}")).unwrap();
    assert!(both.clone().take_partial().1 && both.multiple.is_some());
    let tiny = NumberShape::multiples_of(decimal("1e-1000000000")).unwrap();
    assert_eq!(tiny.take_partial(), (NumberShape::ANY, true));
    let many = shape("/2 /3 /5 /7 /11 /13 /17 i").unwrap();
    assert!(many.clone().take_partial().1 && many.others.len() == MOST_OTHERS);
}

#[test]
fn forms_spell_what_they_reach() {
    let spelled = |text: &str, form| shape(text).unwrap().spelled(form);
    assert_eq!(spelled("=1|1e11000", Numbers::Plain), shape("=1"));
    assert_eq!(spelled("=1|1e11000|1e11024", Numbers::Any), shape("=1|1e11000"));
    assert_eq!(spelled("[1e10500", Numbers::Plain), None);
    assert_eq!(spelled("[1e10500", Numbers::Any), shape("[1e10500"));
    assert_eq!(spelled("[1e11500", Numbers::Any), None);
    assert_eq!(spelled("-1e10500] *3", Numbers::Plain), None);
    assert_eq!(spelled("[0 1e10500]", Numbers::Plain), shape("[0 1e10500]"));
    let narrow = format!("(1.{0}1 1.{0}2)", "0".repeat(1_500));
    assert_eq!(spelled(&narrow, Numbers::Any), None);
    assert_eq!(spelled(&narrow, Numbers::Plain), shape(&narrow));
}
