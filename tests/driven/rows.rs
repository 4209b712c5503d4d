//! Rows of settings: the same tests under different number forms.

use crate::baseline::{Found, Outcome};
use tokenmask::{ErrorKind, Grammar, Numbers, Options, SurfacePolicy};

/// One row.
#[derive(Clone, Copy)]
pub struct Row {
    pub name: &'static str,
    pub numbers: Numbers,
}

pub const ROWS: [Row; 2] = [
    Row { name: "any numbers", numbers: Numbers::Any },
    Row { name: "plain numbers", numbers: Numbers::Plain },
];

impl Row {
    /// Why this version refuses the row's options, if it does.
    fn refusal(&self) -> Option<String> {
        let policy = SurfacePolicy { numbers: self.numbers, ..SurfacePolicy::default() };
        let error = Grammar::compile("true", &Options { policy, ..Options::default() }).err()?;
        assert_eq!(error.kind(), ErrorKind::Option, "{error}");
        Some(error.to_string())
    }

    pub fn is_available(&self) -> bool {
        self.refusal().is_none()
    }

    /// The row's own result: where it is refused, all its tests count as compile errors.
    pub fn found(&self) -> Vec<Found> {
        let refused =
            |detail| Found { test: "*".to_owned(), outcome: Outcome::CompileError, detail };
        self.refusal().map(refused).into_iter().collect()
    }
}
