//! Patterns that are read, refused, read leniently, or too large.

use super::*;
use crate::language::{Alphabet, Factor, Language};
use crate::options::Limits;
use std::sync::Arc;

fn matches(pattern: &str, text: &str) -> bool {
    let limits = Limits::default();
    let factor = Factor::pattern(pattern, &limits).unwrap_or_else(|e| panic!("{pattern}: {e}"));
    let alphabet = Arc::new(Alphabet::full(false));
    Language::compile(&[factor], &[], 0, None, &alphabet, &limits).unwrap().matches(text)
}

#[test]
fn what_matches() {
    let cases: [(&str, &[&str], &[&str]); 34] = [
        (r"^\d+$", &["0", "123"], &["", "٣", "1a"]),
        (r"^\w$", &["a", "_", "9"], &["é", "-"]),
        (r"^\W$", &["é", "-", "\n"], &["a"]),
        (r"^\s$", &["\u{FEFF}", "\u{A0}", "\u{2028}", "\u{3000}", "\t"], &["\u{200B}", "\u{85}"]),
        (r"^\S$", &["\u{85}", "a"], &["\u{FEFF}", " "]),
        (r"^.$", &["a", "😀", "\u{85}"], &["\n", "\r", "\u{2028}", "\u{2029}", ""]),
        (r"^[^]$", &["\n", "a"], &["", "aa"]),
        (r"^\t\n\v\f\r\0$", &["\t\n\u{B}\u{C}\r\0"], &["t"]),
        (r"^\x41\u0042\u{43}\u{000044}$", &["ABCD"], &["x41"]),
        (r"^\uD83D\uDE00[\uD83D\uDE00-\u{1F602}]$", &["😀😁"], &["😀😃"]),
        (r"^\cA\cz$", &["\u{1}\u{1A}"], &[]),
        (r"^[\b\-\]\cA]+$", &["\u{8}-]\u{1}"], &["b"]),
        (r"^[\w-.]+$", &["a-.", "-"], &["/"]),
        (r"^[a-\d]+$", &["a-1"], &["b"]),
        (r"^[\d-a]+$", &["a-1"], &["b"]),
        (r"^[-a]+$", &["-a"], &["b"]),
        (r"^[a-]+$", &["-a"], &["b"]),
        (r"^\-\_\/\@\#\é$", &["-_/@#é"], &[]),
        (r"^a{,3}$", &["a{,3}"], &["aa"]),
        (r"^a{2}$", &["aa"], &["a", "aaa"]),
        (r"^a{2,}$", &["aa", "aaaa"], &["a"]),
        (r"^a{0}b$", &["b"], &["ab"]),
        (r"^{a}$", &["{a}"], &["a"]),
        (r"^x{1,2,3}{$", &["x{1,2,3}{"], &[]),
        (r"^]}$", &["]}"], &[]),
        (r"^(?<year>\d{4})-(\d\d)$", &["2024-01"], &["24-01"]),
        (r"^a+?b*?c??$", &["a", "aabbc"], &["b"]),
        (r"^\p{Lu}\p{L}$", &["Éa"], &["aa"]),
        (r"^\P{L}$", &["1"], &["a"]),
        (r"^\p{Script=Greek}\p{sc=Cyrillic}\p{scx=Latn}$", &["αяa"], &["aяa"]),
        (r"^\p{General_Category=Decimal_Number}[\p{Nd}x]\p{gc=Nd}$", &["1٣2", "1x2"], &["1a2"]),
        (r"^\p{Emoji}\p{ASCII}\p{Any}$", &["😀a\n"], &["aéa"]),
        (r"^[\uD800-\uDFFF]?$", &[""], &["a", "\u{FFFD}"]),
        (r"^[^\uD800]\P{Cs}$", &["aa", "😀é"], &["a"]),
    ];
    for (pattern, yes, no) in cases {
        yes.iter().for_each(|text| assert!(matches(pattern, text), "{pattern} {text:?}"));
        no.iter().for_each(|text| assert!(!matches(pattern, text), "{pattern} {text:?}"));
    }
}

