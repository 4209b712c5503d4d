//! What is known to fail: a checked-in file with one line for each test that does not pass. It may
//! only shrink: a test that is worse than its line fails, and so does a line that is worse than its
//! test. `TOKENMASK_BASELINE=shrink` rewrites the file; it betters and removes lines, never more.
//!
//! A line is `<outcome> <group>: <test>`. The line `<outcome> <row>: *` stands for every test of a
//! row of settings that this version refuses as a whole. Once the row is there, shrinking replaces
//! it by the lines of the tests that are no worse than it said.

use libtest_mimic::Failed;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::{env, fmt, fs};

/// How a test ended, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// As it should.
    Pass,
    /// An invalid text is accepted, for nothing but keywords that are only checked afterwards.
    Routed,
    /// The schema does not compile, or with another error than the one that is right.
    CompileError,
    /// A valid text is accepted that the surface policy leaves out.
    OutsidePolicy,
    /// A valid text is refused.
    RejectsValid,
    /// An invalid text is accepted, and nothing explains it.
    AcceptsInvalid,
}

impl Outcome {
    pub const ALL: [Outcome; 6] = [
        Outcome::Pass,
        Outcome::Routed,
        Outcome::CompileError,
        Outcome::OutsidePolicy,
        Outcome::RejectsValid,
        Outcome::AcceptsInvalid,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Outcome::Pass => "pass",
            Outcome::Routed => "routed",
            Outcome::CompileError => "compile-error",
            Outcome::OutsidePolicy => "outside-policy",
            Outcome::RejectsValid => "rejects-valid",
            Outcome::AcceptsInvalid => "accepts-invalid",
        }
    }
}

/// Where a test stands: its group, which is one trial, and its name in there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    pub group: String,
    pub test: String,
}

impl Path {
    pub fn new(group: &str, test: impl Into<String>) -> Path {
        Path { group: group.to_owned(), test: test.into() }
    }

    /// The line for all tests of a row.
    pub fn row(row: &str) -> Path {
        Path::new(row, "*")
    }

    /// The line that may stand for this one.
    fn of_row(&self) -> Path {
        Path::row(self.group.split('/').next().unwrap_or_default())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.group, self.test)
    }
}

/// The result of one test.
pub struct Found {
    pub test: String,
    pub outcome: Outcome,
    /// What was seen, for who reads the failure.
    pub detail: String,
}

pub type Results = BTreeMap<Path, Outcome>;

/// One baseline file, shared by its trials.
#[derive(Clone)]
pub struct Baseline(Arc<Inner>);

struct Inner {
    file: PathBuf,
    lines: Results,
    /// Whether the file is rewritten in the end.
    shrinks: bool,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// The groups that have run.
    groups: BTreeSet<String>,
    results: Results,
}

impl Baseline {
    /// Reads `tests/baseline/<name>.txt`.
    ///
    /// # Panics
    ///
    /// Where a line is none, or the lines are not sorted.
    pub fn load(name: &str) -> Baseline {
        let file = crate::data::package().join("tests/baseline").join(format!("{name}.txt"));
        let text = fs::read_to_string(&file).expect("a baseline");
        let lines = parse(&text).unwrap_or_else(|line| panic!("{name}.txt: a wrong line: {line}"));
        assert_eq!(text, write(&lines), "{name}.txt: the lines are not sorted, or stand twice");
        let shrinks = env::var("TOKENMASK_BASELINE").is_ok_and(|value| value == "shrink");
        Baseline(Arc::new(Inner { file, lines, shrinks, seen: Mutex::default() }))
    }

    /// Holds the results of one group against its lines.
    pub fn judge(&self, group: &str, found: Vec<Found>) -> Result<(), Failed> {
        let mut results = Results::new();
        let mut wrong = Vec::new();
        for one in found {
            let path = Path::new(group, one.test);
            let allowed = allowed(&self.0.lines, &path);
            if one.outcome > allowed {
                let (is, allowed) = (one.outcome.name(), allowed.name());
                wrong.push(format!("worse ({allowed} is known): {is} {path}\n    {}", one.detail));
            }
            if results.insert(path.clone(), one.outcome).is_some() {
                wrong.push(format!("stands twice: {path}"));
            }
        }
        let own = self.0.lines.iter().filter(|(path, _)| path.group == group);
        let stale = own.filter(|(path, line)| results.get(path).is_none_or(|is| is < *line));
        if !self.0.shrinks {
            wrong.extend(stale.map(|(path, line)| {
                let is = results.get(path).map_or("gone", |outcome| outcome.name());
                format!("{is} now: {} {path}; {REWRITE}", line.name())
            }));
        }
        let mut seen = self.0.seen.lock().unwrap();
        seen.groups.insert(group.to_owned());
        seen.results.append(&mut results);
        if wrong.is_empty() { Ok(()) } else { Err(Failed::from(wrong.join("\n"))) }
    }

