//! Numbers against exact arithmetic of the test's own: bounds, multiples and values at all
//! magnitudes, in both number forms, byte by byte through masks.

use crate::generator::Random;
use num_bigint::BigInt;
use std::collections::BTreeSet;
use tokenmask::{Engine, Error, ErrorKind, Grammar, Numbers, Options, SurfacePolicy, Vocabulary};

/// An exact number: units · 10^exponent.
#[derive(Clone, Debug)]
struct Exact {
    units: BigInt,
    exponent: i64,
}

impl Exact {
    fn parse(text: &str) -> Exact {
        let (mantissa, power) = match text.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, power.parse().unwrap()),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let units = format!("{whole}{fraction}").parse().unwrap();
        Exact { units, exponent: power - fraction.len() as i64 }
    }

    /// Both in units of the smaller exponent.
    fn aligned(&self, other: &Exact) -> (BigInt, BigInt) {
        let least = self.exponent.min(other.exponent);
        let units = |of: &Exact| &of.units * BigInt::from(10).pow((of.exponent - least) as u32);
        (units(self), units(other))
    }

    fn is_integer(&self) -> bool {
        self.is_multiple_of(&Exact::parse("1"))
    }

    fn is_multiple_of(&self, other: &Exact) -> bool {
        let (a, b) = self.aligned(other);
        a % b == BigInt::ZERO
    }

    fn cmp(&self, other: &Exact) -> std::cmp::Ordering {
        let (a, b) = self.aligned(other);
        a.cmp(&b)
    }
}

