//! Languages against regex-automata's DFAs and against brute force over short strings.

use super::automaton::LanguageLimit;
use super::*;
use crate::base::ByteSet;
use crate::options::Limits;
use proptest::prelude::*;
use regex_automata::Input;
use regex_automata::dfa::{Automaton, dense};
use regex_automata::nfa::thompson::NFA;
use std::sync::Arc;

const PATTERNS: [&str; 36] = [
    "",
    "a",
    "^a",
    "a$",
    "^a$",
    "^$",
    "$^",
    "(?:)",
    "a|^b",
    "|a",
    "^(|ab)$",
    "a$b",
    "a$|b",
    "(?:a$|b)a?",
    "^(?:a|b$)*$",
    "b^a",
    "(?:^|b)a",
    "^[ab]*a[ab]{2}$",
    "[ab]{2,3}$",
    "^(?:ab)*$",
    "^(?:aa|bbb)+$",
    "é",
    "^é+$",
    "^[^a]$",
    "^[^a]*$",
    ".",
    "^.$",
    "^.{2}$",
    "[]",
    "^[]?$",
    "a[^]b",
    "^\\u{1F600}$",
    "^\\uD83D\\uDE00|b$",
    "^\\uD83D",
    "^(a|b)+?b$",
    "(?:$)(?:^)",
];

const CHARS: [char; 5] = ['a', 'b', 'é', '\n', '😀'];

/// All strings over `chars` of at most `len` characters.
fn strings(chars: &[char], len: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut last = all.clone();
    for _ in 0..len {
        last = last.iter().flat_map(|s| chars.iter().map(move |c| format!("{s}{c}"))).collect();
        all.extend_from_slice(&last);
    }
    all
}

fn factor(pattern: &str) -> Arc<Factor> {
    Factor::pattern(pattern, &Limits::default()).unwrap()
}

fn full() -> Arc<Alphabet> {
    Arc::new(Alphabet::full(false))
}

fn language(patterns: &[&str], min: u64, max: Option<u64>) -> Language {
    let factors: Vec<_> = patterns.iter().map(|p| factor(p)).collect();
    Language::compile(&factors, &[], min, max, &full(), &Limits::default()).unwrap()
}

fn oracle(pattern: &str) -> impl Fn(&str) -> bool {
    let nfa = NFA::compiler().build_from_hir(&ecma::parse(pattern).unwrap().hir).unwrap();
    let dfa = dense::Builder::new().build_from_nfa(&nfa).unwrap();
    move |text| dfa.try_search_fwd(&Input::new(text)).unwrap().is_some()
}

/// The state after the bytes of `text`.
fn after(language: &Language, text: &[u8]) -> Option<LangState> {
    text.iter().try_fold(language.start(), |state, &b| language.step_byte(state, b).unwrap())
}

/// The decoder's state after content bytes.
fn decoded(bytes: &[u8]) -> TextState {
    bytes.iter().fold(TextState::START, |state, &b| match state.step(b, false) {
        TextStep::Pending { state, .. } | TextStep::Raw { state, .. } => state,
        TextStep::Char(_, state) => state,
        step => panic!("{b:x} refused: {step:?}"),
    })
}

/// The decoded string of content bytes.
fn content(bytes: &[u8]) -> String {
    serde_json::from_slice(&[b"\"", bytes, b"\""].concat()).unwrap()
}

#[test]
fn patterns_as_regex_automata() {
    let texts = strings(&CHARS, 4);
    for pattern in PATTERNS {
        let (lazy, oracle) = (language(&[pattern], 0, None), oracle(pattern));
        let eager = language(&[pattern, "(?:)"], 0, None);
        for text in &texts {
            let expected = oracle(text);
            assert_eq!(lazy.matches(text), expected, "{pattern} {text:?}");
            assert_eq!(eager.matches(text), expected, "{pattern} {text:?}");
        }
    }
}

