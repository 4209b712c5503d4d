//! The shape of the source tree: who imports whom, who does I/O, how long files get.

use std::fs;
use std::path::{Path, PathBuf};

/// A top-level module and those that it may import, beside itself and [`SHARED`].
const EDGES: [(&str, &[&str]); 15] = [
    ("base", &[]),
    ("error", &[]),
    ("options", &[]),
    ("schema", &[]),
    ("language", &[]),
    ("values", &["schema", "language"]),
    ("automaton", &["values", "language"]),
    ("vocab", &["language"]),
    ("mask", &["automaton", "vocab"]),
    ("matcher", &["mask", "automaton", "vocab"]),
    ("report", &["schema", "values"]),
    ("check", &["report", "schema", "language", "values"]),
    ("redact", &["schema", "values", "report", "check"]),
    ("vendor", &["schema", "values", "report"]),
    ("sample", &["matcher", "mask", "vocab"]),
];
/// What every module may import.
const SHARED: [&str; 3] = ["base", "error", "options"];
/// They see every stage.
const SEE_ALL: [&str; 2] = ["lib", "compile"];
/// They stand on the public API: no path of theirs goes through `crate`, but to `cli` itself.
const OUTSIDE: [&str; 2] = ["cli", "main"];

/// Parts of `std` that touch the world.
const WORLD: [&str; 5] = ["env", "fs", "net", "process", "time"];
const PRINTING: [&str; 5] = ["println!", "eprintln!", "print!", "eprint!", "dbg!"];
/// The only places that may touch it.
const WORLDLY: [&str; 3] = ["cli/", "vocab/load", "main.rs"];

/// Code lines of one file, without tests, comments and blank lines.
const LONGEST_FILE: usize = 500;

/// One file under `src`.
struct Source {
    /// The path below `src`, with `/`.
    path: String,
    /// The code without comments, literals and what `#[cfg(test)]` hides at the end.
    code: String,
}

impl Source {
    /// The top-level module that the file belongs to.
    fn module(&self) -> &str {
        let first = self.path.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }
}

#[test]
fn imports_follow_the_table() {
    let mut wrong = Vec::new();
    for source in sources() {
        for target in roots_after(&source.code, "crate::") {
            if !may_import(source.module(), &target) {
                wrong.push(format!("src/{} imports `crate::{target}`", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "edges outside the table:\n{}", wrong.join("\n"));
}

#[test]
fn only_the_edges_touch_the_world() {
    let mut wrong = Vec::new();
    for source in sources() {
        if WORLDLY.iter().any(|place| source.path.starts_with(place)) {
            continue;
        }
        for root in roots_after(&source.code, "std::") {
            if WORLD.contains(&root.as_str()) {
                wrong.push(format!("src/{} uses `std::{root}`", source.path));
            }
        }
        for printing in PRINTING {
            if has_word(&source.code, printing) {
                wrong.push(format!("src/{} calls `{printing}`", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "input, output or a clock:\n{}", wrong.join("\n"));
}

#[test]
fn files_stay_readable() {
    let mut long = Vec::new();
    for source in sources() {
        let lines = source.code.lines().filter(|line| !line.trim().is_empty()).count();
        if lines > LONGEST_FILE {
            long.push(format!("src/{}: {lines} code lines", source.path));
        }
    }
    assert!(long.is_empty(), "longer than {LONGEST_FILE}:\n{}", long.join("\n"));
}

#[test]
fn the_reader_of_sources_is_right() {
    let code = code_of(
        "use crate::{a::{B, c}, d as e};\n// crate::no\nlet x = \"crate::no\";\n#[cfg(test)]\nmod tests { use crate::no; }\n",
    );
    assert_eq!(roots_after(&code, "crate::"), ["a", "d"]);
    let code = code_of(
        "let q = '\"'; f(crate::g::h); let s = r#\"\" crate::no\"#; // std::fs\n/* std::fs */",
    );
    assert_eq!(roots_after(&code, "crate::"), ["g"]);
    assert!(roots_after(&code, "std::").is_empty());
    let code = code_of("fn f<'a>(x: &'a str) { crate::k(x) }");
    assert_eq!(roots_after(&code, "crate::"), ["k"]);
    assert!(may_import("values", "schema") && may_import("values", "error"));
    assert!(!may_import("schema", "values") && !may_import("cli", "base"));
    assert!(!may_import("nowhere", "schema"), "a new module needs a row");
}

fn may_import(module: &str, target: &str) -> bool {
    if OUTSIDE.contains(&module) {
        return target == "cli";
    }
    if SEE_ALL.contains(&module) || module == target || SHARED.contains(&target) {
        return true;
    }
    EDGES.iter().any(|(from, to)| *from == module && to.contains(&target))
}

/// Every file under `src`, in order.
fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.clone()];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && path.file_name().is_some_and(|name| name != "tests.rs")
            {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(files.len() > 20, "the sources were not found");
    files
        .into_iter()
        .map(|file| {
            let below = file.strip_prefix(&root).expect("a file under src");
            let path = below.to_string_lossy().replace('\\', "/");
            Source { path, code: code_of(&fs::read_to_string(&file).expect("UTF-8 text")) }
        })
        .collect()
}

/// The text up to its tests, without comments and the contents of literals.
fn code_of(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
    let mut code = String::new();
    let mut rest = &text[..end];
    while let Some(first) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else {
            literal_length(rest, code.chars().next_back())
        };
        if skipped > 0 {
            rest = &rest[skipped..];
        } else {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    code
}

/// The length of the string or character literal that `rest` begins with; 0 where it does not.
fn literal_length(rest: &str, before: Option<char>) -> usize {
    let in_word = before.is_some_and(|before| before.is_alphanumeric() || before == '_');
    if let Some(raw) = rest.strip_prefix('r').filter(|_| !in_word || before == Some('b')) {
        let hashes = raw.bytes().take_while(|&byte| byte == b'#').count();
        if raw[hashes..].starts_with('"') {
            let close = format!("\"{}", "#".repeat(hashes));
            let body = 1 + hashes + 1;
            return rest[body..].find(&close).map_or(rest.len(), |at| body + at + close.len());
        }
    }
    match rest.chars().next() {
        Some('"') => quoted_length(rest, '"'),
        // A lifetime has no closing quote after one character.
        Some('\'') if rest.starts_with("'\\") || rest.chars().nth(2) == Some('\'') => {
            quoted_length(rest, '\'')
        }
        _ => 0,
    }
}

fn quoted_length(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            character if character == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The first names after each `prefix`, those of a group `prefix{a::b, c}` too.
fn roots_after(code: &str, prefix: &str) -> Vec<String> {
    let mut roots = Vec::new();
    for (at, _) in code.match_indices(prefix) {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|before| before.is_alphanumeric() || "_:$".contains(before)) {
            continue;
        }
        let rest = &code[at + prefix.len()..];
        match rest.strip_prefix('{') {
            None => roots.push(name(rest)),
            Some(group) => roots.extend(names_of_group(group)),
        }
    }
    roots
}

/// The first name of each path in a group whose brace has been read.
fn names_of_group(group: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut depth = 0;
    let mut begins = true;
    for (at, character) in group.char_indices() {
        match character {
            '}' if depth == 0 => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => begins = true,
            character if begins && !character.is_whitespace() => {
                names.push(name(&group[at..]));
                begins = false;
            }
            _ => {}
        }
    }
    names
}

fn name(text: &str) -> String {
    text.chars().take_while(|&character| character.is_alphanumeric() || character == '_').collect()
}

fn has_word(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        !before.is_some_and(|before| before.is_alphanumeric() || before == '_')
    })
}
