//! Findings about value sets: what a model can make endless, and what holds no value.

use crate::base::Finding;
use crate::schema::{Body, Schema};
use crate::values::{Emptiness, SetId, Sets, Strings};
use rustc_hash::FxHashSet;

/// The findings of all subschemas whose set was built, in the order of their ids.
pub(super) fn findings(schema: &Schema, sets: &Sets, emptiness: &Emptiness) -> Vec<Finding> {
    let recursive = recursive_sets(sets);
    let mut findings = Vec::new();
    for &(node, set) in sets.node_sets() {
        let mut add = |kind, message: String| {
            findings.push(Finding { kind, location: schema.location(node), message });
        };
        if emptiness.is_empty(set) {
            if !matches!(schema.node(node).body, Body::Boolean(false)) {
                add("empty", "no value is valid here, so the mask never allows one".into());
            }
            continue;
        }
        let parts = endless_parts(sets, emptiness, set, recursive.contains(&set));
        if !parts.is_empty() {
            add("endless", format!("the model can make this endless: {}", parts.join(", ")));
        }
    }
    findings
}

fn endless_parts(
    sets: &Sets,
    emptiness: &Emptiness,
    id: SetId,
    recursive: bool,
) -> Vec<&'static str> {
    if id == SetId::ANY {
        return vec!["any JSON value"];
    }
    let set = sets.get(id);
    let mut parts = Vec::new();
    let mut add = |part| {
        if !parts.contains(&part) {
            parts.push(part);
        }
    };
    for &string in &set.strings {
        match sets.strings(string) {
            Strings::Free { max: None, .. } => add("a string without `maxLength`"),
            Strings::Language(language) if language.is_infinite() => {
                add("a string whose pattern has no longest match");
            }
            _ => {}
        }
    }
    for &array in &set.arrays {
        let array = sets.array(array);
        if array.max.is_none() && !emptiness.is_empty(array.rest) {
            add("an array without `maxItems`");
        }
    }
    for &object in &set.objects {
        let bounded = sets.object(object).max.is_some();
        if !bounded && sets.other_sets(object).any(|set| !emptiness.is_empty(set)) {
            add("an object that takes undeclared keys");
        }
    }
    if recursive {
        add("a recursion");
    }
    parts
}

/// The sets that can contain themselves: those on a cycle of member sets.
fn recursive_sets(sets: &Sets) -> FxHashSet<SetId> {
    let mut search = Tarjan {
        sets,
        index: vec![0; sets.len()],
        low: vec![0; sets.len()],
        next: 0,
        path: Vec::new(),
        on_path: vec![false; sets.len()],
        recursive: FxHashSet::default(),
    };
    for id in sets.ids().filter(|&id| id != SetId::ANY) {
        if search.index[id.index()] == 0 {
            search.run(id);
        }
    }
    search.recursive
}

/// Tarjan's algorithm for strongly connected components, with its own stack of calls.
struct Tarjan<'s> {
    sets: &'s Sets,
    /// 0: not visited.
    index: Vec<u32>,
    low: Vec<u32>,
    next: u32,
    path: Vec<SetId>,
    on_path: Vec<bool>,
    recursive: FxHashSet<SetId>,
}

impl Tarjan<'_> {
    fn enter(&mut self, id: SetId) -> (SetId, std::vec::IntoIter<SetId>) {
        self.next += 1;
        self.index[id.index()] = self.next;
        self.low[id.index()] = self.next;
        self.path.push(id);
        self.on_path[id.index()] = true;
        let mut children = self.sets.children(self.sets.get(id));
        children.retain(|&child| child != SetId::ANY && child != SetId::NEVER);
        if children.contains(&id) {
            self.recursive.insert(id);
        }
        (id, children.into_iter())
    }

    fn run(&mut self, start: SetId) {
        let mut calls = vec![self.enter(start)];
        while let Some((id, children)) = calls.last_mut() {
            let id = *id;
            match children.next() {
                Some(child) if self.index[child.index()] == 0 => {
                    let call = self.enter(child);
                    calls.push(call);
                }
                Some(child) => {
                    if self.on_path[child.index()] {
                        self.lower(id, self.index[child.index()]);
                    }
                }
                None => {
                    self.leave(id);
                    calls.pop();
                    if let Some((parent, _)) = calls.last() {
                        self.lower(*parent, self.low[id.index()]);
                    }
                }
            }
        }
    }

    fn lower(&mut self, id: SetId, to: u32) {
        let low = &mut self.low[id.index()];
        *low = (*low).min(to);
    }

    fn leave(&mut self, id: SetId) {
        if self.low[id.index()] != self.index[id.index()] {
            return;
        }
        let at = self.path.iter().rposition(|&other| other == id).unwrap_or(0);
        let component = self.path.split_off(at);
        component.iter().for_each(|other| self.on_path[other.index()] = false);
        if component.len() > 1 {
            self.recursive.extend(component);
        }
    }
}
