//! Checked `u32` ids: an index into one arena cannot be used in another.

/// Defines a `u32` newtype id with `new(usize)` (checked) and `index()`.
macro_rules! define_id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) struct $name(u32);

        impl $name {
            #[allow(dead_code, reason = "not every id is made from an index")]
            pub(crate) fn new(index: usize) -> Self {
                $name(u32::try_from(index).expect("arena sizes are limited below u32::MAX"))
            }
            #[allow(dead_code, reason = "not every id is used as an index")]
            pub(crate) fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

pub(crate) use define_id;
