//! Where a keyword is enforced.

use std::fmt;

/// Where a keyword is enforced, from the strongest to none. The order is that of weakness: the
/// route of a keyword with several uses is the greatest of theirs, annotations aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Route {
    /// It asserts nothing here (`title`, an unknown keyword, `beside-ref`, …).
    Annotation,
    /// Exactly, at each decode step.
    Mask,
    /// The mask enforces a proper part, a check the rest.
    MaskCheck,
    /// The mask enforces nothing of it: description text and a check afterwards.
    Check,
    /// Only the caller can run it.
    External,
}

impl Route {
    /// The stable name, as in reports: `mask`, `mask+check`, `check`, `external`, `annotation`.
    pub fn name(self) -> &'static str {
        match self {
            Route::Annotation => "annotation",
            Route::Mask => "mask",
            Route::MaskCheck => "mask+check",
            Route::Check => "check",
            Route::External => "external",
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
