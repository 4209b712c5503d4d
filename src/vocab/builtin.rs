//! The embedded vocabularies, from the `tiktoken` crate. It has the bytes of each id and encodes,
//! but knows only some of the special tokens: their ranges stand here.

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};

use super::encode::Encoder;
use super::{Parts, TokenClass, TokenTable, Vocabulary};

/// One embedded vocabulary.
struct Builtin {
    name: &'static str,
    encoding: &'static str,
    /// Ids of the tokenizer.
    size: u32,
    /// Ids of the logits.
    width: usize,
    special: &'static [RangeInclusive<u32>],
    /// Added tokens that are not special but look like markers.
    control: &'static [RangeInclusive<u32>],
    end_ids: &'static [u32],
}

const BUILTINS: &[Builtin] = &[
    Builtin {
        name: "llama3",
        encoding: "llama3",
        size: 128_256,
        width: 128_256,
        special: &[128_000..=128_255],
        control: &[],
        // end_of_text, eom_id, eot_id
        end_ids: &[128_001, 128_008, 128_009],
    },
    Builtin {
        name: "qwen2",
        encoding: "qwen2",
        size: 151_665,
        width: 151_665,
        special: &[151_643..=151_656],
        control: &[151_657..=151_664],
        // endoftext, im_end
        end_ids: &[151_643, 151_645],
    },
    Builtin {
        name: "deepseek_v3",
        encoding: "deepseek_v3",
        size: 128_815,
        width: 129_280,
        special: &[0..=2, 128_000..=128_799, 128_805..=128_805],
        control: &[128_800..=128_804, 128_806..=128_814],
        end_ids: &[1],
    },
    Builtin {
        name: "mistral_v3",
        encoding: "mistral_v3",
        size: 131_072,
        width: 131_072,
        special: &[0..=999],
        control: &[],
        end_ids: &[2],
    },
    Builtin {
        name: "o200k",
        encoding: "o200k_base",
        size: 200_019,
        width: 200_019,
        special: &[199_998..=200_018],
        control: &[],
        end_ids: &[199_999],
    },
    Builtin {
        name: "cl100k",
        encoding: "cl100k_base",
        size: 100_277,
        width: 100_277,
        special: &[100_256..=100_276],
        control: &[],
        end_ids: &[100_257],
    },
];

/// The names, in a fixed order.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    BUILTINS.iter().map(|builtin| builtin.name)
}

/// The embedded vocabulary of a name.
///
/// # Errors
/// `vocabulary`: there is none; the message lists the names.
pub(super) fn load(name: &str) -> Result<Vocabulary> {
    let unknown = || {
        let names: Vec<_> = names().collect();
        let message = format!("no vocabulary `{name}` is built in; there are {}", names.join(", "));
        Error::new(ErrorKind::Vocabulary, message)
    };
    let builtin = BUILTINS.iter().find(|builtin| builtin.name == name).ok_or_else(unknown)?;
    let bpe = tiktoken::get_encoding(builtin.encoding).ok_or_else(unknown)?;
    let mut tokens = TokenTable::with_capacity(builtin.size as usize);
    for id in 0..builtin.size {
        tokens.push(&bpe.decode(&[id]))?;
    }
    let class = |id| {
        let within =
            |ranges: &[RangeInclusive<u32>]| ranges.iter().any(|range| range.contains(&id));
        if within(builtin.special) {
            TokenClass::Special
        } else if within(builtin.control) {
            TokenClass::Control
        } else {
            TokenClass::Text
        }
    };
    Ok(Vocabulary::assemble(Parts {
        name: builtin.name.into(),
        tokens: Arc::new(tokens),
        classes: (0..builtin.size).map(class).collect(),
        end_ids: builtin.end_ids.to_vec(),
        width: builtin.width,
        encoder: Encoder::Tiktoken(bpe),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_loads_and_every_byte_can_be_spelled() {
        for builtin in BUILTINS {
            let vocabulary = load(builtin.name).unwrap();
            assert_eq!(vocabulary.len(), builtin.size as usize, "{}", builtin.name);
            assert_eq!(vocabulary.spellable().len(), 256, "{}", builtin.name);
            let stats = vocabulary.stats();
            assert_eq!((stats.holes, stats.duplicate_byte_strings), (0, 0), "{}", builtin.name);
            assert_eq!(stats.text + stats.special, stats.size, "{}", builtin.name);
            for &id in builtin.end_ids {
                assert!(vocabulary.is_special(id) && vocabulary.text_bytes(id).is_none());
            }
        }
    }

    #[test]
    fn figures_of_llama3() {
        let stats = load("llama3").unwrap().stats();
        assert_eq!((stats.size, stats.width, stats.text), (128_256, 128_256, 128_000));
        assert_eq!((stats.special, stats.end, stats.longest), (256, 3, 128));
        assert_eq!(stats.partial_character_tokens, 1352);
        assert_eq!(stats.trie_nodes, 274_520);
    }

    #[test]
    fn texts_that_look_special_are_text() {
        for name in names() {
            let vocabulary = load(name).unwrap();
            for text in ["{\"a\": \"<|endoftext|></s>[INST]\"}\n", "<｜User｜> 字 🦀\u{0}\t1234567"]
            {
                let encoded = vocabulary.encode(text).unwrap();
                let bytes: Vec<u8> = encoded
                    .ids
                    .iter()
                    .flat_map(|&id| vocabulary.text_bytes(id).unwrap())
                    .copied()
                    .collect();
                assert_eq!(bytes, text.as_bytes(), "{name}");
                assert!(encoded.exact, "{name}: {text}");
            }
        }
    }

    #[test]
    fn text_that_is_not_utf8_is_cut_by_the_longest_match() {
        let vocabulary = load("llama3").unwrap();
        let encoded = vocabulary.encode(b"abc\xff\xfe def").unwrap();
        assert!(!encoded.exact);
        let bytes: Vec<u8> = encoded
            .ids
            .iter()
            .flat_map(|&id| vocabulary.token_bytes(id).unwrap())
            .copied()
            .collect();
        assert_eq!(bytes, b"abc\xff\xfe def");
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = load("llama9").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Vocabulary);
        assert!(error.message().contains("llama3, qwen2, deepseek_v3, mistral_v3, o200k, cl100k"));
    }
}
