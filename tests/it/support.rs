//! What the tests share: vocabularies, policies, the grammars of this package, chance.

use crate::generator::Random;
use crate::oracle::{OracleMargin, OraclePolicy, OracleWhitespace};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, OnceLock};
use tokenmask::{
    Engine, Escapes, Formats, Grammar, Margin, Mask, Matcher, Numbers, Objects, Options, Order,
    SurfacePolicy, Vocabulary, Whitespace,
};

/// Whether the numbers of the long mode apply (`TOKENMASK_LONG=1`).
pub fn is_long() -> bool {
    std::env::var("TOKENMASK_LONG").is_ok_and(|value| value == "1")
}

/// `short`, or `long` in the long mode.
pub fn amount(short: usize, long: usize) -> usize {
    if is_long() { long } else { short }
}

/// A vocabulary by name, loaded once: `bytes`, `fused`, or a built-in one.
pub fn vocabulary(name: &str) -> Vocabulary {
    static LOADED: OnceLock<Mutex<BTreeMap<String, Vocabulary>>> = OnceLock::new();
    let mut loaded = LOADED.get_or_init(Mutex::default).lock().unwrap();
    let load = || match name {
        "bytes" => Vocabulary::bytes(),
        "fused" => fused(),
        _ => Vocabulary::builtin(name).unwrap(),
    };
    loaded.entry(name.into()).or_insert_with(load).clone()
}

/// Every byte, and tokens that are hard on a mask: over the borders of JSON's tokens, of
/// characters and of escapes; duplicates, a hole, a special token, two end tokens.
fn fused() -> Vocabulary {
    let texts: [&[u8]; 62] = [
        b"\":\"",
        b"\",\"",
        b"\"},{\"",
        b":1,\"a\":",
        b"\\u0",
        b"\\u00",
        b"\\u0061",
        b"\\ud8",
        b"\\ud83d",
        b"\\ud83d\\ude00",
        b"\\ude00",
        b"\\\\",
        b"\\\"",
        b"\\n\\t",
        b"\xC3",
        b"\xA9",
        b"\xC3\xA9",
        b"\xF0\x9F",
        b"\x98\x80",
        b"\x80\"",
        b"\xED\xA0",
        b"\xE2\x82\xAC\"",
        b"{\"",
        b"{\"a\":",
        b"{}",
        b"[]",
        b"[[",
        b"]]",
        b"}}",
        b"],[",
        b"],\"",
        b"]}",
        b"\"]",
        b"\"}",
        b"[{\"",
        b"\":{\"",
        b"\":[",
        b"\",\"a\":\"",
        b"1,",
        b",1",
        b"0.5",
        b"00",
        b"-0",
        b"-1",
        b"e+",
        b"1e3",
        b"12345678",
        b"true",
        b"true,",
        b"false}",
        b"null]",
        b"  ",
        b"    ",
        b"\n  ",
        b",\n",
        b" \"",
        b"\": ",
        b"\", \"",
        b"ab",
        b"abc",
        b"aab\"",
        b"ab",
    ];
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    tokens.extend(texts.map(<[u8]>::to_vec));
    // A second `a`, a hole, a special token whose bytes are text, and the ends.
    tokens.extend([b"a".to_vec(), Vec::new(), b"{".to_vec(), b"<end>".to_vec(), Vec::new()]);
    let last = tokens.len() as u32 - 1;
    Vocabulary::from_parts(tokens, &[last - 1, last], &[last - 2]).unwrap()
}

/// The tokens that are text, sorted by their bytes.
pub fn text_tokens(vocabulary: &Vocabulary) -> Vec<(Vec<u8>, u32)> {
    let mut tokens: Vec<(Vec<u8>, u32)> = (0..vocabulary.len() as u32)
        .filter(|&id| !vocabulary.is_special(id))
        .filter_map(|id| Some((vocabulary.token_bytes(id)?.to_vec(), id)))
        .filter(|(bytes, _)| !bytes.is_empty())
        .collect();
    tokens.sort();
    tokens
}

/// What the oracle's policy is called here.
pub fn options(policy: OraclePolicy) -> Options {
    let whitespace = match policy.whitespace {
        OracleWhitespace::Flexible => Whitespace::Flexible,
        OracleWhitespace::Compact => Whitespace::Compact,
        OracleWhitespace::Spaced => Whitespace::Spaced,
        OracleWhitespace::Bounded(n) => Whitespace::Bounded(n),
    };
    let margin = match policy.margin {
        OracleMargin::None => Margin::None,
        OracleMargin::Lead => Margin::Lead,
        OracleMargin::Both => Margin::Both,
    };
    let surface = SurfacePolicy {
        whitespace,
        margin,
        order: if policy.declared_order { Order::Declared } else { Order::Any },
        objects: if policy.closed { Objects::Closed } else { Objects::Open },
        numbers: if policy.any_numbers { Numbers::Any } else { Numbers::Plain },
        escapes: if policy.minimal_escapes { Escapes::Minimal } else { Escapes::All },
    };
    let formats = if policy.formats { Formats::Enforce } else { Formats::Annotate };
    Options { policy: surface, formats, ..Options::default() }
}

