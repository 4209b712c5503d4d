//! Which added tokens are text.
//!
//! "Added" is neither "special" nor "never text": tokenizers add runs of blanks and HTML tags that
//! models write in ordinary strings, and also markers like `<think>` that only steer the model,
//! without calling them special. Their bytes alone do not tell them apart, so their shape decides,
//! and the caller may overrule it.

use super::tokens::TokenClass;

/// The class of an added token: `special` ones are never text, markers by their shape neither.
pub(crate) fn added_token(content: &str, special: bool) -> TokenClass {
    if special {
        TokenClass::Special
    } else if is_marker(content) {
        TokenClass::Control
    } else {
        TokenClass::Text
    }
}

/// Whether a text has the shape of a marker: `[TOOL_CALLS]`, or `<…>` but no tag of HTML.
fn is_marker(content: &str) -> bool {
    let inside = |open, close| {
        content.strip_prefix(open)?.strip_suffix(close).filter(|inner: &&str| !inner.is_empty())
    };
    if let Some(inner) = inside('[', ']') {
        let name = inner.strip_prefix('/').unwrap_or(inner);
        return name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
            && name
                .chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || "_- ".contains(c));
    }
    inside('<', '>').is_some_and(|inner| !is_html_tag(inner))
}

/// Whether `<inner>` is a plain tag of an HTML element: `p`, `/p`, `br/` or `br /`.
fn is_html_tag(inner: &str) -> bool {
    let name = match inner.strip_prefix('/') {
        Some(closed) => closed,
        None => inner.strip_suffix('/').unwrap_or(inner).trim_end_matches(' '),
    };
    HTML_ELEMENTS.iter().any(|element| element.eq_ignore_ascii_case(name))
}

/// The elements of HTML, with those that older texts still use.
#[rustfmt::skip]
const HTML_ELEMENTS: &[&str] = &[
    "a", "abbr", "acronym", "address", "area", "article", "aside", "audio", "b", "base", "bdi",
    "bdo", "big", "blockquote", "body", "br", "button", "canvas", "caption", "center", "cite",
    "code", "col", "colgroup", "data", "datalist", "dd", "del", "details", "dfn", "dialog", "dir",
    "div", "dl", "dt", "em", "embed", "fieldset", "figcaption", "figure", "font", "footer", "form",
    "frame", "frameset", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hgroup", "hr",
    "html", "i", "iframe", "img", "input", "ins", "kbd", "label", "legend", "li", "link", "main",
    "map", "mark", "marquee", "menu", "meta", "meter", "nav", "nobr", "noframes", "noscript",
    "object", "ol", "optgroup", "option", "output", "p", "param", "picture", "pre", "progress",
    "q", "rp", "rt", "ruby", "s", "samp", "script", "search", "section", "select", "slot", "small",
    "source", "span", "strike", "strong", "style", "sub", "summary", "sup", "svg", "table",
    "tbody", "td", "template", "textarea", "tfoot", "th", "thead", "time", "title", "tr", "track",
    "tt", "u", "ul", "var", "video", "wbr",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_is_never_text() {
        assert_eq!(added_token("\n\n", true), TokenClass::Special);
        assert_eq!(added_token("<p>", true), TokenClass::Special);
    }

    #[test]
    fn markers_are_control_tokens() {
        let markers = [
            "<think>",
            "</think>",
            "<tool_call>",
            "<|fim_prefix|>",
            "<｜User｜>",
            "<unused7>",
            "<bbox>",
            "[INST]",
            "[/INST]",
            "[TOOL_CALLS]",
            "[UNUSED_12]",
            "[_]",
            "<!-- -->",
            "<p class>",
            "</br/>",
        ];
        for marker in markers {
            assert_eq!(added_token(marker, false), TokenClass::Control, "{marker}");
        }
    }

    #[test]
    fn other_added_tokens_are_text() {
        let texts = [
            "\n\n\n",
            "▁▁",
            "<p>",
            "</td>",
            "<H1>",
            "<br/>",
            "<br />",
            "<s>",
            "</s>",
            "[]",
            "<>",
            "[1]",
            "[multimodal]",
            "[Note]",
            "<",
            "[",
            "word",
            "é",
            "<p",
            "[A",
            "",
        ];
        for text in texts {
            assert_eq!(added_token(text, false), TokenClass::Text, "{text}");
        }
    }
}
