//! The command line, run as a program: every verb, option and exit code.

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a run gave.
struct Run {
    code: Option<i32>,
    out: String,
    talk: String,
}

impl Run {
    fn of(output: Output) -> Run {
        Run {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).expect("UTF-8 on standard output"),
            talk: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Standard output as lines of JSON.
    fn json(&self) -> Vec<Value> {
        let value = |line| serde_json::from_str(line).expect("a line of JSON");
        self.out.lines().map(value).collect()
    }
}

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tokenmask"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(arguments: &[&str]) -> Run {
    Run::of(program(arguments).output().expect("the program runs"))
}

/// A run over single bytes, which loads at once.
fn run_bytes(arguments: &[&str]) -> Run {
    run(&[arguments, &["--vocab", "bytes"]].concat())
}

fn run_with_input(arguments: &[&str], input: &[u8]) -> Run {
    let mut child = program(arguments).stdin(Stdio::piped()).spawn().expect("the program runs");
    // A program that needs no input may have ended already.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    Run::of(child.wait_with_output().expect("the program ends"))
}

/// A file of the tests' own folder.
fn file(content: impl AsRef<[u8]>) -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(format!("cli-{}-{number}.json", std::process::id()));
    fs::write(&path, content).expect("a file can be written");
    path.to_str().expect("a UTF-8 path").to_owned()
}

const PAIR: &str = r#"{"type": "object", "properties": {"a": {"type": "integer"}},
    "required": ["a"], "additionalProperties": false}"#;

#[test]
fn accepts_says_where_and_at_which_token() {
    let schema = file(PAIR);
    let accept = |text: &str| {
        run_with_input(&["accepts", &schema, "--json", "--vocab", "bytes"], text.as_bytes())
    };
    let yes = accept("{\"a\": 12}");
    assert_eq!((yes.code, yes.out.as_str()), (Some(0), "{\"accepted\":true}\n"));
    let no = accept("{\"a\": x}");
    assert_eq!(no.code, Some(1));
    let verdict = &no.json()[0];
    assert_eq!(verdict["accepted"], false);
    assert_eq!((&verdict["offset"], &verdict["token"]), (&6.into(), &u32::from(b'x').into()));
    assert!(verdict["reason"].as_str().is_some_and(|reason| reason.contains("expected")));
    assert_eq!(verdict.as_object().map(|object| object.len()), Some(4));
    // Only the end is refused: the offset is the text's length, and there is no token.
    let short = accept("{\"a\": 1");
    assert_eq!(short.code, Some(1));
    assert_eq!((&short.json()[0]["offset"], &short.json()[0]["token"]), (&7.into(), &Value::Null));
    let empty = accept("");
    assert_eq!((&empty.json()[0]["offset"], &empty.json()[0]["token"]), (&0.into(), &Value::Null));
}

#[test]
fn accepts_names_the_token_that_holds_the_byte() {
    let schema = file(PAIR);
    let no = run_with_input(&["accepts", &schema, "--json"], b"{\"a\": 1, \"b\": 2}");
    let verdict = &no.json()[0];
    // After `a` nothing may come: the comma at byte 7 is the first byte that is wrong.
    assert_eq!((no.code, &verdict["offset"]), (Some(1), &7.into()));
    let vocabulary = tokenmask::Vocabulary::builtin("llama3").unwrap();
    let token = verdict["token"].as_u64().expect("a token") as u32;
    assert!(vocabulary.token_bytes(token).is_some_and(|bytes| bytes.contains(&b',')));
    let text = run_with_input(&["accepts", &schema], b"{\"a\": 1, \"b\": 2}");
    assert!(text.out.starts_with(&format!("refused at byte 7, token {token} \"")), "{}", text.out);
    assert!(text.out.contains("expected"), "{}", text.out);
}

