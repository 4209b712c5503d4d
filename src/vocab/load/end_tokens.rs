//! Which tokens end an output, where only their names tell.

use crate::vocab::tokens::TokenClass;

use super::huggingface::AddedToken;

/// What end tokens of text, turn or message are called by the known families of models.
const NAMES: &[&str] = &[
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|eom|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|eos|>",
    "<|end_of_turn|>",
    "<|endofturn|>",
    "<|END_OF_TURN_TOKEN|>",
    "</s>",
    "<eos>",
    "<end_of_turn>",
    "<EOS>",
    "[EOS]",
    "[EOT]",
    "<｜end▁of▁sentence｜>",
];

/// Families whose files call an end token by another name: a token that identifies the family,
/// and the ids of its end tokens.
const FAMILIES: &[(u32, &str, &[u32])] = &[(128_009, "<|eot_id|>", &[128_001, 128_008, 128_009])];

/// The end tokens among the added ones: by well-known names, of which those of text (`</s>` is a
/// tag of HTML as well) count only where no other is found.
pub(super) fn guess(added: &[AddedToken]) -> Vec<u32> {
    let named = |text: bool| -> Vec<u32> {
        let fits = |token: &&AddedToken| {
            (token.class == TokenClass::Text) == text && NAMES.contains(&&*token.content)
        };
        added.iter().filter(fits).map(|token| token.id).collect()
    };
    let mut ids = named(false);
    for &(id, content, family) in FAMILIES {
        if added.iter().any(|token| token.id == id && token.content == content) {
            // Only what the file has as added tokens: a small file may share the name alone.
            ids.extend(family.iter().filter(|&&id| added.iter().any(|token| token.id == id)));
        }
    }
    if ids.is_empty() { named(true) } else { ids }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::policy;

    fn added(tokens: &[(u32, &str, bool)]) -> Vec<AddedToken> {
        let token = |&(id, content, special): &(u32, &str, bool)| AddedToken {
            id,
            content: content.to_owned(),
            class: policy::added_token(content, special),
        };
        tokens.iter().map(token).collect()
    }

    #[test]
    fn well_known_names_end_an_output() {
        let tokens =
            added(&[(7, "<|im_end|>", false), (8, "<|im_start|>", true), (9, "<eos>", true)]);
        assert_eq!(guess(&tokens), [7, 9]);
        assert_eq!(guess(&added(&[(1, "<pad>", true)])), [0; 0]);
    }

    #[test]
    fn a_tag_of_html_is_an_end_token_only_where_nothing_else_is() {
        assert_eq!(guess(&added(&[(1, "<eos>", true), (2, "</s>", false)])), [1]);
        assert_eq!(guess(&added(&[(1, "<pad>", true), (2, "</s>", false)])), [2]);
    }

    #[test]
    fn a_family_is_known_by_its_ids() {
        let tokens = added(&[
            (128_001, "<|end_of_text|>", true),
            (128_008, "<|reserved_special_token_4|>", true),
            (128_009, "<|eot_id|>", true),
        ]);
        let mut ids = guess(&tokens);
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids, [128_001, 128_008, 128_009]);
    }
}
