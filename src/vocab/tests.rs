//! The traps of tokenizer files, on tiny files of each kind (`tests/fixtures/vocab/make.py`).

use std::path::PathBuf;

use super::*;

const PAIRS: &[u8] = include_bytes!("../../tests/fixtures/vocab/byte_level_pairs.json");
const STRINGS: &[u8] = include_bytes!("../../tests/fixtures/vocab/byte_level_strings.json");
const LACKING: &[u8] = include_bytes!("../../tests/fixtures/vocab/byte_level_lacking.json");
const SENTENCEPIECE: &[u8] = include_bytes!("../../tests/fixtures/vocab/sentencepiece.json");
const METASPACE: &[u8] = include_bytes!("../../tests/fixtures/vocab/metaspace.json");
const UNIGRAM: &[u8] = include_bytes!("../../tests/fixtures/vocab/unigram.json");
const WORDPIECE: &[u8] = include_bytes!("../../tests/fixtures/vocab/wordpiece.json");

fn fixture(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/fixtures/vocab", name].iter().collect()
}

fn load(file: &[u8]) -> Vocabulary {
    Vocabulary::from_huggingface(file).unwrap()
}

/// All ids whose bytes, as text or as a name, are these.
fn ids_of(vocabulary: &Vocabulary, bytes: impl AsRef<[u8]>) -> Vec<u32> {
    let all = 0..vocabulary.len() as u32;
    all.filter(|&id| vocabulary.token_bytes(id) == Some(bytes.as_ref())).collect()
}

fn spelled(vocabulary: &Vocabulary, ids: &[u32]) -> Vec<u8> {
    ids.iter().flat_map(|&id| vocabulary.text_bytes(id).unwrap()).copied().collect()
}

/// Whether masks may allow the token as text; the trie agrees with the table.
fn is_text(vocabulary: &Vocabulary, id: u32) -> bool {
    let text = vocabulary.text_bytes(id).is_some();
    assert_eq!(vocabulary.trie().tokens_below(Trie::ROOT).contains(&id), text, "token {id}");
    text
}

#[test]
fn byte_level_tokens_are_bytes_and_may_hold_parts_of_characters() {
    let v = load(PAIRS);
    assert_eq!(v.spellable(), ByteSet::FULL);
    assert_eq!(ids_of(&v, "}}]}").len(), 1);
    assert_eq!(ids_of(&v, "\n  ").len(), 1);
    let partial = ids_of(&v, b" \xc3");
    assert!(is_text(&v, partial[0]));
    let stats = v.stats();
    // 128 single bytes, " \xc3" and "\xf0\x9f"; the merged "é" is a whole character.
    assert_eq!(stats.partial_character_tokens, 130);
    assert_eq!((stats.size, stats.text, stats.special, stats.holes), (283, 277, 6, 0));
    let facts = v.facts();
    assert_eq!((facts.max_token_len, facts.max_closers), (6, 4));
    assert_eq!((facts.max_commas, facts.max_blank), (2, 3));
}

#[test]
fn added_tokens_follow_the_policy() {
    let v = load(PAIRS);
    for marker in ["<think>", "</think>", "[TOOL_CALLS]", "<|im_start|>"] {
        let id = ids_of(&v, marker)[0];
        assert!(v.is_special(id) && !is_text(&v, id), "{marker}");
    }
    for text in ["<p>", "</td>", "\n\n\n", "[note]"] {
        let id = ids_of(&v, text)[0];
        assert!(!v.is_special(id) && is_text(&v, id), "{text}");
    }
    // An added "é" is literal UTF-8 (not the byte E9), so it shares its bytes with the merged one.
    assert_eq!(ids_of(&v, "é").len(), 2);
    assert_eq!(v.trie().tokens_at(v.trie().descend(Trie::ROOT, "é".as_bytes()).unwrap()).len(), 2);
}

#[test]
fn listed_added_tokens_are_text_but_special_ones_never() {
    let v = load(PAIRS);
    let think = ids_of(&v, "<think>")[0];
    let listed = v.with_allowed_tokens(&[think]).unwrap();
    assert!(is_text(&listed, think) && !is_text(&v, think));
    for never in ["<|im_start|>", "<|im_end|>"] {
        let error = v.with_allowed_tokens(&ids_of(&v, never)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Vocabulary, "{never}");
    }
    assert!(v.with_allowed_tokens(&[1 << 23]).is_err());
}

