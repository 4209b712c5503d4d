//! What both engines' runs add up to: one table.

use crate::corpus::Outcome;
use crate::data::Record;
use crate::protocol::{Run, Times};

/// Both engines over all schemas.
#[derive(Default)]
pub struct Tally {
    /// The other engine's name.
    peer: &'static str,
    ours: Verdicts,
    theirs: Verdicts,
    /// Over the positions that both reach.
    tbm: [Times; 2],
    /// Over the schemas that both compile.
    ttfm: [Times; 2],
    /// For each schema that both compile: the first mask, and the masks of all positions that both
    /// reach.
    sum: [Times; 2],
    costs: Vec<Cost>,
}

/// What one schema costs tokenmask, in nanoseconds.
struct Cost {
    id: String,
    first: u64,
    /// The dearest mask behind it.
    mask: u64,
    /// More than the peer, in the first and all masks that both reach; 0 where it does not compile.
    loss: i64,
}

/// One engine's verdicts over all schemas.
#[derive(Default)]
pub struct Verdicts {
    compiled: usize,
    passing: usize,
    valid_accepted: usize,
    valid_refused: usize,
    invalid_refused: usize,
    invalid_accepted: usize,
    positions: usize,
    tbm: Times,
    ttfm: Times,
}

impl Verdicts {
    fn add(&mut self, record: &Record, outcome: &Outcome) {
        let Ok(run) = outcome else { return };
        self.compiled += 1;
        self.ttfm.extend([run.ttfm]);
        let mut right = true;
        for (test, trial) in record.tests.iter().zip(&run.trials) {
            right &= test.valid == trial.accepted;
            self.tbm.extend(trial.masks.iter().copied());
            self.positions += trial.masks.len();
            *match (test.valid, trial.accepted) {
                (true, true) => &mut self.valid_accepted,
                (true, false) => &mut self.valid_refused,
                (false, false) => &mut self.invalid_refused,
                (false, true) => &mut self.invalid_accepted,
            } += 1;
        }
        self.passing += usize::from(right);
    }
}

impl Tally {
    /// tokenmask beside `peer`.
    pub fn new(peer: &'static str) -> Tally {
        Tally { peer, ..Tally::default() }
    }

    pub fn add(&mut self, record: &Record, ours: &Outcome, theirs: &Outcome) {
        self.ours.add(record, ours);
        self.theirs.add(record, theirs);
        let Ok(ours) = ours else { return };
        let dearest = ours.trials.iter().flat_map(|trial| &trial.masks).max();
        let loss = theirs.as_ref().map_or(0, |theirs| self.compare(ours, theirs));
        let (id, mask) = (record.id.clone(), dearest.copied().unwrap_or(0));
        self.costs.push(Cost { id, first: ours.ttfm, mask, loss });
    }

    /// The nanoseconds that we lose to the peer on one schema.
    fn compare(&mut self, ours: &Run, theirs: &Run) -> i64 {
        self.ttfm[0].extend([ours.ttfm]);
        self.ttfm[1].extend([theirs.ttfm]);
        let mut sum = [ours.ttfm, theirs.ttfm];
        for (ours, theirs) in ours.trials.iter().zip(&theirs.trials) {
            for (&ours, &theirs) in ours.masks.iter().zip(&theirs.masks) {
                self.tbm[0].extend([ours]);
                self.tbm[1].extend([theirs]);
                sum[0] += ours;
                sum[1] += theirs;
            }
        }
        self.sum[0].extend([sum[0]]);
        self.sum[1].extend([sum[1]]);
        sum[0] as i64 - sum[1] as i64
    }

    /// The table, and so many schemas that cost most: by first mask, by dearest mask, by what is lost
    /// to the peer.
    pub fn print(&mut self, slowest: usize) {
        println!("{:34}{:>14}{:>14}{:>9}", "", "tokenmask", self.peer, "ratio");
        let [ours, theirs] = &mut self.tbm;
        println!("TBM, positions that both reach{:18}{:14}", ours.count(), theirs.count());
        compare(ours, theirs);
        let [ours, theirs] = &mut self.ttfm;
        println!("TTFM, schemas that both compile{:17}{:14}", ours.count(), theirs.count());
        compare(ours, theirs);
        let [ours, theirs] = &mut self.sum;
        println!("TTFM and all masks, sum of a schema{:13}{:14}", ours.count(), theirs.count());
        compare(ours, theirs);
        println!("TBM, all that each reaches");
        compare(&mut self.ours.tbm, &mut self.theirs.tbm);
        println!("TTFM, all that each compiles");
        compare(&mut self.ours.ttfm, &mut self.theirs.ttfm);
        type Count = fn(&Verdicts) -> usize;
        let counts: [(&str, Count); 7] = [
            ("schemas compiled", |v| v.compiled),
            ("schemas passing", |v| v.passing),
            ("positions reached", |v| v.positions),
            ("valid accepted", |v| v.valid_accepted),
            ("valid refused", |v| v.valid_refused),
            ("invalid refused", |v| v.invalid_refused),
            ("invalid accepted", |v| v.invalid_accepted),
        ];
        for (name, count) in counts {
            println!("{name:34}{:14}{:14}", count(&self.ours), count(&self.theirs));
        }
        type Key = fn(&Cost) -> i64;
        let keys: [(&str, Key); 3] = [
            ("first mask", |cost| cost.first as i64),
            ("dearest mask", |cost| cost.mask as i64),
            ("first and all masks, more than the peer", |cost| cost.loss),
        ];
        for (name, key) in keys {
            self.costs.sort_by_key(|cost| -key(cost));
            for cost in self.costs.iter().take(slowest) {
                println!("{:12.1} µs, {name}: {}", key(cost) as f64 / 1e3, cost.id);
            }
        }
    }
}

fn compare(ours: &mut Times, theirs: &mut Times) {
    for ((name, ours), (_, theirs)) in ours.summary().into_iter().zip(theirs.summary()) {
        let ratio = ours / theirs;
        println!("  {:32}{ours:14.2}{theirs:14.2}{ratio:9.3}", format!("{name}, µs"));
    }
}
