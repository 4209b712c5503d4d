//! URI references: splitting, resolution against a base (RFC 3986 section 5.2), percent decoding.

/// The parts of a URI reference before its fragment.
struct Parts<'a> {
    scheme: Option<&'a str>,
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
}

impl<'a> Parts<'a> {
    fn of(reference: &'a str) -> Self {
        let (scheme, rest) = split_scheme(reference);
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        match rest.strip_prefix("//") {
            Some(after) => {
                let end = after.find('/').unwrap_or(after.len());
                Parts { scheme, authority: Some(&after[..end]), path: &after[end..], query }
            }
            None => Parts { scheme, authority: None, path: rest, query },
        }
    }

    fn join(&self, path: &str) -> String {
        let mut uri = String::new();
        if let Some(scheme) = self.scheme {
            uri.push_str(scheme);
            uri.push(':');
        }
        if let Some(authority) = self.authority {
            uri.push_str("//");
            uri.push_str(authority);
        }
        uri.push_str(path);
        if let Some(query) = self.query {
            uri.push('?');
            uri.push_str(query);
        }
        uri
    }
}

fn split_scheme(reference: &str) -> (Option<&str>, &str) {
    match reference.split_once(':') {
        Some((scheme, rest))
            if scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b)) =>
        {
            (Some(scheme), rest)
        }
        _ => (None, reference),
    }
}

/// Splits off the fragment; `None` where there is no `#`.
pub(super) fn split_fragment(reference: &str) -> (&str, Option<&str>) {
    match reference.split_once('#') {
        Some((uri, fragment)) => (uri, Some(fragment)),
        None => (reference, None),
    }
}

/// Resolves `reference` against `base`, both without fragments. The base may be relative or empty:
/// then the result is relative too.
pub(super) fn resolve(base: &str, reference: &str) -> String {
    if reference.is_empty() {
        return base.to_owned();
    }
    let (base, given) = (Parts::of(base), Parts::of(reference));
    if given.scheme.is_some() {
        return given.join(&without_dots(given.path, given.authority.is_some()));
    }
    if given.authority.is_some() {
        let parts = Parts { scheme: base.scheme, ..given };
        return parts.join(&without_dots(parts.path, true));
    }
    let parts = Parts { scheme: base.scheme, authority: base.authority, ..given };
    if given.path.is_empty() {
        return parts.join(base.path);
    }
    let path = if given.path.starts_with('/') {
        given.path.to_owned()
    } else if base.authority.is_some() && base.path.is_empty() {
        format!("/{}", given.path)
    } else {
        let folder = base.path.rfind('/').map_or("", |slash| &base.path[..=slash]);
        format!("{folder}{}", given.path)
    };
    parts.join(&without_dots(&path, parts.authority.is_some()))
}

/// Removes `.` and `..` segments. A relative path stays relative. Paths without a slash that are
/// not below an authority (`urn:…`) are left alone.
fn without_dots(path: &str, has_authority: bool) -> String {
    if !path.contains("./") && !path.ends_with('.') {
        return path.to_owned();
    }
    if !has_authority && !path.contains('/') && path != "." && path != ".." {
        return path.to_owned();
    }
    let (root, relative) = match path.strip_prefix('/') {
        Some(rest) => ("/", rest),
        None => ("", path),
    };
    let mut segments: Vec<&str> = vec![];
    let mut ends_in_folder = false;
    for segment in relative.split('/') {
        ends_in_folder = matches!(segment, "." | "..");
        match segment {
            "." => {}
            ".." => {
                segments.pop();
            }
            _ => segments.push(segment),
        }
    }
    if ends_in_folder && !segments.is_empty() {
        segments.push("");
    }
    format!("{root}{}", segments.join("/"))
}

/// Decodes `%xx`; `None` where the bytes are no UTF-8. A `%` without two digits stands for itself.
pub(super) fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let digit = |at: usize| tail.get(at).and_then(|&b| char::from(b).to_digit(16));
        if first == b'%'
            && let (Some(high), Some(low)) = (digit(0), digit(1))
        {
            bytes.push((high * 16 + low) as u8);
            rest = &tail[2..];
        } else {
            bytes.push(first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_standard_hold() {
        // RFC 3986 sections 5.4.1 and 5.4.2, without fragments.
        let base = "http://a/b/c/d;p?q";
        for (reference, target) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            ("..g", "http://a/b/c/..g"),
            ("./../g", "http://a/b/g"),
            ("g/./h", "http://a/b/c/g/h"),
            ("g/../h", "http://a/b/c/h"),
            ("http:g", "http:g"),
        ] {
            assert_eq!(resolve(base, reference), target, "{reference}");
        }
    }

    #[test]
    fn relative_bases_stay_relative() {
        assert_eq!(resolve("", "a.json"), "a.json");
        assert_eq!(resolve("x/y.json", "a.json"), "x/a.json");
        assert_eq!(resolve("x/y.json", "../a.json"), "a.json");
        assert_eq!(resolve("", "./a.json"), "a.json");
        assert_eq!(resolve("http://a", "b"), "http://a/b");
        assert_eq!(resolve("urn:uuid:1-2", ""), "urn:uuid:1-2");
        assert_eq!(resolve("", "urn:x:a.b."), "urn:x:a.b.");
    }

    #[test]
    fn fragments_are_split_and_decoded() {
        assert_eq!(split_fragment("a#b#c"), ("a", Some("b#c")));
        assert_eq!(split_fragment("a"), ("a", None));
        assert_eq!(percent_decode("a%25b%C3%A9%zz%").as_deref(), Some("a%bé%zz%"));
        assert_eq!(percent_decode("%ff"), None);
        let scheme = |uri| split_scheme(uri).0;
        assert_eq!((scheme("urn:x"), scheme("a/b:c"), scheme("1a:b")), (Some("urn"), None, None));
    }
}
