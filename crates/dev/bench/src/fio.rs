//! fio, the standard load generator, as a baseline for our device benchmarks.

use std::path::Path;

use serde_json::Value;

use xtask::failure::Failure;
use xtask::shell;

/// Results of one fio run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FioMeasure {
    /// I/Os per second, reads and writes.
    pub operations_per_second: f64,
    /// Bytes per second, reads and writes.
    pub bytes_per_second: f64,
    /// CPU time of the job's process per I/O, user and system, in microseconds.
    pub cpu_micros_per_operation: f64,
}

/// Whether fio can be called.
pub(crate) fn installed() -> bool {
    shell::installed("fio")
}

/// Printed in place of fio's figures if fio is not installed.
pub(crate) const ABSENT: &str = "skipped: fio is not installed; install it with `apt install fio`";

/// Runs one fio job on `file` with `arguments` in addition to those shared by every comparison:
/// direct, `io_uring`, a new random order each time.
pub(crate) fn run(file: &Path, arguments: &[&str]) -> Result<FioMeasure, Failure> {
    let file = format!("--filename={}", file.display());
    let mut words = vec![
        "fio",
        "--name=peer",
        &file,
        "--direct=1",
        "--ioengine=io_uring",
        "--randrepeat=0",
        "--norandommap",
        "--allow_file_create=0",
        "--output-format=json",
    ];
    words.extend_from_slice(arguments);
    let output = shell::capture(&words)?;
    parse(&output).ok_or_else(|| Failure::new(format!("cannot read what fio prints:\n{output}")))
}

/// Parses the first job of fio's JSON, which may follow notes.
fn parse(output: &str) -> Option<FioMeasure> {
    let json = &output[output.find('{')?..];
    let document: Value = serde_json::from_str(json).ok()?;
    let job = document.get("jobs")?.get(0)?;
    let sum = |field: &str| {
        let of = |direction: &str| job.get(direction)?.get(field)?.as_f64();
        Some(of("read")? + of("write")?)
    };
    let percent = job.get("usr_cpu")?.as_f64()? + job.get("sys_cpu")?.as_f64()?;
    let millis = job.get("job_runtime")?.as_f64()?;
    Some(FioMeasure {
        operations_per_second: sum("iops")?,
        bytes_per_second: sum("bw_bytes")?,
        cpu_micros_per_operation: percent / 100.0 * millis * 1_000.0 / sum("total_ios")?.max(1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_job_is_read_behind_notes() {
        let output = r#"note: both iodepth >= 1 and synchronous I/O engine are selected
        {"jobs": [{"usr_cpu": 2.0, "sys_cpu": 8.0, "job_runtime": 1000,
          "read": {"iops": 500.0, "bw_bytes": 16384000, "total_ios": 500},
          "write": {"iops": 0.0, "bw_bytes": 0, "total_ios": 0}}]}"#;
        let measured = parse(output).unwrap();
        assert!((measured.operations_per_second - 500.0).abs() < 1e-9);
        assert!((measured.bytes_per_second - 16_384_000.0).abs() < 1e-9);
        assert!((measured.cpu_micros_per_operation - 200.0).abs() < 1e-9);
        assert_eq!(parse("fio: no such file"), None);
    }
}
