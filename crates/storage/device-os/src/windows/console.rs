//! The user's actions at the console, and the console's capabilities.
#![expect(unsafe_code, reason = "system calls; each block has its argument")]

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use windows_sys::Win32::System::Console::{
    CTRL_BREAK_EVENT, CTRL_C_EVENT, CTRL_LOGOFF_EVENT, ENABLE_VIRTUAL_TERMINAL_PROCESSING,
    GetConsoleMode, GetStdHandle, STD_ERROR_HANDLE, SetConsoleCtrlHandler, SetConsoleMode,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, TerminateProcess};

use super::sys::check;

/// Set by the first request to stop.
static ASKED: Mutex<Vec<Arc<AtomicBool>>> = Mutex::new(Vec::new());

/// The exit status of a program that a second request ends.
const ENDED_AT_ONCE: u32 = 2;

/// What a console event requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConsoleRequest {
    /// Ctrl-C or Ctrl-Break: stop; the second time, terminate.
    Stop,
    /// The window closes or the system shuts down: Windows ends the process soon, or as soon as
    /// the handler returns.
    StopInTime,
    /// Nothing: some user logs off, not necessarily this one.
    Nothing,
}

impl ConsoleRequest {
    const fn of(event: u32) -> Self {
        match event {
            CTRL_C_EVENT | CTRL_BREAK_EVENT => Self::Stop,
            CTRL_LOGOFF_EVENT => Self::Nothing,
            _ => Self::StopInTime,
        }
    }
}

/// Makes Ctrl-C, Ctrl-Break, closing the window and a shutdown set `asked`; a second Ctrl-C or
/// Ctrl-Break terminates the process with status 2.
pub fn stop_on_request(asked: &Arc<AtomicBool>) -> io::Result<()> {
    let mut all = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    if all.is_empty() {
        // SAFETY: the handler is a function of this program with the signature that the system
        // calls.
        check(unsafe { SetConsoleCtrlHandler(Some(on_event), 1) })?;
    }
    all.push(Arc::clone(asked));
    Ok(())
}

/// Called by Windows on a separate thread.
unsafe extern "system" fn on_event(event: u32) -> i32 {
    let request = ConsoleRequest::of(event);
    if request == ConsoleRequest::Nothing {
        return 1;
    }
    let all = ASKED.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let again = all.iter().filter(|asked| asked.swap(true, Ordering::SeqCst)).count() == all.len();
    while request == ConsoleRequest::StopInTime {
        thread::park();
    }
    if again {
        // SAFETY: takes the handle that denotes this process itself.
        unsafe { TerminateProcess(GetCurrentProcess(), ENDED_AT_ONCE) };
    }
    1
}

/// Asks the console to let standard error move the cursor; returns whether it may.
pub fn error_output_redraws() -> bool {
    let mut mode = 0;
    // SAFETY: the handle is that of the error output or refused, and `mode` is live.
    unsafe {
        let console = GetStdHandle(STD_ERROR_HANDLE);
        GetConsoleMode(console, &raw mut mode) != 0
            && SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use windows_sys::Win32::System::Console::{
        CTRL_BREAK_EVENT, CTRL_C_EVENT, CTRL_CLOSE_EVENT, CTRL_LOGOFF_EVENT, CTRL_SHUTDOWN_EVENT,
    };

    use super::ConsoleRequest;

    #[test]
    fn only_what_a_person_repeats_ends_at_once() {
        let repeated = [CTRL_C_EVENT, CTRL_BREAK_EVENT].map(ConsoleRequest::of);
        assert_eq!(repeated, [ConsoleRequest::Stop; 2]);
        let ends = [CTRL_CLOSE_EVENT, CTRL_SHUTDOWN_EVENT].map(ConsoleRequest::of);
        assert_eq!(ends, [ConsoleRequest::StopInTime; 2]);
        assert_eq!(ConsoleRequest::of(CTRL_LOGOFF_EVENT), ConsoleRequest::Nothing);
    }

    #[test]
    fn ctrl_break_is_heard_and_another_user_may_log_off() {
        let asked = Arc::new(AtomicBool::new(false));
        super::stop_on_request(&asked).unwrap();
        // SAFETY: the handler may be called at any time.
        unsafe { super::on_event(CTRL_LOGOFF_EVENT) };
        assert!(!asked.load(Ordering::SeqCst));
        // SAFETY: as above.
        unsafe { super::on_event(CTRL_BREAK_EVENT) };
        assert!(asked.load(Ordering::SeqCst));
    }
}