#[test]
fn liveness_as_brute_force() {
    let texts = strings(&CHARS, 2);
    let endings = strings(&CHARS, 3);
    for pattern in PATTERNS {
        let oracle = oracle(pattern);
        let languages = [language(&[pattern], 0, None), language(&[pattern, ""], 0, None)];
        for text in &texts {
            let live = endings.iter().any(|end| oracle(&format!("{text}{end}")));
            for language in &languages {
                let state = after(language, text.as_bytes());
                let survives = state.is_some_and(|_| !text.is_empty() || !language.is_empty());
                assert_eq!(survives, live, "{pattern} {text:?}");
                if let Some(state) = state.filter(|_| live) {
                    assert!(language.live(state, 2), "{pattern} {text:?}");
                    let c = endings
                        .iter()
                        .any(|end| !end.is_empty() && oracle(&format!("{text}{end}")));
                    assert_eq!(
                        language.live_char(state, 2, &[(0, 0x10FFFF)]),
                        c,
                        "{pattern} {text:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn lengths_as_brute_force() {
    let (texts, all) = (strings(&CHARS[..3], 3), strings(&CHARS[..3], 5));
    for pattern in PATTERNS {
        let oracle = oracle(pattern);
        let members: Vec<&String> = all.iter().filter(|text| oracle(text)).collect();
        for (min, max) in [(0, 0), (1, 1), (2, 4), (3, 5), (4, 4), (5, 5), (0, 2)] {
            let language = language(&[pattern], min, Some(max));
            let within = |text: &str| (min..=max).contains(&(text.chars().count() as u64));
            for text in &texts {
                let count = text.chars().count() as u64;
                let live = members.iter().any(|m| within(m) && m.starts_with(text.as_str()));
                let state = after(&language, text.as_bytes());
                let got = state.is_some_and(|state| language.live(state, count));
                // Characters outside the sample may complete it too.
                if live || !pattern.contains(['.', '[', 'u']) {
                    assert_eq!(got, live, "{pattern} {min} {max} {text:?}");
                }
                assert_eq!(language.matches(text), within(text) && oracle(text));
                if got {
                    let end = language
                        .shortest(&full(), state.unwrap(), TextState::START, count)
                        .unwrap();
                    let whole = format!("{text}{}", content(&end));
                    assert!(language.matches(&whole), "{pattern} {text:?} {whole:?}");
                }
            }
        }
    }
}

#[test]
fn long_lengths_are_periodic() {
    let limits = Limits::default();
    let even = language(&["^(?:aa)*$"], 1001, Some(1_000_000_001));
    assert!(even.live(even.start(), 0));
    let odd_only = language(&["^(?:aa)*$"], 1001, Some(1001));
    assert!(odd_only.is_empty());
    let state = after(&odd_only, b"a").unwrap();
    assert!(!odd_only.live(state, 1));
    let huge = language(&["^(?:aaa|bbbbb)*$"], 1 << 62, None);
    assert!(!huge.is_empty());
    let state = after(&huge, b"a").unwrap();
    assert!(huge.live(state, 1) && huge.live(state, u64::MAX - 1));
    let exact = |n| {
        let factors = [factor("^(?:aaaaaa|bbbbbbbbbb)*$")];
        !Language::compile(&factors, &[], n, Some(n), &full(), &limits).unwrap().is_empty()
    };
    for n in 0..80 {
        let sum = (0..=n / 6).any(|k| (n - 6 * k) % 10 == 0);
        assert_eq!(exact(n), sum, "{n}");
    }
    let minimum = language(&["^[a-z]*$"], 3000, Some(100_000));
    let text = minimum.shortest(&full(), minimum.start(), TextState::START, 0).unwrap();
    assert_eq!(text, "a".repeat(3000).into_bytes());
    let free = language(&[], 30_000, Some(100_000));
    let text = free.shortest(&full(), free.start(), TextState::START, 10).unwrap();
    assert_eq!(text.len(), 29_990);
    assert!(!free.live(free.start(), 100_001) && free.live(free.start(), 100_000));
}

#[test]
fn inside_characters() {
    for language in [language(&["^😀$"], 0, None), language(&["^😀$"], 1, Some(1))] {
        let half = after(&language, &[0xF0, 0x9F]).unwrap();
        assert!(language.live(half, 1));
        assert_eq!(after(&language, &[0xF0, 0x90]), None);
        let text = decoded(&[0xF0, 0x9F]);
        assert_eq!(language.shortest(&full(), half, text, 1).unwrap(), [0x98, 0x80]);
        let start = language.start();
        assert!(language.live_char(start, 0, &decoded(b"\\uD83D").pending_chars(false)));
        assert!(!language.live_char(start, 0, &decoded(b"\\uD83E").pending_chars(false)));
        assert!(language.live_char(start, 0, &decoded(b"\\u").pending_chars(false)));
        assert!(!language.live_char(start, 0, &decoded(b"\\u0").pending_chars(false)));
        assert_eq!(language.shortest(&full(), start, decoded(b"\\ud8"), 1).unwrap(), b"3d\\ude00");
    }
    let long = language(&["^😀+$"], 1, Some(1));
    assert!(!long.live(after(&long, &[0xF0]).unwrap(), 2));
    let any = language(&["a"], 2, Some(2));
    let half = after(&any, &[0xC3]).unwrap();
    assert!(any.live(half, 1) && !any.live(half, 2));
    assert_eq!(any.shortest(&full(), half, decoded(&[0xC3]), 1).unwrap(), [0x80, b'a']);
}

#[test]
fn shortest_completions_are_cheapest() {
    let check = |pattern: &str, given: &[u8], read: &str, expected: &str| {
        for language in [language(&[pattern], 0, None), language(&[pattern], 0, Some(50))] {
            let state = after(&language, read.as_bytes()).unwrap();
            let count = read.chars().count() as u64 + 1;
            let text = decoded(given);
            let end = language.shortest(&full(), state, text, count).unwrap();
            assert_eq!(String::from_utf8_lossy(&end), expected, "{pattern}");
        }
    };
    check("^[^a]$", b"", "", "b");
    check("^(?:é|\\n\\n)$", b"", "", "é");
    check("^(?:éé|\\n)$", b"", "", "\\n");
    check("^(?:\\u0001|abcde)$", b"", "", "abcde");
    check("^(?:\\u0001|abcdefg)$", b"", "", "\\u0001");
    check("x.*yz$", b"", "x", "yz");
    check("^\"$", b"\\", "", "\"");
    check("^(?:\\x41|\\n)$", b"\\", "", "n");
    check("^A$", b"\\u0", "", "041");
    check("^[^\"]$", b"\\u", "", "0061");
    check("", b"\\u", "", "0061");
}

#[test]
fn restricted_alphabets_decide_liveness() {
    let limits = Limits::default();
    let ascii: ByteSet = (0x20..0x7F).collect();
    let escaped = Arc::new(Alphabet::new(ascii, false));
    let minimal = Arc::new(Alphabet::new(ascii, true));
    let no_b =
        Arc::new(Alphabet::new(ascii.iter().filter(|b| !b"b\\".contains(b)).collect(), true));
    for (pattern, max) in [("^é$", None), ("^é$", Some(1)), ("^[éß]{1,2}$", Some(1))] {
        let compile = |alphabet| {
            Language::compile(&[factor(pattern)], &[], 0, max, alphabet, &limits).unwrap()
        };
        let language = compile(&escaped);
        assert!(!language.is_empty());
        let end = language.shortest(&escaped, language.start(), TextState::START, 0).unwrap();
        assert!([&b"\\u00e9"[..], b"\\u00df"].contains(&&end[..]));
        let language = compile(&minimal);
        assert!(language.is_empty());
        // A long token may still step there.
        let state = language.step_char(language.start(), 'é').unwrap().unwrap();
        assert!(language.accepts(state) && language.live(state, 1));
        let half = after(&language, &[0xC3]).unwrap();
        assert!(!language.live(half, 1));
    }
    for max in [None, Some(5)] {
        let compile = |pattern: &str| {
            Language::compile(&[factor(pattern)], &[], 0, max, &no_b, &limits).unwrap()
        };
        assert!(compile("b").is_empty() && compile("^a+b").is_empty());
        assert!(compile("\\n").is_empty() && !compile("a|b").is_empty());
        let language = compile("^b?a$");
        assert!(language.live(after(&language, b"b").unwrap(), 1));
        assert_eq!(
            language.shortest(&full(), language.start(), TextState::START, 0).unwrap(),
            b"a"
        );
    }
}

#[test]
fn large_patterns_stay_cheap() {
    let language1 = language(&["^[ab]*a[ab]{24}$"], 0, None);
    let mut seed = 0x9E37_79B9_7F4A_7C15u64;
    let text: String = std::iter::repeat_with(|| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        if seed >> 40 & 1 == 0 { 'a' } else { 'b' }
    })
    .take(1000)
    .collect();
    let mut state = language1.start();
    for c in text.chars() {
        state = language1.step_char(state, c).unwrap().unwrap();
    }
    assert!(language1.live(state, 1000));
    let end = language1.shortest(&full(), state, TextState::START, 1000).unwrap();
    assert!(language1.matches(&format!("{text}{}", content(&end))));
    let limits = Limits { lazy_states: 100, ..Limits::default() };
    let small =
        Language::compile(&[factor("^[ab]*a[ab]{24}$")], &[], 0, None, &full(), &limits).unwrap();
    let walk =
        text.bytes().try_fold(small.start(), |s, b| small.step_byte(s, b).map(|s| s.unwrap()));
    assert_eq!(walk, Err(Full));
    assert_eq!(small.matches(&text), language1.matches(&text));
    let product = Language::compile(&[factor("^[ab]*a[ab]{24}$")], &[], 30, None, &full(), &limits);
    assert_eq!(product.unwrap_err().name, "language_states");
}

#[test]
fn large_bounds_beside_lengths() {
    let dots = language(&["^.{1,1000}$"], 10, Some(900));
    assert!(!dots.is_empty());
    let state = after(&dots, "é".repeat(899).as_bytes()).unwrap();
    let half = dots.step_byte(state, 0xC3).unwrap().unwrap();
    assert!(dots.live(half, 900) && !dots.live(half, 901));
    assert!(dots.live_char(state, 899, &[(0, 0xD7FF), (0xE000, 0x10FFFF)]));
    assert!(!dots.live_char(state, 900, &[(0, 0xD7FF), (0xE000, 0x10FFFF)]));
    let limits = Limits::default();
    let widest = factor("^.{1,4900}$");
    assert!(Language::compile(&[widest], &[], 3, Some(4000), &full(), &limits).is_ok());
    for pattern in ["^(?:[ab]?){9000}$", "^(?:a?|b){5000}c"] {
        let result = Language::compile(&[factor(pattern)], &[], 3, Some(4000), &full(), &limits);
        assert_eq!(result.map(|_| ()), Err(LanguageLimit::STATES), "{pattern}");
    }
}

#[test]
fn products_intersect() {
    let both = language(&["^a", "b$"], 0, None);
    assert!(both.matches("ab") && both.matches("a😀b") && !both.matches("ba"));
    assert!(language(&["^a$", "^b$"], 0, None).is_empty());
    assert!(language(&["^a+$", "^(?:aa)*$", "^(?:aaa)*$"], 1, Some(5)).is_empty());
    assert!(!language(&["^a+$", "^(?:aa)*$", "^(?:aaa)*$"], 1, Some(6)).is_empty());
    let free = language(&[], 0, None);
    assert!(free.matches("") && free.matches("é"));
}

/// Small patterns over `a`, `b` and `é`.
fn pattern() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("a".to_owned()),
        Just("b".to_owned()),
        Just("é".to_owned()),
        Just("[ab]".to_owned()),
        Just("^".to_owned()),
        Just("$".to_owned()),
        Just(String::new()),
    ];
    leaf.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..3).prop_map(|v| v.concat()),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|v| format!("(?:{})", v.join("|"))),
            (inner, prop_oneof![Just("*"), Just("+"), Just("?"), Just("{2}"), Just("{1,2}?")])
                .prop_map(|(p, q)| format!("(?:{p}){q}")),
        ]
    })
}