/// Keywords of one schema, with their values as texts.
#[derive(Clone, Debug, Default)]
struct Rules {
    integer: bool,
    draft4: bool,
    bounds: Vec<(&'static str, String)>,
    multiples: Vec<String>,
    values: Vec<String>,
}

impl Rules {
    fn schema(&self) -> String {
        let mut all: Vec<String> = Vec::new();
        all.push(format!(r#"{{"type": "{}"}}"#, if self.integer { "integer" } else { "number" }));
        all.extend(self.bounds.iter().map(|(keyword, at)| match *keyword {
            "exclusiveMinimum" if self.draft4 => {
                format!(r#"{{"minimum": {at}, "exclusiveMinimum": true}}"#)
            }
            "exclusiveMaximum" if self.draft4 => {
                format!(r#"{{"exclusiveMaximum": true, "maximum": {at}}}"#)
            }
            _ => format!(r#"{{"{keyword}": {at}}}"#),
        }));
        all.extend(self.multiples.iter().map(|of| format!(r#"{{"multipleOf": {of}}}"#)));
        if !self.values.is_empty() {
            all.push(format!(r#"{{"enum": [{}]}}"#, self.values.join(", ")));
        }
        let dialect = if self.draft4 {
            r#""$schema": "http://json-schema.org/draft-04/schema#", "#
        } else {
            ""
        };
        format!(r#"{{{dialect}"allOf": [{}]}}"#, all.join(", "))
    }

    /// Whether a number's text is valid.
    fn allow(&self, text: &str) -> bool {
        let value = Exact::parse(text);
        let holds = |(keyword, at): &(&str, String)| {
            let order = value.cmp(&Exact::parse(at));
            match *keyword {
                "minimum" => order.is_ge(),
                "maximum" => order.is_le(),
                "exclusiveMinimum" => order.is_gt(),
                _ => order.is_lt(),
            }
        };
        let spelled = !self.draft4 || !text.contains(['.', 'e', 'E']);
        (!self.integer || value.is_integer() && spelled)
            && self.bounds.iter().all(holds)
            && self.multiples.iter().all(|of| value.is_multiple_of(&Exact::parse(of)))
            && (self.values.is_empty()
                || self.values.iter().any(|one| value.cmp(&Exact::parse(one)).is_eq()))
    }

    /// Whether a text is in the number form, `None` where that depends on what the form is lifted
    /// to by larger constants.
    fn in_form(&self, text: &str, numbers: Numbers) -> Option<bool> {
        let digits = text.trim_start_matches('-');
        let mantissa = digits.split(['e', 'E']).next().unwrap();
        let count = mantissa.bytes().filter(u8::is_ascii_digit).count();
        let bare = digits.bytes().all(|b| b.is_ascii_digit());
        if numbers == Numbers::Any {
            let power = digits.split(['e', 'E']).nth(1).unwrap_or("0");
            let power = power.trim_start_matches(['+', '-']);
            return Some(count <= 1024 && power.len() <= 4);
        }
        let free = self.bounds.is_empty() && self.multiples.is_empty() && self.values.is_empty();
        if digits.contains(['e', 'E']) && free && !self.integer {
            return None;
        }
        if digits.contains(['e', 'E']) || text == "-0" || self.integer && !bare {
            return Some(false);
        }
        (count <= if bare { 18 } else { 17 }).then_some(true)
    }
}

fn digits(random: &mut Random, most: usize) -> String {
    let len = 1 + random.below(most);
    (0..len).map(|_| char::from(b'0' + random.below(10) as u8)).collect()
}

/// A number that is not negative, without leading zeros.
fn constant(random: &mut Random) -> String {
    let whole = |random: &mut Random, most| {
        let text = digits(random, most);
        let text = text.trim_start_matches('0');
        if text.is_empty() { "0".to_owned() } else { text.to_owned() }
    };
    match random.below(12) {
        0 => "0".into(),
        1..=3 => whole(random, 2),
        4 => whole(random, 5),
        5..=6 => format!("{}.{}", whole(random, 2), digits(random, 3)),
        7 => whole(random, 24),
        8 => format!("{}.{}", whole(random, 3), digits(random, 22)),
        9 => format!("1{}", "0".repeat(random.below(21))),
        10 => format!("{}e{}", whole(random, 3), (random.below(41))),
        _ => format!("{}e-{}", whole(random, 3), (random.below(41))),
    }
}

fn signed(random: &mut Random) -> String {
    let sign = if random.below(3) == 0 { "-" } else { "" };
    format!("{sign}{}", constant(random))
}

fn rules(random: &mut Random) -> Rules {
    let mut rules =
        Rules { integer: random.below(3) == 0, draft4: random.below(6) == 0, ..Rules::default() };
    let keywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
    for _ in 0..random.below(4) {
        let mut at = signed(random);
        // Ends near each other are where things happen.
        if let Some((_, other)) = rules.bounds.first()
            && random.below(2) == 0
        {
            at = neighbour(random, other);
        }
        rules.bounds.push((keywords[random.below(4)], at));
    }
    if random.below(2) == 0 {
        let of = [
            "2", "3", "5", "7", "0.01", "0.1", "1e-8", "1000003", "1.5", "0.25", "12", "1e3",
            "1e20", "0.0075",
        ];
        for _ in 0..(1 + random.below(2)) {
            let some = match random.below(5) {
                0 => constant(random),
                _ => of[random.below(of.len())].into(),
            };
            if Exact::parse(&some).units != BigInt::ZERO {
                rules.multiples.push(some);
            }
        }
    }
    if random.below(8) == 0 {
        rules.values = (0..(1 + random.below(4))).map(|_| signed(random)).collect();
    }
    rules
}

/// The number in plain digits.
fn plain(number: &Exact) -> String {
    let sign = if number.units < BigInt::ZERO { "-" } else { "" };
    let mut digits = number.units.magnitude().to_string();
    if number.exponent >= 0 {
        if digits != "0" {
            digits.push_str(&"0".repeat(number.exponent as usize));
        }
        return format!("{sign}{digits}");
    }
    let places = number.exponent.unsigned_abs() as usize;
    let padded = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = padded.split_at(padded.len() - places);
    format!("{sign}{whole}.{fraction}")
}

/// A number a few units, of some place, from another.
fn neighbour(random: &mut Random, of: &str) -> String {
    let number = Exact::parse(of);
    let finer = random.below(3) as i64;
    let units = &number.units * BigInt::from(10).pow(finer as u32);
    let off = BigInt::from(random.below(7) as i64 - 3);
    plain(&Exact { units: units + off, exponent: number.exponent - finer })
}

/// A multiple near a number.
fn multiple(random: &mut Random, of: &str, near: &str) -> String {
    let (of, near) = (Exact::parse(of), Exact::parse(near));
    let (step, units) = of.aligned(&near);
    let count = units / &step + BigInt::from(random.below(5) as i64 - 2);
    plain(&Exact { units: count * step, exponent: of.exponent.min(near.exponent) })
}

/// Another spelling of a number.
fn respelled(random: &mut Random, text: &str) -> String {
    match random.below(6) {
        0 if text.contains('.') => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        1 if text.contains('.') => format!("{text}{}", "0".repeat(random.below(4))),
        2 if !text.contains('.') => format!("{text}.{}", "0".repeat(1 + random.below(3))),
        3 | 4 => {
            let number = Exact::parse(text);
            let shift = random.below(9) as i64 - 4;
            let exponent = number.exponent + shift;
            let e = ["e", "E"][random.below(2)];
            let plus = if shift <= 0 && random.below(2) == 0 { "+" } else { "" };
            let mantissa = plain(&Exact { units: number.units, exponent });
            format!("{mantissa}{e}{}{}", if -shift >= 0 { plus } else { "" }, -shift)
        }
        _ => text.to_owned(),
    }
}

fn text(random: &mut Random, rules: &Rules) -> String {
    let bounds = rules.bounds.iter().map(|(_, at)| at);
    let constants: Vec<&String> = bounds.chain(&rules.values).collect();
    let near = match constants.len() {
        0 => signed(random),
        n => constants[random.below(n)].clone(),
    };
    let text = match random.below(4) {
        0 if !rules.multiples.is_empty() => {
            let of = &rules.multiples[random.below(rules.multiples.len())];
            multiple(random, of, &near)
        }
        0 | 1 => neighbour(random, &near),
        2 => plain(&Exact::parse(&near)),
        _ => plain(&Exact::parse(&signed(random))),
    };
    respelled(random, &text)
}

fn engine(rules: &Rules, numbers: Numbers) -> Result<Engine, Error> {
    let policy = SurfacePolicy { numbers, ..SurfacePolicy::default() };
    let grammar = Grammar::compile(&rules.schema(), &Options { policy, ..Options::default() })?;
    let report = grammar.report();
    assert!(report.is_exact(), "{}", rules.schema());
    grammar.bind(&Vocabulary::bytes())
}

/// Feeds a text through masks: whether it is accepted. At each prefix the mask, the step and the
/// shortest completion agree, and the completion is valid by exact arithmetic.
fn feed(
    engine: &Engine,
    rules: &Rules,
    numbers: Numbers,
    text: &str,
    seen: &mut BTreeSet<String>,
) -> bool {
    let (mut matcher, mut mask) = (engine.matcher(), engine.new_mask());
    for (at, byte) in text.bytes().enumerate() {
        let prefix = &text[..at];
        matcher.fill_mask(&mut mask).unwrap();
        // Long numbers have many beginnings that are alike.
        if (at < 40 || at % 41 == 0) && seen.insert(prefix.to_owned()) {
            let end = matcher.shortest_completion().unwrap();
            let whole = format!("{prefix}{}", String::from_utf8(end).unwrap());
            let context = || format!("{} · {numbers:?} · {prefix:?} → {whole}", rules.schema());
            assert!(
                serde_json::from_str::<&serde_json::value::RawValue>(&whole).is_ok(),
                "{}",
                context()
            );
            assert!(rules.allow(&whole), "{}", context());
            assert_ne!(rules.in_form(&whole, numbers), Some(false), "{}", context());
            let mut rest = matcher.clone();
            rest.accept_bytes(&whole.as_bytes()[at..])
                .unwrap_or_else(|e| panic!("{} {e}", context()));
            assert!(rest.is_accepting(), "{}", context());
        }
        let allowed = mask.allows(u32::from(byte));
        assert_eq!(matcher.accept(u32::from(byte)).is_ok(), allowed, "{} {text}", rules.schema());
        if !allowed {
            return false;
        }
    }
    matcher.is_accepting()
}

/// One set of rules under one form, against some texts; how many verdicts were compared.
fn compare(random: &mut Random, rules: &Rules, numbers: Numbers, texts: usize) -> usize {
    let engine = match engine(rules, numbers) {
        Ok(engine) => Some(engine),
        Err(error) if error.kind() == ErrorKind::Unsatisfiable => None,
        Err(error) => panic!("{}: {error}", rules.schema()),
    };
    let mut seen = BTreeSet::new();
    for _ in 0..texts {
        let text = text(random, rules);
        let valid = rules.allow(&text);
        let accepted =
            engine.as_ref().is_some_and(|engine| feed(engine, rules, numbers, &text, &mut seen));
        let expected = match rules.in_form(&text, numbers) {
            Some(in_form) => in_form && valid,
            None => accepted && valid,
        };
        assert_eq!(accepted, expected, "{} · {numbers:?} · {text}", rules.schema());
    }
    texts
}

#[test]
fn masks_agree_with_exact_arithmetic() {
    let seed = std::env::var("TOKENMASK_SEED").ok().and_then(|text| text.parse().ok());
    let mut random = Random(seed.unwrap_or(17));
    let wanted =
        if std::env::var("TOKENMASK_LONG").is_ok_and(|v| v == "1") { 1_000_000 } else { 20_000 };
    let mut verdicts = 0;
    while verdicts < wanted {
        let rules = rules(&mut random);
        verdicts += compare(&mut random, &rules, Numbers::Plain, 20);
        verdicts += compare(&mut random, &rules, Numbers::Any, 5);
    }
}

#[test]
fn constants_themselves_are_spelled() {
    // Whatever its size, a closed end that all else allows has a plain text.
    for at in
        ["1e400", "1e-400", "123456789012345678901234567890", "0.1234567890123456789012345", "9e17"]
    {
        for (keyword, sign) in
            [("minimum", ""), ("maximum", ""), ("minimum", "-"), ("maximum", "-")]
        {
            let at = format!("{sign}{at}");
            for integer in [false, true] {
                let rules =
                    Rules { integer, bounds: vec![(keyword, at.clone())], ..Rules::default() };
                let text = plain(&Exact::parse(&at));
                let engine = engine(&rules, Numbers::Plain).unwrap();
                let accepted = feed(&engine, &rules, Numbers::Plain, &text, &mut BTreeSet::new());
                assert_eq!(accepted, !integer || Exact::parse(&at).is_integer(), "{keyword} {at}");
            }
        }
    }
}
