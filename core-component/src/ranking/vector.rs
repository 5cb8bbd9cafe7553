//! Vectors of texts, as an embedder gives them.

/// The most numbers of a vector.
pub(crate) const MAX_DIMENSION: usize = 4_096;

/// A vector of the length 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Vector(Vec<f32>);

impl Vector {
    /// Scales the numbers of an embedder to the length 1.
    ///
    /// # Errors
    ///
    /// The reason in words, if there are too few or too many numbers, one is not finite, or all are
    /// zero.
    pub fn new(numbers: &[f32]) -> Result<Self, String> {
        if numbers.is_empty() || numbers.len() > MAX_DIMENSION {
            let count = numbers.len();
            return Err(format!("has {count} numbers instead of 1 to {MAX_DIMENSION}"));
        }
        if let Some(at) = numbers.iter().position(|number| !number.is_finite()) {
            return Err(format!("has no finite number at index {at}"));
        }
        let square = |number: &f32| f64::from(*number) * f64::from(*number);
        let squares: f64 = numbers.iter().map(square).sum();
        if squares == 0.0 {
            return Err("has only zeros".to_owned());
        }
        let length = squares.sqrt();
        let scaled = numbers.iter().map(|number| (f64::from(*number) / length) as f32);
        Ok(Self(scaled.collect()))
    }

    /// How many numbers the vector has.
    pub fn dimension(&self) -> usize {
        self.0.len()
    }

    /// The numbers in 32 bits, little-endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// The cosine of the angle to a vector as [`to_bytes`](Self::to_bytes) writes it. `None` if that
    /// vector has another dimension.
    ///
    /// The products are added in one order, so that every host gets the same bits.
    pub fn cosine(&self, stored: &[u8]) -> Option<f64> {
        let (numbers, rest) = stored.as_chunks::<4>();
        if numbers.len() != self.0.len() || !rest.is_empty() {
            return None;
        }
        let products = self.0.iter().zip(numbers);
        let product = |(one, other): (&f32, &[u8; 4])| {
            f64::from(*one) * f64::from(f32::from_le_bytes(*other))
        };
        Some(products.map(product).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cosine_is_that_of_the_angle_whatever_the_lengths() {
        let cosine = |one: &[f32], other: &[f32]| {
            let other = Vector::new(other).expect("a vector").to_bytes();
            Vector::new(one).expect("a vector").cosine(&other)
        };
        assert_eq!(cosine(&[2.0, 0.0], &[9.0, 0.0]), Some(1.0));
        assert_eq!(cosine(&[1.0, 0.0], &[0.0, 5.0]), Some(0.0));
        assert_eq!(cosine(&[0.0, 1.0], &[0.0, -7.0]), Some(-1.0));
        let of_45_degrees = cosine(&[1.0, 1.0], &[1.0, 0.0]).expect("a cosine");
        assert!((of_45_degrees - 0.5_f64.sqrt()).abs() < 1e-7, "{of_45_degrees}");
        assert_eq!(cosine(&[1.0, 0.0], &[1.0, 0.0, 0.0]), None);
        assert_eq!(Vector::new(&[1.0]).expect("a vector").cosine(&[0, 0, 128, 63, 0]), None);
    }

    #[test]
    fn numbers_that_are_no_direction_are_refused() {
        for (numbers, reason) in [
            (vec![], "has 0 numbers instead of 1 to 4096"),
            (vec![1.0; 4_097], "has 4097 numbers instead of 1 to 4096"),
            (vec![1.0, f32::NAN], "has no finite number at index 1"),
            (vec![f32::INFINITY], "has no finite number at index 0"),
            (vec![0.0, -0.0], "has only zeros"),
        ] {
            assert_eq!(Vector::new(&numbers), Err(reason.to_owned()));
        }
        assert!(Vector::new(&[f32::MAX, f32::MIN_POSITIVE]).is_ok());
        assert!(Vector::new(&vec![1.0; 4_096]).is_ok());
    }
}
