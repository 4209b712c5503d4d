//! Random patterns over everything that ECMA-262 has, and texts that they may match.

use crate::generator::Random;

/// Characters that patterns and texts share.
const CHARS: [&str; 16] =
    ["a", "b", "a", "b", "c", "A", "B", "1", "_", "-", " ", "\n", "é", "ſ", "😀", "\u{2028}"];

const CLASSES: [&str; 34] = [
    ".",
    ".",
    "\\d",
    "\\D",
    "\\w",
    "\\W",
    "\\s",
    "\\S",
    "[ab]",
    "[^a]",
    "[a-c]",
    "[^a-c1]",
    "[\\w-]",
    "[^\\s]",
    "[]",
    "[^]",
    "[\\d_]",
    "[é-ü😀]",
    "[^\\u{1F600}-\\u{1F64F}]",
    "\\p{L}",
    "\\P{Lu}",
    "\\p{Lu}",
    "\\p{Script=Latin}",
    "[\\p{Ll}\\d]",
    "[^\\p{Ll}]",
    "\\p{Emoji}",
    "[\\W]",
    "[^\\W]",
    "[\\b\\-]",
    "\\p{scx=Grek}",
    "[^\\P{L}]",
    "[\\ud83d\\ude00]",
    "\\p{White_Space}",
    "[A-Z]",
];

const ESCAPES: [(&str, &str); 12] = [
    ("\\x61", "a"),
    ("\\u0062", "b"),
    ("\\u{1F600}", "😀"),
    ("\\ud83d\\ude00", "😀"),
    ("\\u{e9}", "é"),
    ("\\n", "\n"),
    ("\\cJ", "\n"),
    ("\\0", "\0"),
    ("\\.", "."),
    ("\\/", "/"),
    ("\\$", "$"),
    ("\\u2028", "\u{2028}"),
];

/// What is legal without the `u` flag only.
const LENIENT: [(&str, &str); 14] = [
    ("\\-", "-"),
    ("\\_", "_"),
    ("\\é", "é"),
    ("\\a", "a"),
    ("\\Z", "Z"),
    ("\\141", "a"),
    ("\\8", "8"),
    ("{", "{"),
    ("}", "}"),
    ("]", "]"),
    ("\\c1", "\\c1"),
    ("\\x6", "x6"),
    ("[\\w-.]", "-"),
    ("a{,2}", "a{,2}"),
];

/// A pattern and a text that it may match.
pub struct Sample {
    pub pattern: String,
    pub text: String,
    /// Whether it may match no characters at all.
    is_nullable: bool,
    /// Whether it repeats what may match no characters: `regress` 0.12 runs without end on such
    /// loops inside others (`(?:(?:c?)?c){2}` on `cc`).
    pub is_tricky: bool,
}

impl Sample {
    fn new(pattern: &str, text: &str, is_nullable: bool) -> Sample {
        Sample { pattern: pattern.into(), text: text.into(), is_nullable, is_tricky: false }
    }
}

/// What a generated pattern may have.
pub struct Maker<'r> {
    random: &'r mut Random,
    /// Groups so far, and what each captured.
    groups: Vec<String>,
    is_lenient: bool,
}

impl<'r> Maker<'r> {
    /// A pattern; one in four is legal without the `u` flag only.
    pub fn pattern(random: &'r mut Random) -> Sample {
        let is_lenient = random.chance(20);
        let mut maker = Maker { random, groups: Vec::new(), is_lenient };
        let mut sample = maker.alternation(3);
        let random = maker.random;
        if random.chance(40) {
            sample.pattern.insert(0, '^');
            if random.chance(70) {
                sample.pattern.push('$');
            }
            // An alternative of its own would have neither.
        }
        sample
    }

    fn alternation(&mut self, depth: usize) -> Sample {
        let mut all = self.concat(depth);
        while self.random.chance(15) {
            let next = self.concat(depth);
            all.pattern = format!("{}|{}", all.pattern, next.pattern);
            all.is_nullable |= next.is_nullable;
            all.is_tricky |= next.is_tricky;
            if self.random.chance(50) {
                all.text = next.text;
            }
        }
        all
    }

    fn concat(&mut self, depth: usize) -> Sample {
        let mut all = Sample::new("", "", true);
        for _ in 0..self.random.below(4) {
            let one = self.item(depth);
            all.pattern += &one.pattern;
            all.text += &one.text;
            all.is_nullable &= one.is_nullable;
            all.is_tricky |= one.is_tricky;
        }
        all
    }

