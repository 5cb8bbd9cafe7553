//! Values of rows and of parameters.

use std::error::Error;

use agent_memory_storage::database::Value;
use tokio_postgres::types::{FromSql, Type};

use super::query::Parameter;

type Refused = Box<dyn Error + Sync + Send>;

/// A value as a parameter. The server infers the type of null. NaN is sent as null.
pub(crate) fn parameter(value: &Value) -> Parameter {
    match value {
        Value::Integer(value) => Parameter::new(*value, Type::INT8),
        Value::Real(value) if !value.is_nan() => Parameter::new(*value, Type::FLOAT8),
        Value::Null | Value::Real(_) => Parameter::new(None::<String>, Type::UNKNOWN),
        Value::Text(value) => Parameter::text(value.as_str()),
        Value::Blob(value) => Parameter::new(value.clone(), Type::BYTEA),
    }
}

/// A value of a column.
pub(crate) struct Column(pub Value);

impl<'a> FromSql<'a> for Column {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, Refused> {
        Ok(Column(match *kind {
            Type::INT2 => Value::Integer(i16::from_sql(kind, raw)?.into()),
            Type::INT4 => Value::Integer(i32::from_sql(kind, raw)?.into()),
            Type::INT8 => Value::Integer(i64::from_sql(kind, raw)?),
            Type::BOOL => Value::Integer(bool::from_sql(kind, raw)?.into()),
            Type::FLOAT4 => real(f32::from_sql(kind, raw)?.into()),
            Type::FLOAT8 => real(f64::from_sql(kind, raw)?),
            Type::NUMERIC => numeric(raw).ok_or("a number that is not known")?,
            Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN => {
                Value::Text(str::from_utf8(raw)?.to_owned())
            }
            Type::BYTEA => Value::Blob(raw.to_owned()),
            _ => return Err(format!("no value of SQL has the type `{kind}`").into()),
        }))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Refused> {
        Ok(Column(Value::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

fn real(value: f64) -> Value {
    if value.is_nan() { Value::Null } else { Value::Real(value) }
}

/// Decodes a `numeric` of PostgreSQL's binary protocol, which has digits to the base of 10,000. A whole
/// number becomes an integer, or a real if it is too large. `None` for NaN, infinity, and bytes of
/// another form.
fn numeric(raw: &[u8]) -> Option<Value> {
    let mut words = raw.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
    let count = words.next()?;
    let weight = words.next()?.cast_signed();
    let sign = match words.next()? {
        0x0000 => "",
        0x4000 => "-",
        _ => return None,
    };
    words.next()?;
    let digits: String = words.take(count.into()).map(|word| format!("{word:04}")).collect();
    // The number of decimal digits before the decimal point, from the weight of the first digit.
    let whole = 4 * (i32::from(weight) + 1);
    let is_whole = digits.bytes().skip(whole.max(0) as usize).all(|digit| digit == b'0');
    let exponent = whole - digits.len() as i32;
    let integer = || {
        let whole = whole.max(0) as usize;
        format!("{sign}0{digits:0<whole$.whole$}").parse().ok().map(Value::Integer)
    };
    let real = || format!("{sign}0{digits}e{exponent}").parse().ok().map(Value::Real);
    is_whole.then(integer).flatten().or_else(real)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(weight: i16, sign: u16, digits: &[u16]) -> Vec<u8> {
        let head = [digits.len() as u16, weight.cast_unsigned(), sign, 0];
        head.iter().chain(digits).flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn a_numeric_is_an_integer_if_it_is_whole() {
        let read = |weight, sign, digits: &[u16]| numeric(&encoded(weight, sign, digits));
        assert_eq!(read(0, 0, &[]), Some(Value::Integer(0)));
        assert_eq!(read(0, 0, &[7]), Some(Value::Integer(7)));
        assert_eq!(read(1, 0x4000, &[1, 2345]), Some(Value::Integer(-12_345)));
        assert_eq!(read(2, 0, &[5]), Some(Value::Integer(500_000_000)));
        assert_eq!(read(0, 0, &[1, 5000]), Some(Value::Real(1.5)));
        assert_eq!(read(-1, 0x4000, &[2500]), Some(Value::Real(-0.25)));
        assert_eq!(read(4, 0, &[922, 3372, 368, 5477, 5807]), Some(Value::Integer(i64::MAX)));
        let larger = Some(Value::Real(9_223_372_036_854_775_808.0));
        assert_eq!(read(4, 0, &[922, 3372, 368, 5477, 5808]), larger);
        assert_eq!(read(0, 0xc000, &[]), None);
        // A fraction becomes the nearest floating-point number, as in SQLite.
        assert_eq!(read(-1, 0, &[3]), Some(Value::Real(0.000_3)));
        assert_eq!(read(-2, 0, &[5000]), Some(Value::Real(0.000_05)));
        assert_eq!(read(0, 0, &[7, 1234, 5678]), Some(Value::Real(7.123_456_78)));
    }
}