#[test]
fn what_is_no_pattern() {
    let cases = [
        ("(", 0),
        (")", 0),
        ("a(b", 1),
        ("[a", 0),
        ("*a", 0),
        ("a**", 2),
        ("a{2}{3}", 4),
        ("^*", 1),
        ("a|*", 2),
        ("(?a)", 0),
        ("(?<1>a)", 0),
        ("(?<a", 0),
        ("[b-a]", 1),
        ("a{3,2}", 1),
        ("\\", 1),
        ("{2}", 0),
        ("(?=a)(", 5),
        ("(?P<a>b)", 0),
    ];
    for (pattern, at) in cases {
        match parse(pattern) {
            Err(PatternError::Invalid { offset, .. }) => assert_eq!(offset, at, "{pattern}"),
            other => panic!("{pattern}: {other:?}"),
        }
    }
}

#[test]
fn nesting_and_size_are_bounded() {
    let nested =
        |open: &str, close: &str, n: usize| format!("^{}a{}$", open.repeat(n), close.repeat(n));
    assert!(matches(&nested("(", ")", 50_000), "a"));
    let limit = PatternError::Limit { name: "pattern_bytes" };
    let limited = |text: &str| {
        let error = Factor::pattern(text, &Limits::default()).map(|_| ()).unwrap_err();
        assert_eq!(error, limit, "{:.40}", text);
    };
    limited(&nested("(b", ")*", 50_000));
    limited(&nested("(?:", ")*", 50_000));
    limited(&nested("(b|", ")", 50_000));
    limited(&nested("(?=", ")", 50_000));
    limited(&nested("(?!b|", ")", 50_000));
    limited(&nested("(?<=", ")", 17));
    assert!(matches(&nested("(?=", ")", 16), "") || !matches("^(?=a$)a$", ""));
    assert!(matches(&nested("(?:", ")*", 62), "aaa"));
    limited("(?:(?:a{1000}){1000}){1000}");
    limited("a{99999999999}");
    limited("(?:(?:(?:a|){1000}){1000}){1000}");
    limited("(?:a{1,1000}){1,1000}");
    limited("^.{60000}$");
    limited(&"\\p{L}".repeat(100_000));
    limited(&format!("[{}]", "\\p{L}".repeat(9000)));
    limited(&"(".repeat(2_000_000));
    limited(&format!("({})", "\\1".repeat(2000)));
    assert!(matches("^(?:){60000}(?:(?:)*)*$", ""));
    assert!(matches("^a{60000}$", &"a".repeat(60_000)));
    assert!(matches("^(?:(?=a)){65535}a$", "a") && !matches("(?:(?=a)){65535}", "b"));
    assert!(matches("^(?:(?=a)){0,65535}b$", "b"));
}

