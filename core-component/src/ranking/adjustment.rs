//! The part of a score that does not come from the words of an entry.

use super::constants::{ASKED_DAY, HALF_AGE, IMPORTANCE, RECENCY};

/// What is known of an entry besides its words.
pub(crate) struct Adjustment {
    /// 1 for a high importance, 0 for a usual one, -1 for a low one.
    pub importance: i8,
    /// The time since the entry's last change, in milliseconds.
    pub age: Option<i64>,
    /// Whether the entry was created or changed on a day that the question asks for.
    pub is_of_asked_day: bool,
}

impl Adjustment {
    /// Returns the adjusted score. The adjustments weigh little, so that they only decide between
    /// similar scores.
    pub fn apply(&self, score: f64) -> f64 {
        let importance = 1.0 + IMPORTANCE * f64::from(self.importance);
        let recency = self.age.map_or(0.0, |age| {
            let days = age.max(0) as f64 / 86_400_000.0;
            RECENCY * HALF_AGE / (HALF_AGE + days)
        });
        let asked_day = if self.is_of_asked_day { ASKED_DAY } else { 0.0 };
        score * importance * (1.0 + recency + asked_day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Adjustment = Adjustment { importance: 0, age: None, is_of_asked_day: false };
    const DAY: i64 = 86_400_000;

    #[test]
    fn importance_a_recent_change_and_an_asked_day_raise_a_score_a_little() {
        assert_eq!(USUAL.apply(2.0), 2.0);
        let of = |adjustment: Adjustment| adjustment.apply(1.0);
        let high = of(Adjustment { importance: 1, ..USUAL });
        let low = of(Adjustment { importance: -1, ..USUAL });
        assert!(1.0 < high && high < 1.1 && 0.9 < low && low < 1.0, "{high} {low}");
        let now = of(Adjustment { age: Some(0), ..USUAL });
        let later = of(Adjustment { age: Some(30 * DAY), ..USUAL });
        let old = of(Adjustment { age: Some(3_000 * DAY), ..USUAL });
        assert!(1.1 > now && now > later && later > old && old > 1.0, "{now} {later} {old}");
        let asked = of(Adjustment { is_of_asked_day: true, ..USUAL });
        assert!(asked > now && asked < 1.2, "{asked}");
    }

    #[test]
    fn a_change_in_the_future_counts_as_one_of_now() {
        let of = |age| Adjustment { age: Some(age), ..USUAL }.apply(1.0);
        assert_eq!(of(-DAY), of(0));
    }
}
