//! Rates and durations of calls that several clients make at the same time.

use std::time::Duration;

use crate::figure::Figure;

/// The rates of several contestants for the same calls. Each is compared with the first within the
/// round.
pub struct Load {
    pub title: String,
    /// How many calls each contestant makes in a round.
    pub calls: usize,
    pub rows: Vec<Rates>,
    /// The aim for the rate of the last contestant, in calls a second, if there is one.
    pub at_least: Option<usize>,
    /// The round trips to the database in a call of the last contestant, and the aim for them. `None`
    /// if they were not counted.
    pub round_trips: Option<(f64, usize)>,
}

/// The rounds of a contestant.
pub struct Rates {
    pub name: String,
    pub rounds: Vec<Round>,
}

/// A round of a contestant.
pub struct Round {
    /// Calls a second.
    pub rate: f64,
    /// How long each call took, in microseconds, from the shortest up.
    times: Vec<f64>,
}

impl Round {
    /// # Panics
    ///
    /// If `times` is empty.
    pub fn from_times(wall: Duration, times: Vec<Duration>) -> Self {
        assert!(!times.is_empty(), "a round has calls");
        let rate = times.len() as f64 / wall.as_secs_f64();
        let mut times: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1e6).collect();
        times.sort_by(f64::total_cmp);
        Self { rate, times }
    }

    /// The time within which `percent` of 100 calls are done.
    fn percentile(&self, percent: usize) -> f64 {
        let rank = (self.times.len() * percent).div_ceil(100);
        self.times[rank.max(1) - 1]
    }
}

impl Rates {
    pub fn rate(&self) -> Figure {
        Figure::from_rounds(self.rounds.iter().map(|round| round.rate).collect())
    }

    /// The 50th, 95th and 99th percentile of the calls, in microseconds.
    pub fn percentiles(&self) -> [Figure; 3] {
        let of = |percent| self.rounds.iter().map(|round| round.percentile(percent)).collect();
        [50, 95, 99].map(|percent| Figure::from_rounds(of(percent)))
    }
}

impl Load {
    pub fn rounds(&self) -> usize {
        self.rows[0].rounds.len()
    }

    /// The ratio of each row's rate to that of the first.
    pub fn ratios(&self) -> Vec<Figure> {
        let first = &self.rows[0].rounds;
        let ratio = |row: &Rates| {
            let rounds = row.rounds.iter().zip(first);
            Figure::from_rounds(rounds.map(|(own, first)| own.rate / first.rate).collect())
        };
        self.rows.iter().map(ratio).collect()
    }

    /// The name and the rate of the last row.
    pub fn last(&self) -> (&str, f64) {
        let last = &self.rows[self.rows.len() - 1];
        (&last.name, last.rate().median)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_of_calls() {
        let times = (1..=200).rev().map(Duration::from_micros).collect();
        let round = Round::from_times(Duration::from_secs(2), times);
        assert_eq!(round.rate, 100.0);
        assert_eq!([50, 95, 99, 100].map(|at| round.percentile(at)), [100.0, 190.0, 198.0, 200.0]);
        let one = Round::from_times(Duration::from_secs(1), vec![Duration::from_micros(7)]);
        assert_eq!([50, 95, 99].map(|at| one.percentile(at)), [7.0, 7.0, 7.0]);
    }
}
