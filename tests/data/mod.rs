//! Where the shared yardsticks lie, and how they are read: the corpus, the official suite, the
//! reports of other engines' faults. They are no part of this package: whoever needs one asks here,
//! and says in one line what is skipped where it is absent.

#![allow(dead_code, reason = "each target that includes this module uses its own part of it")]

use serde::Deserialize;
use serde_json::value::RawValue;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The corpus in the data folder.
pub const CORPUS: &str = "maskbench-dev.jsonl.gz";

/// A file or folder of `TOKENMASK_DATA` (by default `../shared/data` beside the package). `None`
/// where it is absent, after one line that says what is skipped.
pub fn find(name: &str, skipped: &str) -> Option<PathBuf> {
    let folder = match std::env::var_os("TOKENMASK_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => package().join("../shared/data"),
    };
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {skipped}: there is no {name} in TOKENMASK_DATA");
    None
}

/// The root of the package. Cargo says where it is when the target runs, which may be elsewhere than
/// where it was compiled; packages inside (`benches/peers`) stand below it.
pub fn package() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from);
    let root = here.ancestors().find(|folder| folder.join("grammars").is_dir());
    root.unwrap_or(&here).to_path_buf()
}

/// One schema of a corpus with its instances.
#[derive(Deserialize)]
pub struct Record {
    pub id: String,
    #[serde(default)]
    pub family: String,
    /// The schema's text, as it stands in the file.
    pub schema: Box<RawValue>,
    #[serde(default)]
    pub tests: Vec<Instance>,
}

/// A text, and whether it is valid against its schema.
#[derive(Deserialize)]
pub struct Instance {
    pub text: String,
    pub valid: bool,
}

/// The records of a `.jsonl` or `.jsonl.gz` file, in its order.
///
/// # Errors
///
/// A file that cannot be read, or a line that is no record; the message names the line.
pub fn records(path: &Path) -> io::Result<Vec<Record>> {
    let file = BufReader::new(File::open(path)?);
    let is_packed = path.extension().is_some_and(|extension| extension == "gz");
    let text: Box<dyn Read> =
        if is_packed { Box::new(flate2::read::GzDecoder::new(file)) } else { Box::new(file) };
    let parse = |(index, line): (usize, io::Result<String>)| {
        serde_json::from_str(&line?).map_err(|error| {
            io::Error::new(io::ErrorKind::InvalidData, format!("line {}: {error}", index + 1))
        })
    };
    BufReader::new(text).lines().enumerate().map(parse).collect()
}
