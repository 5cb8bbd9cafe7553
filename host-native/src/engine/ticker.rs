//! The thread that interrupts running components, so that their limits are checked.

use crate::Limits;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use wasmtime::{Engine, EngineWeak};

/// Advances an engine's epoch once a [`Limits::TICK`] while calls are under way.
///
/// It needs a thread of its own, because a component that loops never returns. A call starts the thread
/// if there is none. The idle thread ends after [`IDLE`] ticks, so that an idle host does not wake.
///
/// The thread refers to the engine weakly, so an idle thread does not keep the engine alive. As long as
/// it is alive, no other engine can run the program's machine code in place.
#[derive(Clone)]
pub(super) struct Ticker {
    engine: EngineWeak,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    calls: usize,
    running: bool,
}

/// The thread ends after this many ticks without a call.
const IDLE: u32 = 100;

impl Ticker {
    pub(super) fn new(engine: &Engine) -> Ticker {
        Ticker { engine: engine.weak(), state: Arc::default() }
    }

    /// Advances the epoch until the returned guard is dropped.
    pub(super) fn tick(&self) -> std::io::Result<Ticking> {
        let starts = self.with(|state| {
            state.calls += 1;
            !std::mem::replace(&mut state.running, true)
        });
        let ticking = Ticking(self.clone());
        if starts {
            let ticker = self.clone();
            let thread = thread::Builder::new().name("agent-memory-ticker".to_owned());
            if let Err(error) = thread.spawn(move || ticker.run()) {
                self.with(|state| state.running = false);
                return Err(error);
            }
        }
        Ok(ticking)
    }

    fn run(&self) {
        let mut idle = 0;
        loop {
            thread::sleep(Limits::TICK);
            let Some(engine) = self.engine.upgrade() else { return };
            engine.increment_epoch();
            let ends = self.with(|state| {
                idle = if state.calls == 0 { idle + 1 } else { 0 };
                state.running = idle < IDLE;
                !state.running
            });
            if ends {
                return;
            }
        }
    }

    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Keeps the ticker running until it is dropped, when its call has ended.
pub(super) struct Ticking(Ticker);

impl Drop for Ticking {
    fn drop(&mut self) {
        self.0.with(|state| state.calls -= 1);
    }
}