    fn item(&mut self, depth: usize) -> Sample {
        match self.random.below(if depth == 0 { 50 } else { 100 }) {
            0..20 => {
                let c = self.random.pick(&CHARS);
                let sample = Sample::new(c, c, false);
                self.repeated(sample)
            }
            20..32 => {
                let class = self.random.pick(&CLASSES);
                // Here `\p` is a property without the `u` flag, too.
                let class = if self.is_lenient && class.to_lowercase().contains("\\p") {
                    "."
                } else {
                    class
                };
                let sample = Sample::new(class, self.random.pick(&CHARS), false);
                self.repeated(sample)
            }
            32..36 => Sample::new(self.random.pick(&["^", "$", "\\b", "\\B", "\\b"]), "", true),
            36..40 => {
                let (pattern, text) = ESCAPES[self.random.below(ESCAPES.len())];
                Sample::new(pattern, text, false)
            }
            40..44 if self.is_lenient => {
                let (pattern, text) = LENIENT[self.random.below(LENIENT.len())];
                Sample::new(pattern, text, false)
            }
            40..46 if !self.groups.is_empty() => {
                let group = self.random.below(self.groups.len());
                let text = self.groups[group].clone();
                // No digit may follow.
                Sample::new(&format!("\\{}(?:)", group + 1), &text, true)
            }
            40..50 => Sample::new("", "", true),
            50..58 => {
                let inner = self.alternation(depth - 1);
                let kind =
                    self.random.pick(&["(?:", "(?:", "(?i:", "(?s:", "(?m:", "(?i-s:", "(?im:"]);
                let sample = Sample { pattern: format!("{kind}{})", inner.pattern), ..inner };
                self.repeated(sample)
            }
            58..76 => self.group(depth),
            76..92 => {
                let kind = self.random.pick(&["(?=", "(?!", "(?<=", "(?<!"]);
                let inner = self.alternation(depth - 1);
                let pattern = format!("{kind}{})", inner.pattern);
                Sample { is_tricky: inner.is_tricky, ..Sample::new(&pattern, "", true) }
            }
            _ => {
                let inner = self.alternation(depth - 1);
                let sample = Sample { pattern: format!("(?:{})", inner.pattern), ..inner };
                self.repeated(sample)
            }
        }
    }

    /// A capturing group, often of a finite language.
    fn group(&mut self, depth: usize) -> Sample {
        let place = self.groups.len();
        self.groups.push(String::new());
        let inner = if self.random.chance(60) {
            let pick =
                |random: &mut Random| random.pick(&["a", "b", "ab", "[ab]", "c?", "😀"]).to_owned();
            let (one, two) = (pick(self.random), pick(self.random));
            Sample::new(&format!("{one}|{two}"), "a", one == "c?" || two == "c?")
        } else {
            self.alternation(depth - 1)
        };
        self.groups[place] = inner.text.clone();
        let name = if self.random.chance(10) { format!("?<n{place}>") } else { String::new() };
        let sample = Sample { pattern: format!("({name}{})", inner.pattern), ..inner };
        self.repeated(sample)
    }

    fn repeated(&mut self, sample: Sample) -> Sample {
        if self.random.chance(65) {
            return sample;
        }
        let (quantifier, count) =
            [("*", 2), ("+", 1), ("?", 1), ("{2}", 2), ("{1,3}", 2), ("{2,}", 3), ("{0,1}", 0)]
                [self.random.below(7)];
        let lazy = if self.random.chance(20) { "?" } else { "" };
        Sample {
            pattern: format!("{}{quantifier}{lazy}", sample.pattern),
            text: sample.text.repeat(count),
            is_nullable: sample.is_nullable || ["*", "?", "{0,1}"].contains(&quantifier),
            is_tricky: sample.is_tricky || sample.is_nullable,
        }
    }
}

/// A text near `text`.
pub fn mutated(random: &mut Random, text: &str) -> String {
    let mut chars: Vec<String> = text.chars().map(String::from).collect();
    for _ in 0..random.below(4) {
        let place = random.below(chars.len() + 1);
        match random.below(4) {
            0 if place < chars.len() => {
                chars.remove(place);
            }
            1 if place < chars.len() => chars[place] = random.pick(&CHARS).to_owned(),
            2 if place < chars.len() => {
                let again = chars[place].clone();
                chars.insert(place, again);
            }
            _ => chars.insert(place, random.pick(&CHARS).to_owned()),
        }
    }
    chars.concat()
}

/// A text without regard to any pattern.
pub fn random_text(random: &mut Random) -> String {
    (0..random.below(6)).map(|_| random.pick(&CHARS)).collect()
}
