//! The median and spread of several rounds.

use std::fmt;

/// The median, least and greatest of the figures of all rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    pub median: f64,
    pub least: f64,
    pub most: f64,
}

impl Figure {
    /// # Panics
    ///
    /// If there is no round.
    pub fn from_rounds(mut rounds: Vec<f64>) -> Self {
        rounds.sort_by(f64::total_cmp);
        let middle = rounds.len() / 2;
        let median = match rounds.len() % 2 {
            0 => (rounds[middle - 1] + rounds[middle]) / 2.0,
            _ => rounds[middle],
        };
        Self { median, least: rounds[0], most: rounds[rounds.len() - 1] }
    }
}

/// A ratio as text.
impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { median, least, most } = self;
        let digits = digits(*most);
        write!(f, "{median:.digits$} ({least:.digits$} to {most:.digits$})")
    }
}

/// A time as text with three digits, in microseconds or milliseconds.
pub fn time(microseconds: f64) -> String {
    let (value, unit) = match microseconds {
        short if short < 999.5 => (short, "µs"),
        long => (long / 1e3, "ms"),
    };
    let digits = digits(value);
    format!("{value:.digits$} {unit}")
}

/// The number of decimals with which a number has three digits.
fn digits(value: f64) -> usize {
    match value {
        small if small < 9.995 => 2,
        middle if middle < 99.95 => 1,
        _ => 0,
    }
}

/// A number with separators between thousands.
pub fn thousands(number: usize) -> String {
    match number / 1000 {
        0 => number.to_string(),
        more => format!("{},{:03}", thousands(more), number % 1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle_of_an_odd_and_of_an_even_number_of_rounds() {
        assert_eq!(Figure::from_rounds(vec![3.0, 1.0, 2.0]).to_string(), "2.00 (1.00 to 3.00)");
        assert_eq!(Figure::from_rounds(vec![4.0, 1.0, 2.0, 30.0]).to_string(), "3.0 (1.0 to 30.0)");
        assert_eq!(Figure::from_rounds(vec![80.0, 110.4]).to_string(), "95 (80 to 110)");
    }

    #[test]
    fn a_time_has_three_digits() {
        let shown = [0.5, 9.994, 9.996, 99.94, 999.4, 999.6, 12_345.0].map(time);
        let three = ["0.50 µs", "9.99 µs", "10.0 µs", "99.9 µs", "999 µs", "1.00 ms", "12.3 ms"];
        assert_eq!(shown, three);
    }
}
