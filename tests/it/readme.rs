//! The commands of README.md are run: by `.ci/run`, or here.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The lines of the blocks that are fenced as `sh`, without comments.
fn commands(text: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line.trim() {
            "```sh" => inside = true,
            "```" => inside = false,
            command if inside && !command.is_empty() && !command.starts_with('#') => {
                commands.push(command.to_owned());
            }
            _ => {}
        }
    }
    commands
}

#[test]
fn every_command_is_run() {
    let readme = commands(&read("README.md"));
    assert!(readme.len() >= 4, "only {} commands", readme.len());
    let ci = read(".ci/run");
    let in_ci: BTreeSet<&str> = ci.lines().map(str::trim).collect();
    let mut here = 0;
    for command in &readme {
        if in_ci.contains(command.as_str()) {
            continue;
        }
        // The installed program's name: the exit code stands behind the command.
        let (command, code) = command.split_once("# exit ").unwrap_or((command, "0"));
        let arguments: Vec<&str> = command.split_whitespace().collect();
        assert_eq!(arguments[0], "tokenmask", "neither .ci/run nor this test runs `{command}`");
        let output = Command::new(env!("CARGO_BIN_EXE_tokenmask"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(&arguments[1..])
            .output()
            .expect("the program runs");
        let talk = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), code.trim().parse().ok(), "{command}: {talk}");
        assert!(!output.stdout.is_empty(), "{command} prints nothing");
        here += 1;
    }
    assert!(here >= 3, "only {here} commands are run here");
    assert!(readme.iter().any(|command| in_ci.contains(command.as_str())));
}

#[test]
fn every_verb_is_listed() {
    let readme = read("README.md");
    for verb in ["generate", "explain", "accepts", "mask", "vocab"] {
        assert!(readme.contains(&format!("| `{verb} ")), "{verb}");
    }
}
