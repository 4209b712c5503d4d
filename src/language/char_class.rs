//! Classes of raw characters, by their bytes.

use crate::base::ByteSet;
use smallvec::SmallVec;

/// Raw characters of a string: those that begin with some bytes, and some of those that begin with
/// others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CharClass {
    /// All characters with these first bytes.
    whole: ByteSet,
    /// In the order in which they were made.
    parts: SmallVec<[Part; 2]>,
}

/// A beginning that only some characters of the class have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Part {
    begun: Begun,
    /// All characters go on with one of these bytes, or they are of a longer part.
    next: ByteSet,
}

/// The first bytes of a character, or the bytes of another one behind a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Begun {
    len: u8,
    bytes: [u8; 4],
}

impl Begun {
    /// With one more byte; there are at most four.
    pub(crate) fn then(mut self, byte: u8) -> Begun {
        if let Some(place) = self.bytes.get_mut(usize::from(self.len)) {
            *place = byte;
            self.len += 1;
        }
        self
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl CharClass {
    /// Every character that a string may hold raw.
    pub(crate) fn all() -> CharClass {
        let raw = (b' '..=0x7F).chain(0xC2..=0xF4);
        let whole = raw.filter(|byte| !matches!(byte, b'"' | b'\\')).collect();
        CharClass { whole, parts: SmallVec::new() }
    }

    /// Those of its ASCII characters that are in `kept`, and no others.
    pub(crate) fn ascii_of(&self, mut kept: ByteSet) -> CharClass {
        kept.intersect(self.ascii());
        CharClass { whole: kept, parts: SmallVec::new() }
    }

    /// The bytes with which all characters that begin so may go on.
    pub(crate) fn next(&self, begun: Begun) -> ByteSet {
        if begun.len == 0 {
            return self.whole;
        }
        self.part(begun).map_or(ByteSet::EMPTY, |part| part.next)
    }

    /// Whether some characters that begin so are in the class, and others are not.
    pub(crate) fn has_part(&self, begun: Begun) -> bool {
        self.part(begun).is_some()
    }

    /// Adds all characters that begin with these bytes and go on with one of `next`.
    pub(crate) fn insert(&mut self, begun: Begun, next: ByteSet) {
        if next.is_empty() {
            return;
        }
        if begun.len == 0 {
            return self.whole.union(next);
        }
        // Whoever walks the class has to find each byte on the way.
        let mut before = Begun::default();
        for &byte in begun.bytes() {
            before = before.then(byte);
            if self.part(before).is_none() {
                self.parts.push(Part { begun: before, next: ByteSet::EMPTY });
            }
        }
        if let Some(part) = self.parts.iter_mut().find(|part| part.begun == begun) {
            part.next.union(next);
        }
    }

    /// How many beginnings there are of which only some characters are in the class.
    pub(crate) fn parts(&self) -> usize {
        self.parts.len()
    }

    fn part(&self, begun: Begun) -> Option<&Part> {
        self.parts.iter().find(|part| part.begun == begun)
    }

    /// Its ASCII characters.
    pub(crate) fn ascii(&self) -> ByteSet {
        let mut ascii = ByteSet::EMPTY;
        ascii.insert_range(0, 0x7F);
        ascii.intersect(self.whole);
        ascii
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_belong_by_their_first_bytes_or_by_more_of_them() {
        let start = Begun::default();
        let mut class = CharClass::all().ascii_of((b'a'..=b'z').collect());
        assert_eq!(class.ascii().iter().collect::<Vec<_>>(), (b'a'..=b'z').collect::<Vec<_>>());
        class.insert(start, ByteSet::of(&[0xC3]));
        class.insert(start.then(0xE2).then(0x80), ByteSet::of(&[0x99]));
        class.insert(start.then(0xE2), ByteSet::of(&[0x82, 0x83]));
        let next = |begun| class.next(begun).iter().filter(|byte| !byte.is_ascii()).collect();
        let all: [Vec<u8>; 4] = [
            next(start),
            next(start.then(0xE2)),
            next(start.then(0xE2).then(0x80)),
            next(start.then(0xC3)),
        ];
        assert_eq!(all, [vec![0xC3], vec![0x82, 0x83], vec![0x99], vec![]]);
        assert!(class.has_part(start.then(0xE2).then(0x80)) && !class.has_part(start.then(0xC3)));
        assert_eq!(class.parts(), 2);
        let begun = start.then(0xE2).then(0x80);
        assert_eq!(begun.bytes(), [0xE2, 0x80]);
        assert_eq!(start.then(0).bytes(), [0]);
    }
}
