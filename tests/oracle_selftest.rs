mod oracle;
use oracle::*;

#[test]
fn first() {
    let o = Oracle::new(r#"{"type":"integer"}"#, OraclePolicy::default()).unwrap();
    assert_eq!(o.accepts(b"12"), Ok(()));
    assert_eq!(o.accepts(b"-0"), Err(1));
}