#[test]
fn accepts_reads_lines() {
    let schema = file(PAIR);
    let texts = file("{\"a\":1}\r\n\n{\"a\":22}\n{\"b\"");
    let run = run_bytes(&["accepts", &schema, &texts, "--lines", "--json"]);
    assert_eq!(run.code, Some(1));
    let verdicts: Vec<(bool, Option<u64>)> =
        run.json().iter().map(|one| (one["accepted"] == true, one["offset"].as_u64())).collect();
    assert_eq!(verdicts, [(true, None), (false, Some(0)), (true, None), (false, Some(2))]);
    let run = run_bytes(&["accepts", &schema, &texts, "--lines"]);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!((lines.len(), lines[0]), (4, "line 1: accepted"));
    assert!(lines[1].starts_with("line 2: refused at byte 0: "), "{}", lines[1]);
    let good = file("{\"a\":1}\n{\"a\":2}\n");
    assert_eq!(run_bytes(&["accepts", &schema, &good, "--lines"]).code, Some(0));
}

#[test]
fn one_final_line_end_is_not_part_of_a_text() {
    let schema = file(PAIR);
    for (text, code) in [
        ("{\"a\":1}\n", 0),
        ("{\"a\":1}\r\n", 0),
        ("{\"a\":1}\n\n", 1),
        ("{\"a\":1}\r", 1),
        ("{\"a\":1} ", 1),
    ] {
        let path = file(text);
        assert_eq!(run_bytes(&["accepts", &schema, &path]).code, Some(code), "{text:?}");
        let arguments = ["accepts", &schema, "-", "--vocab", "bytes"];
        assert_eq!(run_with_input(&arguments, text.as_bytes()).code, Some(code), "{text:?}");
    }
}

#[test]
fn standard_input_is_schema_or_document() {
    let document = file("{\"a\": 1}");
    let run = run_with_input(&["accepts", "-", &document, "--vocab", "bytes"], PAIR.as_bytes());
    assert_eq!((run.code, run.out.as_str()), (Some(0), "accepted\n"));
    for arguments in [&["accepts", "-"][..], &["accepts", "-", "-", "--json"]] {
        let run = run_with_input(arguments, b"{}");
        assert_eq!(run.code, Some(2));
        assert!(run.talk.contains("standard input"), "{}", run.talk);
    }
    let run = run_with_input(&["explain", "-"], b"{\"type\": \"boolean\"}");
    assert_eq!(run.code, Some(0));
    assert!(run.out.contains("#/type"), "{}", run.out);
}

#[test]
fn texts_that_are_no_utf_8_are_refused_at_their_byte() {
    let schema = file("{\"type\": \"string\"}");
    for vocabulary in ["bytes", "llama3"] {
        let arguments = ["accepts", &schema, "--json", "--vocab", vocabulary];
        let run = run_with_input(&arguments, b"\"a\xff\"");
        assert_eq!((run.code, &run.json()[0]["offset"]), (Some(1), &2.into()), "{vocabulary}");
    }
    // A text that looks like a special token is text.
    let run = run_with_input(&["accepts", &schema], b"\"<|eot_id|>\"");
    assert_eq!((run.code, run.out.as_str()), (Some(0), "accepted\n"));
}

