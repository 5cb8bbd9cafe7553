//! Makes calls with the native library and reports their times, as the programs for Node and Python do:
//! `timed-calls REPOSITORY`.
//!
//! Answers each line of the input with a line. For `{"opened": true}` it returns `{"import_us",
//! "open_us"}`, for `{"tool", "calls": [arguments, ...]}` it returns `{"wall_us", "cpu_us"}`.

use std::io::{self, BufRead};
use std::time::{Duration, Instant};
use std::{env, process};

use agent_memory_host::AgentMemory;
use serde_json::{Value, json};

#[path = "../cpu.rs"]
mod cpu;

fn main() -> io::Result<()> {
    let repository = env::args().nth(1).expect("usage: timed-calls REPOSITORY");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let began = Instant::now();
    let memory = AgentMemory::builder()
        .allow(&repository)
        .toolsets(["sessions", "records"])
        .setting("records", "directory", format!("{repository}/memories"))
        .setting("records", "format", "json")
        .build();
    let memory = memory.map_err(io::Error::other)?;
    let open = began.elapsed();
    for line in io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let Some(tool) = request["tool"].as_str() else {
            println!("{}", json!({"import_us": 0, "open_us": microseconds(open)}));
            continue;
        };
        let calls: Vec<String> =
            request["calls"].as_array().into_iter().flatten().map(Value::to_string).collect();
        let cpu = cpu::of(process::id());
        let began = Instant::now();
        for arguments in &calls {
            match runtime.block_on(memory.call(tool, arguments)) {
                Ok(outcome) if outcome.answer.is_ok() => {}
                answer => return Err(io::Error::other(format!("`{tool}` answered {answer:?}"))),
            }
        }
        let wall = began.elapsed();
        let cpu = cpu.and_then(|before| cpu::of(process::id())?.checked_sub(before));
        let cpu = microseconds(cpu.unwrap_or_default());
        println!("{}", json!({"wall_us": microseconds(wall), "cpu_us": cpu}));
    }
    Ok(())
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