/// An engine under default options.
pub fn engine(schema: &str, vocabulary: &Vocabulary) -> Engine {
    let grammar = Grammar::compile(schema, &Options::default());
    grammar.unwrap_or_else(|error| panic!("{error}: {schema}")).bind(vocabulary).unwrap()
}

/// The mask of a matcher.
pub fn mask(matcher: &Matcher) -> Mask {
    let mut mask = matcher.engine().new_mask();
    matcher.fill_mask(&mut mask).unwrap();
    mask
}

/// A schema of `grammars/`.
pub struct Example {
    pub name: String,
    pub schema: String,
    folder: std::path::PathBuf,
}

impl Example {
    /// The documents of one of its files, one a line; none where there is no such file.
    pub fn documents(&self, file: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.join(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

/// Every schema of `grammars/`.
pub fn examples() -> Vec<Example> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("grammars");
    let mut all: Vec<Example> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|folder| folder.join("schema.json").exists())
        .map(|folder| Example {
            name: folder.file_name().unwrap().to_string_lossy().into_owned(),
            schema: std::fs::read_to_string(folder.join("schema.json")).unwrap(),
            folder,
        })
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(all.len() >= 8, "{} grammars", all.len());
    all
}

/// One of the allowed tokens, evenly.
pub fn any_allowed(mask: &Mask, random: &mut Random) -> u32 {
    let all: Vec<u32> = mask.iter().collect();
    all[random.below(all.len())]
}

/// Bytes of which most documents are made.
const LIKELY: &[u8] = b"\"\\ab:,{}[]01.-tfn";

/// One of the allowed tokens: of so many that are drawn the first that has only the bytes `wanted`.
pub fn likely(
    mask: &Mask,
    vocabulary: &Vocabulary,
    (draws, wanted): (usize, &[u8]),
    random: &mut Random,
) -> u32 {
    let is_wanted = |token: u32| {
        let bytes = vocabulary.token_bytes(token).unwrap_or_default();
        bytes.iter().all(|byte| wanted.contains(byte))
    };
    let drawn: Vec<u32> = (0..draws).map(|_| any_allowed(mask, random)).collect();
    drawn.iter().copied().find(|&token| is_wanted(token)).unwrap_or(drawn[0])
}

/// Steps by likely tokens; at each state every `share`th of `ids` is in the mask exactly where it is
/// accepted. How many states there were.
pub fn assert_masks_are_what_trying_gives(
    engine: &Engine,
    (ids, share): (&[u32], usize),
    steps: usize,
    liking: (usize, &[u8]),
    random: &mut Random,
    schema: &serde_json::Value,
) -> usize {
    let (mut matcher, mut written) = (engine.matcher(), Vec::new());
    for seen in 1..=steps {
        let mask = mask(&matcher);
        for &id in ids.iter().skip(random.below(share)).step_by(share) {
            let tried = matcher.validate(&[id]) == 1;
            let shown = String::from_utf8_lossy(&written);
            assert_eq!(mask.allows(id), tried, "token {id} after {shown}: {schema}");
        }
        let token = likely(&mask, engine.vocabulary(), liking, random);
        if engine.vocabulary().is_end(token) {
            return seen;
        }
        written.extend_from_slice(engine.vocabulary().token_bytes(token).unwrap());
        matcher.accept(token).unwrap();
    }
    steps
}

/// The text of a random walk of so many tokens, with a liking for likely ones, and its shortest
/// completion.
///
/// # Errors
/// An empty mask, an allowed token that is refused, a completion that is none.
pub fn walk(engine: &Engine, random: &mut Random, length: usize) -> Result<Vec<u8>, String> {
    let (mut matcher, mut written) = (engine.matcher(), Vec::new());
    let at = |written: &[u8]| String::from_utf8_lossy(written).into_owned();
    for _ in 0..length {
        let allowed: Vec<u32> = mask(&matcher).iter().collect();
        if allowed.is_empty() {
            return Err(format!("an empty mask after {}", at(&written)));
        }
        let bytes = |token: u32| engine.vocabulary().token_bytes(token).unwrap_or_default();
        let drawn: Vec<u32> = (0..4).map(|_| allowed[random.below(allowed.len())]).collect();
        let likely = drawn.iter().find(|&&id| bytes(id).iter().all(|byte| LIKELY.contains(byte)));
        let token = *likely.unwrap_or(&drawn[0]);
        matcher.accept(token).map_err(|error| format!("{error} after {}", at(&written)))?;
        if matcher.is_terminated() {
            return Ok(written);
        }
        written.extend_from_slice(bytes(token));
    }
    let rest = matcher.shortest_completion();
    let rest = rest.map_err(|error| format!("{error} after {}", at(&written)))?;
    let ends = matcher.accept_bytes(&rest).is_ok() && matcher.is_accepting();
    written.extend(rest);
    if ends { Ok(written) } else { Err(format!("the completion does not end: {}", at(&written))) }
}
