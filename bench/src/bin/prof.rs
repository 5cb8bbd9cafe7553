#![allow(dead_code, unused_imports, missing_docs, clippy::all)]
#[path = "../comparison.rs"]
mod comparison;
#[path = "../contestants/mod.rs"]
mod contestants;
#[path = "../conversation.rs"]
mod conversation;
#[path = "../cpu.rs"]
mod cpu;
#[path = "../figure.rs"]
mod figure;
#[path = "../machine.rs"]
mod machine;
#[path = "../programs.rs"]
mod programs;
#[path = "../work.rs"]
mod work;
use comparison::Contestant;
pub struct How;
impl How {
    pub fn either<T>(&self, _a: T, b: T) -> T {
        b
    }
}
fn main() {
    let kind = std::env::args().nth(1).unwrap();
    let kb: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    let turns: usize = std::env::args().nth(3).unwrap().parse().unwrap();
    let work = work::Work::new(kb << 10, 20);
    let calls = work.appends(work::NOWHERE);
    let mut c: Box<dyn Contestant> = match kind.as_str() {
        "core" => Box::new(contestants::Core::new(work.clone(), &calls)),
        _ => Box::new(contestants::Component::new(work.clone(), &calls).unwrap()),
    };
    let mut best = f64::MAX;
    let mut wall = f64::MAX;
    for _ in 0..turns {
        c.prepare().unwrap();
        let cost = c.take_turn().unwrap();
        best = best.min(cost.cpu.unwrap().as_secs_f64() * 1e6 / cost.calls as f64);
        wall = wall.min(cost.wall.as_secs_f64() * 1e6 / cost.calls as f64);
    }
    println!("{kind} {kb} cpu {best:.1} wall {wall:.1}");
}
