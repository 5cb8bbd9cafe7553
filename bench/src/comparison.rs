//! Compares programs that make the same calls: the contestants. All take turns in each round. Ratios to
//! the first are taken within a round, so that a change of the machine's speed affects all of them.

use std::io;
use std::time::{Duration, Instant};

use crate::cpu;
use crate::figure::Figure;

/// One way to make the compared calls, such as by the library or by the MCP server.
pub trait Contestant {
    fn name(&self) -> &str;

    /// Prepares the next turn, for example by resetting storage; not measured. Does nothing by default.
    fn prepare(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Makes the calls of one turn.
    fn take_turn(&mut self) -> io::Result<Cost>;
}

/// The times of a turn.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    pub calls: usize,
    pub wall: Duration,
    /// The user and system time of the process that did the work, if the system gives it.
    pub cpu: Option<Duration>,
}

impl Cost {
    /// Measures calls that this process or another one makes.
    pub fn between(
        process: u32,
        calls: usize,
        work: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<Self> {
        let cpu = cpu::of(process);
        let started = Instant::now();
        work()?;
        let wall = started.elapsed();
        let cpu = cpu.and_then(|before| cpu::of(process)?.checked_sub(before));
        Ok(Self { calls, wall, cpu })
    }
}

/// The measured time to which an aim applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    Cpu,
    Wall,
}

/// The highest ratio that a contestant should have. It is printed beside the ratio; a missed aim is
/// not an error.
pub struct Aim {
    pub contestant: &'static str,
    pub quantity: Quantity,
    pub at_most: f64,
}

/// Contestants that make the same calls. The others are compared with the first.
pub struct Comparison {
    /// The calls, and where they store data.
    pub title: String,
    pub contestants: Vec<Box<dyn Contestant>>,
    /// How many turns each contestant takes in a round.
    pub turns: usize,
    pub aims: Vec<Aim>,
    /// The contestants that do not take part, and why.
    pub absent: Vec<String>,
}

impl Comparison {
    /// Runs all rounds, after a warm-up turn of each contestant.
    pub fn run(mut self, rounds: usize) -> io::Result<Measured> {
        for contestant in &mut self.contestants {
            contestant.prepare()?;
            contestant.take_turn()?;
        }
        let mut measured: Vec<Vec<Round>> = vec![Vec::new(); self.contestants.len()];
        for _ in 0..rounds {
            let mut turns: Vec<Vec<Cost>> = vec![Vec::new(); self.contestants.len()];
            for _ in 0..self.turns {
                for (contestant, costs) in self.contestants.iter_mut().zip(&mut turns) {
                    contestant.prepare()?;
                    costs.push(contestant.take_turn()?);
                }
            }
            for (costs, rounds) in turns.iter().zip(&mut measured) {
                rounds.push(Round::from_costs(costs));
            }
        }
        let calls = measured[0][0].calls;
        let rows: Vec<Row> = self
            .contestants
            .iter()
            .zip(&measured)
            .map(|(contestant, own)| Row::new(contestant.name(), own, &measured[0]))
            .collect();
        let aimed = self.aims.iter().filter_map(|aim| Aimed::new(aim, &rows)).collect();
        let Self { title, absent, .. } = self;
        Ok(Measured { title, rounds, calls, rows, aimed, absent })
    }
}

/// The calls of one contestant in one round: their times per call, in microseconds.
#[derive(Clone, Copy)]
struct Round {
    /// The number of calls in all turns.
    calls: usize,
    /// The median of the turns, which ignores a disk that is busy for a moment.
    wall: f64,
    /// The mean of all turns. `None` if the system does not measure it.
    cpu: Option<f64>,
}

impl Round {
    fn from_costs(turns: &[Cost]) -> Self {
        let calls = turns.iter().map(|turn| turn.calls).sum();
        let per_call = |time: Duration, calls: usize| time.as_secs_f64() * 1e6 / calls as f64;
        let walls = turns.iter().map(|turn| per_call(turn.wall, turn.calls)).collect();
        let cpu: Option<Duration> = turns.iter().map(|turn| turn.cpu).sum();
        Self {
            calls,
            wall: Figure::from_rounds(walls).median,
            cpu: cpu.map(|cpu| per_call(cpu, calls)),
        }
    }
}