    /// Lines of groups that are no more: nobody else would miss them.
    pub fn judge_groups(&self, known: &BTreeSet<String>) -> Result<(), Failed> {
        let mut gone: BTreeSet<String> =
            self.0.lines.keys().map(|path| path.group.clone()).collect();
        gone.retain(|group| !known.contains(group));
        let message = format!("no such group: {gone:?}; {REWRITE}");
        let is_right = gone.is_empty() || self.0.shrinks;
        self.0.seen.lock().unwrap().groups.append(&mut gone);
        if is_right { Ok(()) } else { Err(Failed::from(message)) }
    }

    /// The results, where every one of these groups has run.
    pub fn whole(&self, groups: &BTreeSet<String>) -> Option<Results> {
        let seen = self.0.seen.lock().unwrap();
        groups.is_subset(&seen.groups).then(|| seen.results.clone())
    }

    /// Rewrites the file, where that was asked for.
    pub fn finish(&self) {
        let seen = self.0.seen.lock().unwrap();
        if self.0.shrinks {
            let lines = shrunk(&self.0.lines, &seen.groups, &seen.results);
            fs::write(&self.0.file, write(&lines)).expect("the baseline can be written");
        }
    }
}

const REWRITE: &str = "TOKENMASK_BASELINE=shrink takes it out of the baseline";

/// The worst that a test may be.
fn allowed(lines: &Results, path: &Path) -> Outcome {
    *lines.get(path).or_else(|| lines.get(&path.of_row())).unwrap_or(&Outcome::Pass)
}

/// The lines after a run: those of groups that did not run stay as they are; the others are as good
/// as their tests, and no worse than before. A row's line gives way to those of its tests that are
/// no worse than it; a test that is worse gets none.
fn shrunk(lines: &Results, groups: &BTreeSet<String>, results: &Results) -> Results {
    let mut new: Results = lines
        .iter()
        .filter(|(path, _)| !groups.contains(&path.group))
        .map(|(path, outcome)| (path.clone(), *outcome))
        .collect();
    for (path, is) in results {
        let outcome = match lines.get(path) {
            Some(line) => *is.min(line),
            None if *is <= allowed(lines, path) => *is,
            None => continue,
        };
        if outcome > Outcome::Pass {
            new.insert(path.clone(), outcome);
        }
    }
    new
}

/// The lines of a file. `Err`: one that is wrong.
fn parse(text: &str) -> Result<Results, String> {
    let line = |line: &str| {
        let (name, path) = line.split_once(' ')?;
        let (group, test) = path.split_once(": ")?;
        let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.name() == name)?;
        (outcome > Outcome::Pass).then(|| (Path::new(group, test), outcome))
    };
    text.lines().map(|text| line(text).ok_or_else(|| text.to_owned())).collect()
}

/// The text of a file: sorted, the outcome first.
fn write(lines: &Results) -> String {
    let mut all: Vec<String> =
        lines.iter().map(|(path, outcome)| format!("{} {path}\n", outcome.name())).collect();
    all.sort();
    all.concat()
}

/// What this module promises, on lines of its own.
pub fn selftest() -> Result<(), Failed> {
    let text = "compile-error new: *\nrejects-valid a/x: one\nrouted a/x: two\nrouted b/y: three\n";
    let lines = parse(text).map_err(Failed::from)?;
    assert_eq!(write(&lines), text);
    assert_eq!(parse("pass a/x: one"), Err("pass a/x: one".to_owned()));
    let at = |group: &str, test: &str| Path::new(group, test);
    assert_eq!(allowed(&lines, &at("a/x", "one")), Outcome::RejectsValid);
    assert_eq!(allowed(&lines, &at("a/x", "other")), Outcome::Pass);
    assert_eq!(allowed(&lines, &at("new/x", "any")), Outcome::CompileError);
    let groups = ["a/x", "new", "new/x"].map(str::to_owned).into();
    let results = [
        (at("a/x", "one"), Outcome::Routed),
        (at("a/x", "two"), Outcome::AcceptsInvalid),
        (at("a/x", "fresh"), Outcome::Routed),
        (at("new/x", "one"), Outcome::Routed),
        (at("new/x", "two"), Outcome::RejectsValid),
        (at("new/x", "three"), Outcome::Pass),
    ];
    let new = shrunk(&lines, &groups, &results.into());
    // Better, never worse, nothing new; what did not run stays; the row's line gives way.
    let expected = "routed a/x: one\nrouted a/x: two\nrouted b/y: three\nrouted new/x: one\n";
    assert_eq!(write(&new), expected);
    Ok(())
}
