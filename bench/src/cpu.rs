//! The processor time that a process has used.

use std::time::Duration;

/// The user and system time of all threads of a process, also of ended ones. `None` if the system does
/// not give it.
#[cfg(target_os = "linux")]
pub fn of(process: u32) -> Option<Duration> {
    let mut clock = 0;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: both calls only write to the given memory. `/proc` is not used, since its steps of 10 ms
    // are too coarse.
    let known = unsafe {
        libc::clock_getcpuclockid(process as libc::pid_t, &mut clock) == 0
            && libc::clock_gettime(clock, &mut time) == 0
    };
    known.then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

/// The user and system time of all threads of a process, also of ended ones. `None` if the system does
/// not give it.
#[cfg(not(target_os = "linux"))]
pub fn of(_process: u32) -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(not(target_os = "linux"), ignore = "only Linux tells")]
    fn work_is_counted_and_sleep_is_not() {
        let own = || of(std::process::id()).expect("a process's own time");
        let before = own();
        let mut sum = 0u64;
        while own() == before {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(own() > before);
        let mut sleeping = std::process::Command::new("sleep").arg("60").spawn().expect("`sleep`");
        let slept = of(sleeping.id());
        sleeping.kill().and_then(|()| sleeping.wait()).expect("it ends");
        assert!(slept.expect("a child's time") < Duration::from_secs(1));
    }
}