/// The results of a comparison.
#[derive(Debug)]
pub struct Measured {
    pub title: String,
    pub rounds: usize,
    /// How many calls each contestant makes in a round.
    pub calls: usize,
    pub rows: Vec<Row>,
    pub aimed: Vec<Aimed>,
    pub absent: Vec<String>,
}

/// The results of a contestant: ratios to the first one, and microseconds per call.
#[derive(Debug)]
pub struct Row {
    pub name: String,
    pub cpu_ratio: Option<Figure>,
    pub wall_ratio: Figure,
    pub cpu: Option<Figure>,
    pub wall: Figure,
}

impl Row {
    fn new(name: &str, own: &[Round], first: &[Round]) -> Self {
        let cpu: Option<Vec<f64>> = own.iter().map(|round| round.cpu).collect();
        let cpu_ratio: Option<Vec<f64>> =
            own.iter().zip(first).map(|(own, first)| Some(own.cpu? / first.cpu?)).collect();
        let wall_ratio = own.iter().zip(first).map(|(own, first)| own.wall / first.wall);
        Self {
            name: name.to_owned(),
            cpu_ratio: cpu_ratio.map(Figure::from_rounds),
            wall_ratio: Figure::from_rounds(wall_ratio.collect()),
            cpu: cpu.map(Figure::from_rounds),
            wall: Figure::from_rounds(own.iter().map(|round| round.wall).collect()),
        }
    }
}

/// The median ratio of the rounds, beside its aim.
#[derive(Debug)]
pub struct Aimed {
    pub contestant: &'static str,
    pub quantity: Quantity,
    pub ratio: f64,
    pub at_most: f64,
}

impl Aimed {
    /// `None` if the system does not measure the quantity.
    fn new(aim: &Aim, rows: &[Row]) -> Option<Self> {
        let Aim { contestant, quantity, at_most } = *aim;
        let row = rows.iter().find(|row| row.name == contestant).expect("an aim's contestant runs");
        let figure = match quantity {
            Quantity::Cpu => row.cpu_ratio?,
            Quantity::Wall => row.wall_ratio,
        };
        Some(Self { contestant, quantity, ratio: figure.median, at_most })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A contestant whose turns take given times.
    struct Scripted(&'static str, Vec<u64>);

    impl Contestant for Scripted {
        fn name(&self) -> &str {
            self.0
        }

        fn take_turn(&mut self) -> io::Result<Cost> {
            let time = Duration::from_micros(self.1.remove(0));
            Ok(Cost { calls: 2, wall: time, cpu: Some(time * 2) })
        }
    }

    fn measured(at_most: f64) -> Measured {
        // The first turn is the warm-up; in the second round the machine is ten times slower.
        let first = Scripted("first", vec![9, 10, 10, 10, 100, 100, 100]);
        let other = Scripted("other", vec![9, 30, 30, 900, 300, 300, 300]);
        let comparison = Comparison {
            title: "a thing".into(),
            contestants: vec![Box::new(first), Box::new(other)],
            turns: 3,
            aims: vec![Aim { contestant: "other", quantity: Quantity::Wall, at_most }],
            absent: Vec::new(),
        };
        comparison.run(2).expect("measured")
    }

    #[test]
    fn ratios_are_taken_within_a_round_and_times_are_those_of_one_call() {
        let measured = measured(3.0);
        assert_eq!(measured.calls, 6);
        let other = &measured.rows[1];
        assert_eq!(other.wall_ratio, Figure { median: 3.0, least: 3.0, most: 3.0 });
        assert_eq!(other.wall, Figure { median: 82.5, least: 15.0, most: 150.0 });
        assert_eq!(other.cpu.expect("told").least, 300.0);
    }

    #[test]
    fn a_ratio_stands_beside_its_aim_whether_it_is_met_or_missed() {
        for at_most in [3.0, 2.0] {
            let aimed = &measured(at_most).aimed[0];
            assert_eq!((aimed.contestant, aimed.ratio, aimed.at_most), ("other", 3.0, at_most));
        }
    }
}