#[test]
fn what_references_match() {
    let cases: [(&str, &[&str], &[&str]); 23] = [
        (r"^(?:(a?)b)*\1$", &["aba", "b", "ababa"], &["ba"]),
        (r"^(a|b)\1$", &["aa", "bb"], &["ab", "a"]),
        (r"^(a)?b\1$", &["aba", "b"], &["ab", "ba"]),
        (r"^(?:(a)|b)*\1$", &["b", "ab", "aa", "baa"], &["a", "aba"]),
        (r"^(?:(a|b)x)+\1$", &["axa", "axbxb"], &["axbxa", "ax"]),
        (r"^(?:\1(a))+$", &["aa"], &["b"]),
        (r"^(a\1)$", &["a"], &["aa"]),
        (r"^\1(a)$", &["a"], &["aa"]),
        (r"(?<=\1(a))$", &["aa"], &["a", "b"]),
        (r"(?<=(a)\1)$", &["a"], &["b"]),
        (r"^((a|b)c)\2\1$", &["acaac", "bcbbc"], &["acabc", "acbac"]),
        (r"^(?:((a|b)c)\1)\2$", &["acaca", "bcbcb"], &["acbca", "acacb"]),
        (r"^(?i:(a)\1)$", &["aA", "Aa"], &["ab"]),
        (r"^(a)(?i:\1)$", &["aA", "aa"], &["Aa"]),
        (r"^(?<x>a|b)\k<x>$", &["aa"], &["ab"]),
        (r"^(?:(?<x>a)|(?<x>b))\k<x>$", &["aa", "bb"], &["ab", "a"]),
        (r"^(a|b)(?=\1)", &["aa"], &["ab"]),
        (r"^(a|b)(?!\1)", &["ab", "a"], &["aa"]),
        (r"^(?!(a))\1b", &["b"], &["ab"]),
        (r"^(a|b)(c\1)\2$", &["acaca"], &["acacb"]),
        (r"^((a|b)\2|c)+\2$", &["aaa", "aabbb", "aac", "c"], &["aab"]),
        (r"^(\w)\1$", &["__", "aa"], &["ab"]),
        (r"^(?:(?:(😀)|b)c){2}\1$", &["bc😀c😀", "😀cbc"], &["😀cbc😀"]),
    ];
    for (pattern, yes, no) in cases {
        assert!(parse(pattern).unwrap().is_exact, "{pattern}");
        yes.iter().for_each(|text| assert!(matches(pattern, text), "{pattern} {text:?}"));
        no.iter().for_each(|text| assert!(!matches(pattern, text), "{pattern} {text:?}"));
    }
    // A superset, and no more than what the group can be.
    let cases: [(&str, &[&str], &[&str]); 5] = [
        (r"^(a+)\1$", &["a", "aa", "aaa"], &["ab", "b"]),
        (r"^(?:(a?)b?)*\1$", &["ba", "aba", "b"], &["c"]),
        (r"^(?=(a|ab))\1", &["ab", "aa"], &["b"]),
        (r"^(a+)(?!\1)$", &["a", "aa"], &["b"]),
        (r"^\p{CWKCF}$", &["A"], &["", "aa"]),
    ];
    for (pattern, yes, no) in cases {
        assert!(!parse(pattern).unwrap().is_exact, "{pattern}");
        yes.iter().for_each(|text| assert!(matches(pattern, text), "{pattern} {text:?}"));
        no.iter().for_each(|text| assert!(!matches(pattern, text), "{pattern} {text:?}"));
    }
}

#[test]
fn references_do_not_explode() {
    // ((((a|b)\4)\3)\2)…, each twice as long as the one inside it.
    let levels = 60;
    let mut doubling = format!("{}a|b", "(".repeat(levels));
    (1..levels).rev().for_each(|level| doubling += &format!(")\\{}", level + 1));
    // (a|b)(c|d)…\1\2…: all combinations.
    let groups: String = (0..20).map(|_| "(a|b)").collect();
    let references: String = (1..=20).map(|index| format!("\\{index}")).collect();
    let many = format!("(a|b){}", "\\1x".repeat(1000));
    let nested = format!("{}a{}", "(".repeat(50_000), ")".repeat(50_000));
    let cases = [
        (format!("^{doubling})$"), Some(false)),
        (format!("^{groups}{references}$"), Some(false)),
        (many, Some(true)),
        (format!("^{nested}\\1$"), Some(true)),
        (format!("^{nested}{}$", "\\1".repeat(900)), Some(true)),
        (r"^(?:(a|b)\1){1000}$".to_owned(), Some(true)),
    ];
    for (pattern, is_exact) in cases {
        let start = std::time::Instant::now();
        let read = parse(&pattern);
        assert!(start.elapsed().as_secs() < 5, "{:.40}: {:?}", pattern, start.elapsed());
        assert_eq!(read.ok().map(|read| read.is_exact), is_exact, "{pattern:.40}");
    }
}

