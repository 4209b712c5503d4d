//! Schemas that several benches run: those of `grammars/`, and large ones that are written here.

#![allow(dead_code, reason = "each target that includes this module uses its own part of it")]

use std::fmt::Write;
use std::path::PathBuf;

/// A schema, with documents that it accepts.
pub struct Example {
    pub name: String,
    pub schema: String,
    pub valid: Vec<String>,
}

/// The schemas of `grammars/`, by name.
pub fn grammars() -> Vec<Example> {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from);
    let read = |path: PathBuf| std::fs::read_to_string(path).ok();
    let package = package.ancestors().find(|folder| folder.join("grammars").is_dir());
    let folder = package.expect("the package is there").join("grammars");
    let mut all: Vec<Example> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let valid = read(entry.path().join("valid.jsonl"))?;
            Some(Example {
                name: entry.file_name().to_string_lossy().into_owned(),
                schema: read(entry.path().join("schema.json"))?,
                valid: valid.lines().map(str::to_owned).collect(),
            })
        })
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// A choice between `count` tools, told apart by their names.
pub fn tools(count: usize) -> String {
    let tool = |n: usize| {
        format!(
            r#"{{"type": "object", "properties": {{
                "name": {{"const": "tool_{n}"}},
                "arguments": {{"type": "object", "properties": {{
                    "path_{n}": {{"type": "string", "description": "where tool {n} looks"}},
                    "limit": {{"type": "integer"}},
                    "mode": {{"enum": ["fast", "exact", "dry_run"]}},
                    "tags": {{"type": "array", "items": {{"type": "string"}}, "maxItems": 8}}}},
                  "required": ["path_{n}"], "additionalProperties": false}}}},
              "required": ["name", "arguments"], "additionalProperties": false}}"#
        )
    };
    format!(r#"{{"anyOf": [{}]}}"#, joined(count, tool))
}

/// A choice between `count` tools whose arguments come before the name that tells them apart, and
/// may have names that nobody declared.
pub fn open_tools(count: usize) -> String {
    let tool = |n: usize| {
        format!(
            r#"{{"type": "object", "properties": {{
                "arguments": {{"type": "object", "properties": {{
                    "path_{n}": {{"type": "string"}}, "limit": {{"type": "integer"}}}}}},
                "name": {{"const": "tool_{n}"}}}},
              "required": ["arguments", "name"]}}"#
        )
    };
    format!(r#"{{"anyOf": [{}]}}"#, joined(count, tool))
}

/// An object with `count` declared properties.
pub fn properties(count: usize) -> String {
    let property = |n| format!(r#""property_{n}": {{"type": "string", "maxLength": {n}}}"#);
    format!(r#"{{"type": "object", "properties": {{{}}}}}"#, joined(count, property))
}

/// `count` different strings, as members of a list.
pub fn words(count: usize) -> String {
    joined(count, |n| format!("\"{:x} word {n}\"", n * 2_654_435_761 % 65_521))
}

/// `part(0)` to `part(count - 1)` with commas between.
pub fn joined(count: usize, part: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for n in 0..count {
        let comma = if n == 0 { "" } else { ", " };
        let _ = write!(text, "{comma}{}", part(n));
    }
    text
}