#[test]
fn documents_are_registered_by_uri() {
    let schema = file(r#"{"$ref": "urn:lib#/$defs/n"}"#);
    // The first `=` splits: the file's name may hold others.
    let library = file(r#"{"$defs": {"n": {"type": "null"}}}"#);
    let odd = format!("{library}=x");
    fs::copy(&library, &odd).unwrap();
    let document = format!("urn:lib={odd}");
    let run =
        run_with_input(&["accepts", &schema, "--vocab", "bytes", "--document", &document], b"null");
    assert_eq!((run.code, run.out.as_str()), (Some(0), "accepted\n"));
    let missing = run_bytes(&["accepts", &schema, "--json"]);
    assert_eq!(missing.code, Some(2));
    let error = &missing.json()[0]["error"];
    assert_eq!(
        (&error["kind"], &error["location"]),
        (&"unresolved-reference".into(), &"#/$ref".into())
    );
    let run = run_bytes(&["explain", &schema, "--document", "urn:lib"]);
    assert_eq!(run.code, Some(2));
    assert!(run.talk.contains("URI=FILE"), "{}", run.talk);
}

#[test]
fn mask_shows_what_may_come() {
    let schema = file(PAIR);
    let run = run_bytes(&[
        "mask",
        &schema,
        "--prefix",
        "{\"a\": 1",
        "--try",
        "}",
        "--try",
        ",",
        "--try",
        "2 }",
        "--json",
    ]);
    assert_eq!(run.code, Some(0));
    let mask = &run.json()[0];
    assert_eq!(mask["end"], false);
    assert_eq!(mask["try"], serde_json::json!([true, false, true]));
    let tokens: Vec<u8> = serde_json::from_value(mask["tokens"].clone()).unwrap();
    assert_eq!(tokens, b"\t\n\r 0123456789}");
    assert_eq!((&mask["forced"], &mask["forced_hex"]), (&"".into(), &"".into()));
    assert_eq!(mask.as_object().map(|object| object.len()), Some(5));
    let done = run_bytes(&["mask", &schema, "--prefix", "{\"a\": 1}", "--json"]);
    assert_eq!(
        (&done.json()[0]["end"], &done.json()[0]["tokens"]),
        (&true.into(), &serde_json::json!([256]))
    );
}

#[test]
fn mask_knows_forced_bytes_and_hexadecimal() {
    let schema = file(r#"{"enum": ["é€"]}"#);
    let run =
        run_bytes(&["mask", &schema, "--prefix", "hex:22c3", "--json", "--escapes", "minimal"]);
    let mask = &run.json()[0];
    assert_eq!(mask["forced_hex"], "a9e282ac22");
    assert_eq!(mask["forced"], "\u{fffd}€\"");
    assert_eq!(mask["tokens"], serde_json::json!([0xa9]));
    let schema = file(r#"{"enum": ["hex:22"]}"#);
    let arguments =
        ["mask", &schema, "--prefix", "\"", "--try", "text:hex:22", "--try", "hex:68", "--json"];
    assert_eq!(run_bytes(&arguments).json()[0]["try"], serde_json::json!([true, true]));
    let wrong = run_bytes(&["mask", &schema, "--prefix", "hex:2"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.talk.contains("hexadecimal"), "{}", wrong.talk);
    assert_eq!(run_bytes(&["mask", &schema, "--prefix", "", "--try", "hex:zz"]).code, Some(2));
}

#[test]
fn a_refused_prefix_is_a_no() {
    let schema = file(PAIR);
    let run = run_bytes(&["mask", &schema, "--prefix", "{\"b"]);
    assert_eq!(run.code, Some(1));
    assert!(run.talk.contains("refused at byte 2"), "{}", run.talk);
    assert_eq!(run_bytes(&["mask", &schema, "--prefix", "-1", "--json"]).code, Some(1));
    let readable = run_bytes(&["mask", &schema, "--prefix", "{\"a\": 1}", "--try", "x"]);
    assert_eq!(readable.code, Some(0));
    for part in ["tokens: 1\n", "end:    allowed\n", "forced: \"\"\n", "try:    \"x\" no\n"] {
        assert!(readable.out.contains(part), "{part:?} in {}", readable.out);
    }
    assert_eq!(run_bytes(&["mask", &schema]).code, Some(2), "a mask needs --prefix");
}

#[test]
fn explain_answers_by_exit_code() {
    let exact = file(r#"{"type": "boolean"}"#);
    let endless = file(r#"{"type": "string"}"#);
    let routed = file(r#"{"type": "string", "format": "hostname"}"#);
    let misspelled = file(r#"{"type": "boolean", "minlength": 1}"#);
    for (schema, code, strict) in
        [(&exact, 0, 0), (&endless, 0, 1), (&routed, 1, 1), (&misspelled, 0, 1)]
    {
        assert_eq!(run(&["explain", schema]).code, Some(code), "{schema}");
        assert_eq!(run(&["explain", schema, "--strict"]).code, Some(strict), "{schema}");
    }
    let report = run(&["explain", &routed, "--json"]);
    assert_eq!(report.code, Some(1));
    let report: Value = serde_json::from_str(&report.out).expect("the report is JSON");
    assert_eq!(report["version"], 1);
    let routes: Vec<&str> = report["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["route"].as_str().unwrap())
        .collect();
    assert_eq!(routes, ["mask", "mask+check"]);
    let table = run(&["explain", &misspelled]).out;
    assert!(table.contains("unknown-keyword") && table.contains("`minLength`"), "{table}");
}

#[test]
fn errors_are_objects_where_json_was_asked_for() {
    let wrong = file(r#"{"properties": {"a": {"type": "strnig"}}}"#);
    for verb in ["accepts", "explain"] {
        let run = run_with_input(&[verb, &wrong, "--json"], b"");
        assert_eq!(run.code, Some(2));
        let error = &run.json()[0]["error"];
        assert_eq!(error["kind"], "invalid-schema");
        assert_eq!(error["location"], "#/properties/a/type");
        assert!(error["message"].as_str().unwrap().contains("strnig"));
        assert!(run.talk.contains("#/properties/a/type"), "{}", run.talk);
        let run = run_with_input(&[verb, &wrong], b"");
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
    }
    let mask = run(&["mask", &wrong, "--prefix", "", "--json"]);
    assert_eq!((mask.code, &mask.json()[0]["error"]["kind"]), (Some(2), &"invalid-schema".into()));
}

#[test]
fn wrong_settings_are_refused() {
    let schema = file("true");
    assert_eq!(run(&["explain", &schema, "--numbers", "any"]).code, Some(0));
    for wrong in [
        &["--order", "sorted"][..],
        &["--whitespace", "wide"],
        &["--whitespace", "-1"],
        &["--whitespace", "65536"],
        &["--margin", "right"],
        &["--escapes", "none"],
        &["--objects", "ajar"],
        &["--formats", "all"],
        &["--dialect", "3"],
        &["--bogus"],
        &["extra"],
    ] {
        let run = run(&[&["explain", &schema], wrong].concat());
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{wrong:?}");
        assert!(run.talk.contains("error: "), "{wrong:?}: {}", run.talk);
    }
    assert_eq!(run(&[]).code, Some(2));
    assert_eq!(run(&["compile"]).code, Some(2));
    let help = run(&["--help"]);
    assert_eq!(help.code, Some(0));
    assert!(help.out.contains("generate") && help.talk.is_empty());
    assert_eq!(run(&["--version"]).out, format!("tokenmask {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn every_setting_reaches_the_masks() {
    let schema = file(r#"{"type": "object", "properties": {"a": {}, "b": {}}}"#);
    // Setting, a text that it allows and another one does not, and that other one.
    for (setting, text, other) in [
        (["--order", "any"], r#"{"b": 1, "a": 1}"#, ["--order", "declared"]),
        (["--whitespace", "flexible"], r#"{ "a": 1}"#, ["--whitespace", "spaced"]),
        (["--whitespace", "spaced"], r#"{"a": 1}"#, ["--whitespace", "compact"]),
        (["--whitespace", "compact"], r#"{"a":1}"#, ["--whitespace", "spaced"]),
        (["--whitespace", "2"], r#"{"a":  1}"#, ["--whitespace", "1"]),
        (["--margin", "lead"], r#" {}"#, ["--margin", "none"]),
        (["--margin", "both"], r#" {} "#, ["--margin", "lead"]),
        (["--numbers", "plain"], r#"{"a": 1}"#, ["--whitespace", "compact"]),
        (["--escapes", "all"], r#"{"a": "\/"}"#, ["--escapes", "minimal"]),
        (["--objects", "open"], r#"{"c": 1}"#, ["--objects", "closed"]),
    ] {
        let accepts = |setting: [&str; 2]| {
            let arguments = [&["accepts", &schema, "--vocab", "bytes"], &setting[..]].concat();
            run_with_input(&arguments, text.as_bytes()).code
        };
        assert_eq!(accepts(setting), Some(0), "{setting:?} {text}");
        assert_eq!(accepts(other), Some(1), "{other:?} {text}");
    }
    let dated = file(r#"{"format": "date"}"#);
    let constant = file(r#"{"const": 1}"#);
    for (arguments, text, code) in [
        (["accepts", &dated, "--formats", "enforce"], "\"x\"", 1),
        (["accepts", &dated, "--formats", "standard"], "\"x\"", 1),
        (["accepts", &dated, "--formats", "annotate"], "\"x\"", 0),
        (["accepts", &constant, "--dialect", "4"], "2", 0),
        (["accepts", &constant, "--dialect", "6"], "2", 1),
        (["accepts", &constant, "--dialect", "7"], "2", 1),
        (["accepts", &constant, "--dialect", "2019-09"], "2", 1),
        (["accepts", &constant, "--dialect", "2020-12"], "2", 1),
    ] {
        let run =
            run_with_input(&[&arguments[..], &["--vocab", "bytes"]].concat(), text.as_bytes());
        assert_eq!(run.code, Some(code), "{arguments:?}");
    }
}

#[test]
fn files_that_cannot_be_read_are_errors() {
    let missing = "no/such/file.json";
    let schema = file("true");
    let binary = file(b"{\"a\": \xff}");
    let folder = env!("CARGO_TARGET_TMPDIR");
    for (arguments, location) in [
        (["accepts", missing, &schema, "--json"], missing),
        (["accepts", &schema, missing, "--json"], missing),
        (["accepts", &schema, folder, "--json"], folder),
        (["explain", &binary, "--json", "--strict"], &*binary),
    ] {
        let run = run_bytes(&arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}");
        let error = &run.json()[0]["error"];
        assert_eq!((&error["kind"], &error["location"]), (&"input".into(), &location.into()));
    }
    let talk = run_bytes(&["explain", &binary]).talk;
    assert!(talk.contains("not UTF-8 at byte 6"), "{talk}");
    let run = run(&["explain", &schema, "--vocab", missing]);
    assert_eq!(run.code, Some(0), "explain needs no vocabulary");
}

#[test]
fn generate_follows_its_seed() {
    let documents =
        |seed: &str| run(&["generate", "grammars/refund/schema.json", "-n", "3", "--seed", seed]);
    let first = documents("7");
    assert_eq!((first.code, first.out.lines().count()), (Some(0), 3));
    assert!(first.json().iter().all(|document| document["order_id"].as_str().is_some()));
    assert_eq!(documents("7").out, first.out);
    assert_ne!(documents("8").out, first.out);
    for part in ["3 documents, ", " tokens, ", "p50 ", "p99 ", "3 valid"] {
        assert!(first.talk.contains(part), "{part:?} in {}", first.talk);
    }
    let none = run_bytes(&["generate", "grammars/tree/schema.json", "-n", "0"]);
    assert_eq!((none.code, none.out.as_str()), (Some(0), ""));
}

#[test]
fn generate_counts_what_only_a_check_finds_apart() {
    let schema = file(
        r#"{"type": "array", "prefixItems": [{"const": 1}, {"const": 2}], "minItems": 2, "maxItems": 2,
            "not": {"uniqueItems": true}}"#,
    );
    let run = run_bytes(&["generate", &schema, "-n", "4"]);
    assert_eq!((run.code, run.out.lines().count()), (Some(0), 4));
    assert!(
        run.talk.contains("0 valid, 4 break only keywords that are checked afterwards"),
        "{}",
        run.talk
    );
}

#[test]
fn generate_stays_below_its_most_tokens() {
    let schema = file(r#"{"type": "array", "items": {"const": 1}, "minItems": 5}"#);
    let run = run_bytes(&["generate", &schema, "--max-tokens", "10"]);
    assert_eq!(run.code, Some(2));
    // `[1,1,1,1,1]` and the end token.
    assert!(run.talk.contains("12 tokens") && run.talk.contains("10"), "{}", run.talk);
    let run = run_bytes(&["generate", &schema, "--max-tokens", "12"]);
    assert_eq!(run.code, Some(0), "{}", run.talk);
    assert!(run.out.lines().all(|line| line.len() <= 12), "{}", run.out);
}

#[test]
fn wild_documents_stay_on_their_lines() {
    let run = run(&["generate", "grammars/tree/schema.json", "-n", "20", "--wild"]);
    assert_eq!((run.code, run.out.lines().count()), (Some(0), 20), "{}", run.talk);
    assert_eq!(run.json().len(), 20, "each line is one JSON text");
    assert!(!run.out.contains('\r'));
    // Whitespace is drawn often: some of it were line breaks.
    assert!(run.out.contains("  "), "{}", run.out);
    assert!(run.talk.contains("20 valid"), "{}", run.talk);
    let help = self::run(&["generate", "--help"]).out;
    assert!(help.contains("printed as a space"), "{help}");
    // They are texts that the masks accept.
    let again = file(&run.out);
    let checked = self::run(&["accepts", "grammars/tree/schema.json", &again, "--lines"]);
    assert_eq!(checked.code, Some(0), "{}", checked.out);
}

#[test]
fn vocab_describes_every_vocabulary() {
    let figures = |spec: &str| {
        let run = run(&["vocab", spec, "--json"]);
        assert_eq!(run.code, Some(0), "{spec}: {}", run.talk);
        let figures = run.json().remove(0);
        for key in ["size", "width", "special", "end", "partial_character_tokens"] {
            assert!(figures.get(key).is_some_and(|value| !value.is_null()), "{spec}: {key}");
        }
        for key in ["duplicate_byte_strings", "load_ms"] {
            assert!(figures.get(key).is_some_and(Value::is_number), "{spec}: {key}");
        }
        (
            figures["size"].as_u64().unwrap(),
            figures["width"].as_u64().unwrap(),
            figures["end"].clone(),
        )
    };
    assert_eq!(figures("bytes"), (257, 257, serde_json::json!([256])));
    for name in tokenmask::Vocabulary::builtin_names() {
        let (size, width, end) = figures(name);
        let vocabulary = tokenmask::Vocabulary::builtin(name).unwrap();
        assert_eq!(size as usize, vocabulary.stats().size, "{name}");
        assert_eq!(width as usize, vocabulary.width(), "{name}");
        assert_eq!(end, serde_json::json!(vocabulary.end_ids()), "{name}");
        assert!(size > 30_000 && width > 30_000, "{name}");
    }
    let fixtures = "tests/fixtures/vocab";
    assert_eq!(
        figures(&format!("{fixtures}/folder")),
        (252, 320, serde_json::json!([3, 4, 5, 251]))
    );
    for name in [
        "byte_level_strings",
        "byte_level_pairs",
        "byte_level_lacking",
        "sentencepiece",
        "metaspace",
    ] {
        assert!(figures(&format!("{fixtures}/{name}.json")).0 > 0, "{name}");
    }
    for name in ["wordpiece", "unigram"] {
        let run = run(&["vocab", &format!("{fixtures}/{name}.json"), "--json"]);
        assert_eq!(
            (run.code, &run.json()[0]["error"]["kind"]),
            (Some(2), &"vocabulary".into()),
            "{name}"
        );
    }
    let readable = run(&["vocab", "bytes"]).out;
    for row in [
        "size ",
        "width ",
        "special tokens",
        "end tokens",
        "partial characters",
        "duplicates",
        "load time",
    ] {
        assert!(readable.contains(row), "{row} in {readable}");
    }
    let unknown = run(&["vocab", "llama9"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.talk.contains("llama3") && unknown.talk.contains("llama9"), "{}", unknown.talk);
}

#[test]
fn greedy_tokenization_is_said() {
    let schema = file("{\"type\": \"string\"}");
    let fixture = "tests/fixtures/vocab/byte_level_strings.json";
    let run = run_with_input(&["accepts", &schema, "--vocab", fixture], b"\"a\"");
    assert_eq!((run.code, run.out.as_str()), (Some(0), "accepted\n"));
    if cfg!(feature = "hf-tokenizers") {
        assert_eq!(run.talk, "");
    } else {
        assert!(run.talk.contains("greedy longest match"), "{}", run.talk);
    }
    let builtin = run_with_input(&["accepts", &schema], b"\"a\"");
    assert_eq!(builtin.talk, "");
}

#[test]
fn a_broken_pipe_is_no_error() {
    let arguments = ["generate", "grammars/tree/schema.json", "-n", "10000", "--vocab", "bytes"];
    let mut child = program(&arguments).spawn().expect("the program runs");
    let mut first = String::new();
    let mut reader = BufReader::new(child.stdout.take().expect("a pipe"));
    reader.read_line(&mut first).expect("a line");
    drop(reader);
    let mut talk = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut talk).expect("talk");
    assert_eq!(child.wait().expect("the program ends").code(), Some(0), "{talk}");
    assert!(first.ends_with("}\n"), "{first}");
    assert!(!talk.contains("panicked") && !talk.contains("error"), "{talk}");
}