#[test]
fn what_is_read_leniently() {
    let cases: [(&str, &[&str], &[&str]); 20] = [
        (r"(?i)^é$", &["é", "É"], &["e"]),
        (r"^(?i)(?s)a.$", &["A\n"], &["a"]),
        (r"(?im)^a$", &["b\nA"], &["ba"]),
        (r"^\A\Z\e$", &["AZe"], &[""]),
        (r"^\-\_\/$", &["-_/"], &[]),
        (r"^\1\01\8$", &["\u{1}\u{1}8"], &[]),
        (r"^(a)\10$", &["a\u{8}"], &["aa0"]),
        (r"^[\1\c1\c]$", &["\u{1}", "\u{11}", "\\", "c"], &["1"]),
        (r"^\k<a>$", &["k<a>"], &[]),
        (r"^\c$", &["\\c"], &["c"]),
        (r"^\u{3}\x4$", &["\u{3}x4"], &[]),
        (r"^\u{g}\u12$", &["u{g}u12"], &[]),
        (r"^\p{Nonsense}\pL$", &["p{Nonsense}pL"], &[]),
        (r"^(?=a)*b(?!c){2}$", &["b"], &["bc"]),
        (r"^a{,3}]}{$", &["a{,3}]}{"], &[]),
        (r"^[\w-a]$", &["-", "z"], &["+"]),
        (r"^\p{Greek}$", &["p{Greek}"], &["α"]),
        (r"^\😀$", &["😀"], &[]),
        (r"^\400$", &[" 0"], &[]),
        (r"^\u{110000}$", &[], &["u{110000}"]),
    ];
    for (pattern, yes, no) in cases {
        let told = parse(pattern).unwrap().lenient;
        assert!(told.is_some() || pattern == r"^\u{3}$", "{pattern}");
        yes.iter().for_each(|text| assert!(matches(pattern, text), "{pattern} {text:?}"));
        no.iter().for_each(|text| assert!(!matches(pattern, text), "{pattern} {text:?}"));
    }
    for pattern in
        [r"^\/\$[\-]\cA\0\u{41}\b$", r"(?<é>a)\k<é>\1", r"(?i:a)(?=b)(?<!c)", r"[^]\p{Lu}"]
    {
        assert_eq!(parse(pattern).unwrap().lenient, None, "{pattern}");
    }
    let told = parse(r"\A.\-.\B.\_.]").unwrap().lenient.unwrap();
    assert_eq!(
        &*told,
        r"`\A` at byte 0 is the letter itself, `\-` at byte 3 needs no backslash, `\_` at byte 9 needs no backslash, and so on"
    );
}

#[test]
fn names_and_modifiers() {
    let invalid = |pattern: &str| {
        let error = parse(pattern).unwrap_err();
        assert!(matches!(error, PatternError::Invalid { .. }), "{pattern}: {error}");
    };
    for pattern in [
        "(?<a>x)(?<a>y)",
        "(?<a>(?<a>x))",
        "(?<a>x)|(?<a>y)(?<a>z)",
        "(?<a>b)\\k<c>",
        "(?<a>b)\\k",
        "(?<1>a)",
        "(?<a",
        "(?<>a)",
        "(?<a-b>c)",
        "(?-:a)",
        "(?ii:a)",
        "(?i-i:a)",
        "(?x:a)",
        "(?i",
        "a(?i)",
        "(?<=a)*",
        "\\b+",
        "(?P<a>b)",
        "(?>a)",
        "(?#a)",
    ] {
        invalid(pattern);
    }
    for pattern in
        ["(?<a>x)|(?<a>y)", "(?:(?<a>x)|(?<a>y))z|(?<a>w)", "(?<π\\u{61}>x)\\k<πa>", "(?i-:a)"]
    {
        assert!(parse(pattern).is_ok(), "{pattern}");
    }
    let cases: [(&str, &[&str], &[&str]); 7] = [
        ("^(?i:[^x]\\w\\W)$", &["aK-", "ak-", "aſ "], &["Xk-", "akK"]),
        ("^(?i:\\u{212a}ss)$", &["kSſ"], &["kß"]),
        ("^(?s:.)(?-s:.)$", &["\na"], &["a\n"]),
        ("^(?i:a(?-i:b))$", &["Ab"], &["AB"]),
        ("(?m:^b$)", &["a\nb", "b\u{2028}"], &["ab"]),
        ("^(?i:\\P{Lu})(?i:[^\\P{Lu}])$", &["1"], &["A1"]),
        ("^(?i:\\bſ)", &["ſ"], &["-"]),
    ];
    for (pattern, yes, no) in cases {
        if !pattern.contains("P{Lu}") {
            yes.iter().for_each(|text| assert!(matches(pattern, text), "{pattern} {text:?}"));
        }
        no.iter().for_each(|text| assert!(!matches(pattern, text), "{pattern} {text:?}"));
    }
}
