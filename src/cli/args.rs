//! The arguments, and the options and vocabularies that they name.

use super::exit::Failure;
use super::source;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use std::path::Path;
use tokenmask::{
    Content, Dialect, Escapes, Formats, Margin, Numbers, Objects, Options, Order, SurfacePolicy,
    Vocabulary, Whitespace,
};

/// Compile a JSON Schema into token masks, sample through them, and see what they enforce.
#[derive(Debug, Parser)]
#[command(
    name = "tokenmask",
    version,
    after_help = "Exit codes: 0 yes, 1 no, 2 error. Data goes to standard output, talk to standard error."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Sample documents through the masks, without a model; one a line.
    ///
    /// A raw line break can only be whitespace between the tokens of JSON: it is printed as a space.
    Generate(Generate),
    /// Show where each keyword of a schema is enforced.
    Explain(Explain),
    /// Feed texts through the masks, token by token.
    Accepts(Accepts),
    /// Show which tokens may come after a prefix.
    Mask(Mask),
    /// Describe a vocabulary.
    Vocab(Vocab),
}

impl Verb {
    /// Whether the run was asked for JSON.
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            Verb::Generate(_) => false,
            Verb::Explain(verb) => verb.json,
            Verb::Accepts(verb) => verb.json,
            Verb::Mask(verb) => verb.json,
            Verb::Vocab(verb) => verb.json,
        }
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Generate {
    /// The schema's file, or `-`.
    pub(crate) schema: String,
    /// How many documents.
    #[arg(short = 'n', long = "count", value_name = "N", default_value_t = 5)]
    pub(crate) count: usize,
    /// The same seed gives the same documents.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// A document takes at most so many tokens (without `--wild`).
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub(crate) max_tokens: usize,
    /// Draw uniformly over allowed tokens for 200 tokens, then finish: looks for dead ends.
    /// Raw line breaks are printed as spaces, so that each document stays on its line.
    #[arg(long)]
    pub(crate) wild: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Explain {
    /// The schema's file, or `-`.
    pub(crate) schema: String,
    /// The report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Exit 1 also where there is a finding.
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Accepts {
    /// The schema's file, or `-`.
    pub(crate) schema: String,
    /// The document's file, or `-`.
    #[arg(default_value = "-")]
    pub(crate) file: String,
    /// Each line is one document.
    #[arg(long)]
    pub(crate) lines: bool,
    /// One JSON object a document: `accepted`, and where refused `offset`, `token`, `reason`.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Mask {
    /// The schema's file, or `-`.
    pub(crate) schema: String,
    /// The document so far: text, or `hex:` and hexadecimal bytes (`text:` escapes that).
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) prefix: String,
    /// Ask whether this text may come next; repeatable.
    #[arg(long = "try", value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) tries: Vec<String>,
    /// The mask as JSON: `tokens` (the ids, end tokens among them), `end`, `forced`, `forced_hex`,
    /// `try`.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Vocab {
    /// A built-in name, a `tokenizer.json` file, or `bytes`.
    pub(crate) spec: Option<String>,
    /// The figures as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// What all verbs take.
#[derive(Debug, ClapArgs)]
pub(crate) struct Common {
    /// A built-in name, a `tokenizer.json` file, or `bytes`.
    #[arg(long, value_name = "NAME|FILE|bytes", default_value = "llama3")]
    pub(crate) vocab: String,
    /// In which order the names of an object stand.
    #[arg(long, value_enum, default_value_t = OrderArg::Declared)]
    order: OrderArg,
    /// `compact`, `spaced`, `flexible`, or the longest run in bytes.
    #[arg(long, value_name = "compact|spaced|flexible|N", default_value = "flexible", value_parser = whitespace)]
    whitespace: Whitespace,
    /// Whitespace before and after the value.
    #[arg(long, value_enum, default_value_t = MarginArg::None)]
    margin: MarginArg,
    /// How numbers are spelled: `any` takes `1.0` and `1e2` for integers.
    #[arg(long, value_enum, default_value_t = NumbersArg::Plain)]
    numbers: NumbersArg,
    /// Which string escapes are allowed.
    #[arg(long, value_enum, default_value_t = EscapesArg::All)]
    escapes: EscapesArg,
    /// Whether undeclared keys may come where the schema does not say.
    #[arg(long, value_enum, default_value_t = ObjectsArg::Open)]
    objects: ObjectsArg,
    /// Which formats are enforced.
    #[arg(long, value_enum, default_value_t = FormatsArg::Enforce)]
    formats: FormatsArg,
    /// Whether `contentEncoding` and `contentMediaType` are enforced.
    #[arg(long, value_enum, default_value_t = ContentArg::Annotate)]
    content: ContentArg,
    /// The dialect of schemas without `$schema`.
    #[arg(long, value_enum)]
    dialect: Option<DialectArg>,
    /// A document that `$ref` may name; split at the first `=`; repeatable.
    #[arg(long = "document", value_name = "URI=FILE")]
    documents: Vec<String>,
}

impl Common {
    /// The options; reads the registered documents.
    pub(crate) fn options(&self) -> Result<Options, Failure> {
        let mut options = Options {
            policy: SurfacePolicy {
                whitespace: self.whitespace,
                margin: self.margin.into(),
                order: self.order.into(),
                objects: self.objects.into(),
                numbers: self.numbers.into(),
                escapes: self.escapes.into(),
            },
            dialect: self.dialect.map(Dialect::from),
            formats: self.formats.into(),
            content: self.content.into(),
            ..Options::default()
        };
        for document in &self.documents {
            let Some((uri, file)) = document.split_once('=') else {
                return Err(Failure::Usage(format!("--document takes URI=FILE, not `{document}`")));
            };
            options = options.document(uri, source::read_text(file)?);
        }
        Ok(options)
    }

    /// The vocabulary of `--vocab`.
    pub(crate) fn vocabulary(&self) -> Result<Vocabulary, Failure> {
        vocabulary(&self.vocab)
    }
}

/// The vocabulary that `spec` names: `bytes`, a built-in name, else a file.
pub(crate) fn vocabulary(spec: &str) -> Result<Vocabulary, Failure> {
    if spec == "bytes" {
        return Ok(Vocabulary::bytes());
    }
    if Vocabulary::builtin_names().any(|name| name == spec) {
        return Ok(Vocabulary::builtin(spec)?);
    }
    if !Path::new(spec).exists() {
        let names = Vocabulary::builtin_names().collect::<Vec<_>>().join(", ");
        return Err(Failure::Usage(format!(
            "`{spec}` is neither a file nor a vocabulary; built in are bytes, {names}"
        )));
    }
    Ok(Vocabulary::from_file(Path::new(spec))?)
}

fn whitespace(text: &str) -> Result<Whitespace, String> {
    match text {
        "compact" => Ok(Whitespace::Compact),
        "spaced" => Ok(Whitespace::Spaced),
        "flexible" => Ok(Whitespace::Flexible),
        _ => text
            .parse()
            .map(Whitespace::Bounded)
            .map_err(|_| "takes compact, spaced, flexible or a number of bytes".to_owned()),
    }
}

/// An argument's values, each with the setting of the library that it names.
macro_rules! settings {
    ($name:ident => $setting:ident { $($value:ident $(= $text:literal)? => $target:ident),+ $(,)? }) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
        pub(crate) enum $name {
            $($(#[value(name = $text)])? $value,)+
        }

        impl From<$name> for $setting {
            fn from(value: $name) -> $setting {
                match value {
                    $($name::$value => $setting::$target,)+
                }
            }
        }
    };
}

settings!(OrderArg => Order { Declared => Declared, Any => Any });
settings!(MarginArg => Margin { None => None, Lead => Lead, Both => Both });
settings!(NumbersArg => Numbers { Plain => Plain, Any => Any });
settings!(EscapesArg => Escapes { All => All, Minimal => Minimal });
settings!(ObjectsArg => Objects { Open => Open, Closed => Closed });
settings!(FormatsArg => Formats { Enforce => Enforce, Standard => Standard, Annotate => Annotate });
settings!(ContentArg => Content { Annotate => Annotate, Enforce => Enforce });
settings!(DialectArg => Dialect {
    OpenApi30 = "openapi-3.0" => OpenApi30,
    Draft4 = "4" => Draft4,
    Draft6 = "6" => Draft6,
    Draft7 = "7" => Draft7,
    Draft201909 = "2019-09" => Draft201909,
    Draft202012 = "2020-12" => Draft202012,
});

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn common(arguments: &[&str]) -> Common {
        let arguments = ["tokenmask", "explain", "-"].iter().chain(arguments);
        match Args::try_parse_from(arguments).unwrap().verb {
            Verb::Explain(verb) => verb.common,
            _ => unreachable!("the verb is explain"),
        }
    }

    #[test]
    fn the_arguments_are_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn defaults_are_the_library_s() {
        let options = common(&[]).options().unwrap();
        assert_eq!(options.policy, SurfacePolicy::default());
        assert_eq!(options.dialect, None);
        assert_eq!(options.formats, Formats::default());
    }

    #[test]
    fn settings_reach_the_options() {
        let arguments = "--order any --whitespace 8 --margin both --numbers any --escapes minimal \
             --objects closed --formats annotate --content enforce --dialect 2019-09";
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        let options = common(&arguments).options().unwrap();
        assert_eq!(options.policy.whitespace, Whitespace::Bounded(8));
        assert_eq!(options.policy.margin, Margin::Both);
        assert_eq!(options.policy.objects, Objects::Closed);
        assert_eq!(options.content, Content::Enforce);
        assert_eq!(options.dialect, Some(Dialect::Draft201909));
        let options = common(&["--dialect", "openapi-3.0"]).options().unwrap();
        assert_eq!(options.dialect, Some(Dialect::OpenApi30));
        assert!(Args::try_parse_from(["tokenmask", "explain", "-", "--whitespace", "x"]).is_err());
    }

    #[test]
    fn documents_are_split_at_the_first_equals_sign() {
        assert!(matches!(common(&["--document", "x"]).options(), Err(Failure::Usage(_))));
        let failure = common(&["--document", "u:a=no/such=file"]).options().unwrap_err();
        assert!(matches!(failure, Failure::Input { location, .. } if location == "no/such=file"));
    }
}
