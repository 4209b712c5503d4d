pub(crate) mod json;
mod json_read;