#[test]
fn end_tokens_are_a_set_found_by_name_or_given() {
    let v = load(PAIRS);
    let ends = [ids_of(&v, "<|endoftext|>"), ids_of(&v, "<|im_end|>")].concat();
    assert_eq!(v.end_ids(), ends);
    assert!(v.is_end(ends[0]) && !is_text(&v, ends[0]));
    let other = v.with_end_tokens(&[9, 3, 9]).unwrap();
    assert_eq!(other.end_ids(), [3, 9]);
    assert!(!is_text(&other, 9) && other.is_special(9));
    assert!(other.is_special(ends[0]) && !other.is_end(ends[0]), "what was an end is no text");
    assert_eq!(v.with_end_tokens(&[9999]).unwrap_err().kind(), ErrorKind::Vocabulary);
    let none = v.with_end_tokens(&[]).unwrap();
    assert!(none.require_end().unwrap_err().message().contains("with_end_tokens"));
    assert!(v.require_end().is_ok());
}

#[test]
fn special_tokens_may_stand_verbatim_inside_the_vocabulary() {
    let v = load(STRINGS);
    for id in 0..3 {
        assert!(v.is_special(id) && !is_text(&v, id), "{id}");
    }
    assert_eq!(v.token_bytes(2), Some("<｜lost▁one｜>".as_bytes()));
    assert_eq!(v.end_ids(), [1]);
    assert!(v.is_special(ids_of(&v, "<｜User｜>")[0]));
}

#[test]
fn holes_are_never_text() {
    let v = load(STRINGS);
    let hole = v.len() as u32 - 2;
    assert_eq!(v.token_bytes(hole), None);
    assert!(!is_text(&v, hole) && !v.is_special(hole));
    assert_eq!(v.stats().holes, 1);
}

#[test]
fn merges_may_be_strings_or_pairs() {
    let (pairs, strings) = (load(PAIRS), load(STRINGS));
    for token in ["{\"", "\": \"", "}}]}", "\n  ", " ab"] {
        assert_eq!((ids_of(&pairs, token).len(), ids_of(&strings, token).len()), (1, 1));
    }
}

#[test]
fn sentencepiece_tokens_have_spaces_and_bytes() {
    let v = load(SENTENCEPIECE);
    assert_eq!(v.spellable(), ByteSet::FULL);
    assert_eq!(v.token_bytes(3 + 0xe2), Some(&b"\xe2"[..]));
    // Tokens keep the blank that a decoder would strip from the start of a text.
    assert_eq!(ids_of(&v, " {").len(), 1);
    // In added tokens, too, the character stands for a space.
    assert_eq!(ids_of(&v, "   ").len(), 1);
    assert_eq!(v.facts().max_blank, 3);
    // The character itself can be spelled by its bytes alone.
    assert_eq!(v.greedy("▁".as_bytes()).unwrap(), [3 + 0xe2, 3 + 0x96, 3 + 0x81]);
    assert_eq!(v.end_ids(), [2]);
    assert!(v.is_special(0) && v.is_special(1));
}

#[test]
fn several_ids_may_share_their_bytes() {
    let v = load(SENTENCEPIECE);
    let newlines = ids_of(&v, "\n");
    assert_eq!((newlines.len(), newlines[0]), (2, 3 + 0x0a));
    let node = v.trie().child(Trie::ROOT, b'\n').unwrap();
    assert_eq!(v.trie().tokens_at(node), newlines);
    assert!(newlines.iter().all(|&id| is_text(&v, id)));
    // ASCII characters with a token beside their byte token: all but `é` of the twelve.
    assert_eq!(v.stats().duplicate_byte_strings, 11);
    assert_eq!(v.greedy(b"\n").unwrap(), [newlines[0]]);
}

#[test]
fn added_text_in_sentencepiece_files_is_text() {
    let v = load(SENTENCEPIECE);
    assert!(["\n\n", "<p>", "</p>"].iter().all(|text| is_text(&v, ids_of(&v, text)[0])));
    assert!(["<unused0>", "[INST]"].iter().all(|text| v.is_special(ids_of(&v, text)[0])));
}

#[test]
fn metaspace_decoders_are_read_as_well() {
    let v = load(METASPACE);
    assert_eq!((ids_of(&v, " {").len(), v.end_ids()), (1, &[2][..]));
    assert_eq!(v.spellable(), ByteSet::FULL);
}

#[test]
fn single_bytes_may_be_missing() {
    let v = load(LACKING);
    assert_eq!(v.spellable().len(), 256 - 19);
    assert!(!v.spellable().contains(0x13) && !v.spellable().contains(0xf1));
    let pair = ids_of(&v, b"\x13\x13");
    assert_eq!(v.greedy(b"a\x13\x13").unwrap()[1..], pair);
    let error = v.greedy(b"a\x13b").unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Vocabulary, Some(1)));
    assert_eq!(v.encode("\u{40000}").unwrap_err().offset(), Some(0));
}