#[test]
fn languages_are_shared_between_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    let language = language(&["^[ab]*a[ab]{6}$"], 0, None);
    shared(&language);
    let texts = strings(&['a', 'b'], 9);
    let oracle = oracle("^[ab]*a[ab]{6}$");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| texts.iter().for_each(|t| assert_eq!(language.matches(t), oracle(t))));
        }
    });
}

#[test]
fn searches_never_die_where_a_match_may_begin_anywhere() {
    for pattern in ["a", "^a|b$", "x{2,3}$", "(?:)", "[^x]"] {
        let language = language(&[pattern], 0, None);
        assert!(language.never_dies(language.start()), "{pattern}");
        let after = after(&language, b"zz").unwrap();
        assert!(language.never_dies(after) && language.live(after, 2), "{pattern}");
    }
    for pattern in ["^a", "^(a|b)$", "^a|^b", "(^a)b", "a^b|^b"] {
        let language = language(&[pattern], 0, None);
        assert!(!language.never_dies(language.start()), "{pattern}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn random_products(p in pattern(), q in pattern(), min in 0u64..4, extra in 0u64..4) {
        let (one, two) = (oracle(&p), oracle(&q));
        let max = min + extra;
        let language = language(&[&p, &q], min, Some(max));
        let all = strings(&['a', 'b', 'é', 'x'], 6);
        let members: Vec<&String> = all
            .iter()
            .filter(|t| (min..=max).contains(&(t.chars().count() as u64)) && one(t) && two(t))
            .collect();
        for text in strings(&['a', 'b', 'é', 'x'], 3) {
            let count = text.chars().count() as u64;
            let live = members.iter().any(|m| m.starts_with(&text));
            let state = after(&language, text.as_bytes());
            prop_assert_eq!(state.is_some_and(|s| language.live(s, count)), live, "{} {}", p, text);
            if let (true, Some(state)) = (live, state) {
                let end = language.shortest(&full(), state, TextState::START, count).unwrap();
                let best = members.iter().filter_map(|m| m.strip_prefix(&text)).map(str::len).min();
                prop_assert_eq!(Some(end.len()), best);
                let whole = format!("{text}{}", content(&end));
                prop_assert!(language.matches(&whole));
                let next = members.iter().any(|m| m.strip_prefix(&text).is_some_and(|r| r.starts_with('é')));
                prop_assert_eq!(language.live_char(state, count, &[(0xE9, 0xE9)]), next);
                let half = language.step_byte(state, 0xC3).unwrap();
                prop_assert!(!next || half.is_some_and(|h| language.live(h, count + 1)));
            }
        }
    }

    #[test]
    fn random_patterns_are_lazy_and_exact(p in pattern()) {
        let (lazy, oracle) = (language(&[&p], 0, None), oracle(&p));
        for text in strings(&['a', 'b', 'é', 'x'], 4) {
            prop_assert_eq!(lazy.matches(&text), oracle(&text), "{} {:?}", p, text);
        }
    }

    #[test]
    fn no_text_panics(text in "[-\\\\(){}\\[\\]^$|?*+.,:=!<>0-9a-zA-Zé😀]{0,24}") {
        let limits = Limits { pattern_bytes: 1 << 16, ..Limits::default() };
        if let Ok(factor) = Factor::pattern(&text, &limits) {
            let compiled = Language::compile(&[factor], &[], 0, Some(8), &full(), &limits);
            if let Ok(language) = compiled && !language.is_empty() {
                let end = language.shortest(&full(), language.start(), TextState::START, 0).unwrap();
                prop_assert!(language.matches(&content(&end)), "{}", text);
            }
        }
    }
}

/// One pattern with a longest length is not explored; its answers are those of the product.
#[test]
fn longest_lengths_without_a_product() {
    for pattern in [
        "a",
        "^a",
        "b$",
        "^(ab)*$",
        "^[é-ü]{2}x?",
        "(?:aé|b)$",
        "^$",
        "",
        "^a{3,}$",
        "\\bb\\b",
        "x*é",
    ] {
        for max in 0..5 {
            let one = language(&[pattern], 0, Some(max));
            assert!(matches!(one.mode, automaton::Mode::Lazy(_)) || one.is_empty(), "{pattern}");
            let dfas = automaton::stepped([factor(pattern)].into_iter(), &Limits::default());
            let range = product::Range { min: 0, max: Some(max) };
            let product = product::Product::new(&dfas.unwrap(), 1, range, &full(), 5_000).unwrap();
            let two = Language::eager(product);
            let mut texts = vec![String::new()];
            for from in 0.. {
                let Some(text) = texts.get(from).filter(|t| t.chars().count() < 5) else { break };
                let longer = ["a", "b", "é"].map(|c| format!("{text}{c}"));
                texts.extend(longer);
            }
            assert_eq!(one.is_empty(), two.is_empty(), "{pattern} {max}");
            for text in &texts {
                assert_eq!(one.matches(text), two.matches(text), "{pattern} {max} {text}");
                let states = (after(&one, text.as_bytes()), after(&two, text.as_bytes()));
                let count = text.chars().count() as u64;
                let live = |of: &Language, state: Option<LangState>| {
                    state.is_some_and(|state| of.live(state, count))
                };
                assert_eq!(live(&one, states.0), live(&two, states.1), "{pattern} {max} {text}");
                let (Some(state), Some(beside)) = states else { continue };
                for ranges in [&[(0, 0xD7FF), (0xE000, 0x10_FFFF)][..], &[(0xE0, 0xEF)]] {
                    let lives = one.live_char(state, count, ranges);
                    assert_eq!(lives, two.live_char(beside, count, ranges), "{pattern} {text}");
                }
                if one.live(state, count) {
                    let end = one.shortest(&full(), state, TextState::START, count).unwrap();
                    let other = two.shortest(&full(), beside, TextState::START, count).unwrap();
                    assert_eq!(end.len(), other.len(), "{pattern} {max} {text}");
                    let ended = format!("{text}{}", content(&end));
                    assert!(one.matches(&ended), "{pattern} {max} {ended}");
                }
            }
        }
    }
}

#[test]
fn classes_of_partitions_are_those_of_their_bytes() {
    let tens: [u8; 256] = std::array::from_fn(|byte| byte as u8 / 10);
    let thirds: [u8; 256] = std::array::from_fn(|byte| u8::from(byte % 3 == 0));
    let (classes, count) = factor::common_classes([&tens, &thirds].into_iter());
    let keys = |byte: u8| {
        let byte = usize::from(byte);
        [tens[byte], thirds[byte]].into_iter().collect()
    };
    assert_eq!((classes, count), factor::joint_classes(keys));
    assert_eq!((count, classes[0], classes[1], classes[3]), (52, 0, 1, 0));
    assert_eq!(factor::common_classes(std::iter::empty()), ([0; 256], 1));
}
