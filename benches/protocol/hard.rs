//! The hard schemas: where they come from, and what an engine may spend on one.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Writes `<out>/<id>.<scale>.json` and, if there is one, `.sample`; lists them on its output. The
/// deep ones need a deep stack, and the data folder gets no byte code.
const GENERATE: &str = r#"
import json, sys, threading
folder, out, scales, only = sys.argv[1:5]
sys.dont_write_bytecode = True
sys.path.insert(0, folder)
from hard_schemas import PERF
def write():
    for entry in PERF:
        for name, n in zip(("small", "default", "large"), entry["scales"]):
            if name not in scales.split(",") or not entry["id"].startswith(only):
                continue
            path = "%s/%s.%s" % (out, entry["id"], name)
            with open(path + ".json", "w") as file:
                file.write(json.dumps(entry["gen"](n)))
            sample = entry["sample"] and entry["sample"](n)
            if sample is not None:
                with open(path + ".sample", "w") as file:
                    file.write(sample)
            print(entry["id"], name, n)
sys.setrecursionlimit(1000000)
threading.stack_size(1 << 29)
thread = threading.Thread(target=write)
thread.start()
thread.join()
"#;

/// One schema of one scale.
pub struct Hard {
    /// As in `p06-huge-repeat`.
    pub id: String,
    /// `small`, `default` or `large`.
    pub scale: String,
    /// The scale's number.
    pub n: String,
    /// The schema's file without the extension `json`; beside it may be one with `sample`.
    pub path: PathBuf,
}

/// What compiling, binding and the first mask may take, the vocabulary's own tables apart.
pub struct Budget {
    pub time: Duration,
    pub memory_mib: u64,
}

/// Schemas that may end in a named limit at their large scale.
const LIMITED: [&str; 3] = ["p06", "p08", "p25"];

impl Hard {
    pub fn budget(&self) -> Budget {
        match self.scale.as_str() {
            "large" => Budget { time: Duration::from_secs(5), memory_mib: 1024 },
            _ => Budget { time: Duration::from_millis(100), memory_mib: 256 },
        }
    }

    /// Whether an error that names a limit is an answer.
    pub fn may_be_limited(&self) -> bool {
        self.scale == "large" && LIMITED.iter().any(|id| self.id.starts_with(id))
    }
}

/// Runs the generators whose id begins with `only` into `folder`; `scales`: names with commas between.
///
/// # Errors
///
/// Where `python3` cannot be run, or a generator fails.
pub fn generate(script: &Path, folder: &Path, scales: &str, only: &str) -> io::Result<Vec<Hard>> {
    let python = Command::new("python3")
        .args(["-c", GENERATE])
        .args([script.parent().unwrap_or(Path::new(".")), folder])
        .args([scales, only])
        .stderr(Stdio::inherit())
        .output()?;
    if !python.status.success() {
        return Err(io::Error::other("the generators failed"));
    }
    let listed = String::from_utf8_lossy(&python.stdout).into_owned();
    let hard = |line: &str| {
        let [id, scale, n] = line.split(' ').collect::<Vec<_>>()[..] else { return None };
        let path = folder.join(format!("{id}.{scale}"));
        Some(Hard { id: id.into(), scale: scale.into(), n: n.into(), path })
    };
    Ok(listed.lines().filter_map(hard).collect())
}
