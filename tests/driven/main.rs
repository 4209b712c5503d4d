//! Tests that are data, one trial each: the folders of `tests/cases`, the official suite, and the
//! reports of other engines' faults. The last two are shared yardsticks, found by `tests/data`; what
//! is known to fail there stands in `tests/baseline`.

#[cfg(feature = "cli")]
#[path = "../data/mod.rs"]
mod data;
#[cfg(feature = "cli")]
#[path = "../data/suite.rs"]
mod suite_data;

#[cfg(feature = "cli")]
mod baseline;
mod cases;
mod feed;
#[cfg(feature = "cli")]
mod mask_checks;
#[cfg(feature = "cli")]
mod reports;
#[cfg(feature = "cli")]
mod rows;
#[cfg(feature = "cli")]
mod suite;
#[cfg(feature = "cli")]
mod verdict;

use libtest_mimic::Arguments;

fn main() {
    let arguments = Arguments::from_args();
    #[cfg_attr(not(feature = "cli"), allow(unused_mut))]
    let mut trials = cases::trials();
    #[cfg(feature = "cli")]
    let (suite, reports) = (suite::Suite::find(), reports::Reports::find());
    #[cfg(feature = "cli")]
    {
        trials.push(libtest_mimic::Trial::test("baseline::selftest", baseline::selftest));
        trials.extend(suite.iter().flat_map(suite::Suite::trials));
        trials.extend(reports.iter().flat_map(reports::Reports::trials));
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    #[cfg(feature = "cli")]
    {
        suite.iter().for_each(suite::Suite::finish);
        reports.iter().for_each(reports::Reports::finish);
    }
    conclusion.exit();
}
