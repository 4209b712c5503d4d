//! Other engines of ECMAScript: `regress`, and `node` where it is installed.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

/// What `regress` says of a pattern.
pub struct Judge {
    regex: regress::Regex,
    /// Whether the `u` flag allows it.
    pub is_strict: bool,
}

impl Judge {
    /// Reads a pattern with the `u` flag, or else without it; the message of the latter.
    pub fn new(pattern: &str) -> Result<Judge, String> {
        if let Ok(regex) = regress::Regex::with_flags(pattern, "u") {
            return Ok(Judge { regex, is_strict: true });
        }
        let regex = regress::Regex::new(pattern).map_err(|error| error.to_string())?;
        Ok(Judge { regex, is_strict: false })
    }

    pub fn finds(&self, text: &str) -> bool {
        self.regex.find(text).is_some()
    }
}

/// A pattern, whether the `u` flag is set, and what the masks took.
pub struct Question {
    pub pattern: String,
    pub is_strict: bool,
    /// Whether the masks hold the pattern exactly.
    pub is_exact: bool,
    pub verdicts: Vec<(String, bool)>,
}

/// Reads one question a line; answers with the verdicts, or null for a pattern that it refuses.
/// Each place is tried by itself: the search of V8 looks into surrogate pairs (`\B` in `_😀c`),
/// where the standard has it go by code points.
const SCRIPT: &str = r#"
const lines = require("readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const [pattern, flags, texts] = JSON.parse(line);
  let answer = null;
  try {
    const regex = new RegExp(pattern, flags + "y");
    const finds = (text) => {
      for (let at = 0; at <= text.length; at += text.codePointAt(at) > 0xffff && flags ? 2 : 1) {
        regex.lastIndex = at;
        if (regex.test(text)) return true;
      }
      return false;
    };
    answer = texts.map(finds);
  } catch {}
  console.log(JSON.stringify(answer));
});
"#;

/// The verdicts of `node`; `None` for a pattern that it refuses. Nothing at all where it is not
/// installed.
pub fn node(questions: &[Question]) -> Option<Vec<Option<Vec<bool>>>> {
    let child = Command::new("node")
        .args(["-e", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("skipped: patterns against node: it is not installed");
        return None;
    };
    let lines: Vec<Value> = questions
        .iter()
        .map(|one| {
            let texts: Vec<&str> = one.verdicts.iter().map(|(text, _)| text.as_str()).collect();
            json!([one.pattern, if one.is_strict { "u" } else { "" }, texts])
        })
        .collect();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        for line in lines {
            writeln!(input, "{line}").unwrap();
        }
    });
    let output = BufReader::new(child.stdout.take().unwrap());
    let answers =
        output.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    writer.join().unwrap();
    assert!(child.wait().unwrap().success());
    Some(answers)
}
