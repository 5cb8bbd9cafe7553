//! Numbers as bytes (LEB128): seven bits in each byte, the lowest first. The highest bit of a byte says
//! that another byte follows.

/// Appends a number.
pub(super) fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends a signed number in zigzag form, so that numbers near zero are short.
pub(super) fn put_signed(bytes: &mut Vec<u8>, number: i64) {
    put(bytes, ((number << 1) ^ (number >> 63)) as u64);
}

/// Bytes from which the numbers are read that [`put`] wrote. Each function returns `None` if the bytes
/// end early or have another form.
pub(super) struct Codes<'b>(pub &'b [u8]);

impl Codes<'_> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    pub fn small(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    pub fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        let numbers = [0, 1, -1, 63, -64, 64, 1 << 40, -(1 << 40), i64::MAX, i64::MIN];
        let mut bytes = Vec::new();
        for number in numbers {
            put_signed(&mut bytes, number);
            put(&mut bytes, number as u64);
        }
        let mut codes = Codes(&bytes);
        for number in numbers {
            assert_eq!(codes.signed(), Some(number));
            assert_eq!(codes.number(), Some(number as u64));
        }
        assert!(codes.is_empty());
        assert_eq!(codes.number(), None);
    }

    #[test]
    fn other_bytes_are_no_number() {
        assert_eq!(Codes(&[0x80]).number(), None);
        assert_eq!(Codes(&[0xff; 11]).number(), None);
        assert_eq!(Codes(&[0xff, 0xff, 0xff, 0xff, 0x7f]).small(), None);
    }
}