#[test]
fn logits_may_be_wider_or_narrower() {
    let v = load(PAIRS);
    let wide = v.with_width(320).unwrap();
    assert_eq!((wide.len(), wide.width()), (283, 320));
    assert!(!is_text(&wide, 300) && wide.token_bytes(300).is_none());
    assert_eq!(wide.with_end_tokens(&[319]).unwrap().end_ids(), [319]);
    let narrow = v.with_end_tokens(&[0]).unwrap().with_width(260).unwrap();
    assert!(is_text(&narrow, 259) && !is_text(&narrow, 260) && v.text_bytes(260).is_some());
    assert_eq!(narrow.stats().text, 259);
    assert_eq!(v.with_width(260).unwrap_err().kind(), ErrorKind::Vocabulary);
    assert!(v.with_width(0).is_err() && v.with_width(usize::MAX).is_err());
}

#[test]
fn other_models_are_an_error_that_names_them() {
    for (file, name) in [(UNIGRAM, "Unigram"), (WORDPIECE, "WordPiece")] {
        let error = Vocabulary::from_huggingface(file).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Vocabulary);
        assert!(error.message().contains(name), "{error}");
    }
}

#[test]
fn broken_files_are_errors() {
    for end in (0..PAIRS.len() - 1).step_by(37) {
        let error = Vocabulary::from_huggingface(&PAIRS[..end]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Vocabulary, "{end}");
    }
    let deep = format!("{{\"decoder\":{}", "[".repeat(100_000));
    let ids = |a: &str, b: &str| {
        format!(r#"{{"decoder":{{"type":"ByteLevel"}},"model":{{"vocab":{{"a":{a},"b":{b}}}}}}}"#)
    };
    assert_eq!(load(ids("0", "5").as_bytes()).len(), 6);
    for text in [
        "[]".to_owned(),
        "{}".to_owned(),
        "{\"model\":{\"vocab\":{}},\"decoder\":{\"type\":\"ByteLevel\"}}".to_owned(),
        deep,
        ids("0", "0"),
        ids("0", "4000000000"),
        ids("0", "-1"),
        ids("0", "99999999999999999999"),
        "{\"model\":{\"vocab\":{\"a\":0}}}".to_owned(),
        "{\"model\":{\"vocab\":{\"a\":0}},\"decoder\":{\"type\":\"CTC\"}}".to_owned(),
        "{\"model\":{\"vocab\":{\"a</w>\":0},\"end_of_word_suffix\":\"</w>\"}}".to_owned(),
    ] {
        let error = Vocabulary::from_huggingface(&text).unwrap_err();
        let start: String = text.chars().take(80).collect();
        assert_eq!(error.kind(), ErrorKind::Vocabulary, "{start}");
    }
}

#[test]
fn files_beside_a_tokenizer_name_ends_and_width() {
    let v = Vocabulary::from_file(fixture("folder")).unwrap();
    let named = ids_of(&v, "<|endoftext|>")[0];
    assert_eq!(v.end_ids(), [3, 4, 5, named]);
    assert_eq!((v.width(), is_text(&v, 4)), (320, false));
    assert!(v.name().ends_with("tokenizer.json"));
    let same = Vocabulary::from_file(fixture("folder/tokenizer.json")).unwrap();
    assert_eq!((same.end_ids(), same.width()), (v.end_ids(), v.width()));
}

#[test]
fn a_file_that_cannot_be_read_is_an_input_error_with_its_path() {
    let error = Vocabulary::from_file(fixture("absent.json")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
    assert!(error.location().unwrap().ends_with("absent.json"));
    let error = Vocabulary::from_file(fixture("make.py")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Vocabulary);
    assert!(error.location().unwrap().ends_with("make.py"));
    let error = Vocabulary::from_file(fixture("unigram.json")).unwrap_err();
    assert!(error.location().unwrap().ends_with("unigram.json"));
}

#[test]
fn without_the_tokenizer_texts_are_cut_greedily() {
    let tokens = [&b"a"[..], b"ab", b"b"].map(<[u8]>::to_vec).to_vec();
    let v = Vocabulary::from_parts(tokens, &[], &[]).unwrap();
    let encoded = v.encode("aab").unwrap();
    assert_eq!((encoded.ids, encoded.exact), (vec![0, 1], false));
}

#[test]
fn encodings_spell_the_text_whatever_it_looks_like() {
    let texts = [
        "{\"a\": \"b\"}",
        " leading and  double blanks\n  ",
        "<|im_start|>x<think></s><s>[TOOL_CALLS][INST]<unk>",
        "e\u{301} \u{fb01} ① é 字 🦀 ▁ \u{0}\u{7f}",
        "",
    ];
    for file in [PAIRS, STRINGS, SENTENCEPIECE, METASPACE] {
        let v = load(file);
        for text in texts {
            let encoded = v.encode(text).unwrap();
            assert_eq!(spelled(&v, &encoded.ids), text.as_bytes(), "{text}");
        }
        let encoded = v.encode(b"a\xff\xe5\xad{").unwrap();
        assert_eq!(spelled(&v, &encoded.ids), b"a\xff\xe5\xad{");
        assert!(!encoded.exact);
    }
}

#[cfg(feature = "hf-tokenizers")]
#[test]
fn the_tokenizers_own_cut_is_kept_where_it_fits() {
    let v = load(PAIRS);
    let plain = v.encode("{\"ab\": \"b\"}").unwrap();
    assert!(plain.exact);
    // The pre-tokenizer keeps `{"` and `ab` apart; merges make single tokens of them.
    assert_eq!(v.token_bytes(plain.ids[0]), Some(&b"{\""[..]));
    // NFC would join the accent to its letter: only that stretch is cut anew.
    let changed = v.encode("ab e\u{301} ab").unwrap();
    assert!(!changed.exact);
    assert_eq!(spelled(&v, &changed.ids), "ab e\u{301} ab".as_bytes());
    // A blank is put before texts; the text itself does not have it.
    let v = load(SENTENCEPIECE);
    let prefixed = v.encode("ab").unwrap();
    assert!(!prefixed.exact);
    assert_eq!(spelled(&v, &prefixed.ids), b"ab");
}

#[test]
fn clones_share_and_are_sent_between_threads() {
    fn shared<T: Clone + Send + Sync + 'static>(_: &T) {}
    let v = Vocabulary::bytes();
    shared(&v);
    assert!(v.is_same(&v.clone()) && !v.is_same(&Vocabulary::bytes()));
    assert_eq!(v.blanks().blanks_up_to(1), [9, 10, 13, 32]);
}

/// Real tokenizers keep the bytes of ordinary text, and cut it as the embedded ones do.
#[cfg(feature = "hf-tokenizers")]
#[test]
fn real_tokenizers_cut_ordinary_text_themselves() {
    let Some(folder) = std::env::var_os("TOKENMASK_VOCABS").map(PathBuf::from) else {
        eprintln!("skipped: TOKENMASK_VOCABS names no folder of tokenizer files");
        return;
    };
    let text =
        "{\n  \"name\": \"Zoë 字 🦀\", \"n\": [1234567, -0.5e10, true],\t\"x\": \"\\u00e9\"}\n";
    let special = "a <|im_end|><eos> <think>b</think>";
    for file in ["llama3.1", "qwen3", "deepseek_v3", "gpt-oss", "gemma3"] {
        let v = Vocabulary::from_file(folder.join(file)).unwrap();
        let encoded = v.encode(text).unwrap();
        assert!(encoded.exact, "{file}");
        assert_eq!(spelled(&v, &encoded.ids), text.as_bytes(), "{file}");
        let looks_special = v.encode(special).unwrap();
        assert_eq!(spelled(&v, &looks_special.ids), special.as_bytes(), "{file}");
    }
}

/// Real files against the embedded vocabularies of the same models, byte for byte.
#[cfg(feature = "builtin-vocabularies")]
#[test]
fn real_files_equal_the_embedded_vocabularies() {
    let Some(folder) = std::env::var_os("TOKENMASK_VOCABS").map(PathBuf::from) else {
        eprintln!("skipped: TOKENMASK_VOCABS names no folder of tokenizer files");
        return;
    };
    let cases: [(&str, &str, &[u32]); 4] = [
        ("llama3.1", "llama3", &[128_001, 128_008, 128_009]),
        ("qwen3", "qwen2", &[151_643, 151_645]),
        ("deepseek_v3", "deepseek_v3", &[1]),
        ("gpt-oss", "o200k", &[199_999, 200_002, 200_007, 200_012]),
    ];
    for (file, name, end_ids) in cases {
        let read = Vocabulary::from_file(folder.join(file)).unwrap();
        let builtin = Vocabulary::builtin(name).unwrap();
        assert_eq!(read.end_ids(), end_ids, "{file}");
        assert!(read.len() >= builtin.len(), "{file}");
        for id in 0..builtin.len() as u32 {
            assert_eq!(read.text_bytes(id), builtin.text_bytes(id), "{file}: token {id}");
            let (a, b) = (&read.0.parts.classes, &builtin.0.parts.classes);
            assert_eq!(a[id as usize], b[id as usize], "{file}: token {id}");
        }
        assert_eq!(read.stats().trie_nodes, builtin.stats().trie_nodes, "{file}");
    }
    let gemma = Vocabulary::from_file(folder.join("gemma3")).unwrap();
    assert_eq!(gemma.end_ids(), [1, 106]);
    let narrow = gemma.with_width(262_144).unwrap().stats();
    assert_eq!((narrow.size, narrow.longest, narrow.spellable_bytes), (262_145, 48, 256));
    assert_eq!(narrow.duplicate_byte_strings, 110);
}
