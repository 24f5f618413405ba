//! The load as keys of a plan: the target of the busiest hour, and the other hours relative to it.

use std::fmt::{self, Write as _};

use super::LoadProfile;

impl LoadProfile {
    /// Formats a `[workload]` section for a plan; `None` if the hours of the day are unknown.
    pub fn to_toml(&self) -> Option<String> {
        let mut text = String::new();
        let is_written = !self.is_relative && self.write_workload(&mut text).is_ok();
        is_written.then_some(text)
    }

    fn write_workload(&self, text: &mut String) -> fmt::Result {
        let busiest = &self.busiest;
        writeln!(text, "# Load measured by `plimsoll profile`, for a plan that is simulated.")?;
        writeln!(text, "# The busiest hour was {} ({}).", busiest.hour, self.clock)?;
        for file in &self.files {
            let doubts = file.not_understood();
            let doubts = doubts.map_or_else(String::new, |of| format!("; not used: {of}"));
            let samples = units::plural(file.used, "sample");
            let line = format!("{}: {}, {samples}{doubts}", file.name, file.kind);
            writeln!(text, "# {}", units::plain(&line).replace('\n', " "))?;
        }
        if let Some(hours) = self.unknown_hours_list() {
            writeln!(text, "# No samples; these hours count as the busiest: {hours}")?;
        }
        writeln!(text, "\n[workload]")?;
        let iops = busiest.load.transactional_iops().ceil().max(1.0);
        writeln!(text, "target_iops = {iops:.0}")?;
        writeln!(text, "hours = [")?;
        for part in self.day.chunks(6) {
            let part: Vec<String> =
                part.iter().map(|hour| format!("{:.1}", hour.percent)).collect();
            writeln!(text, "    {},", part.join(", "))?;
        }
        writeln!(text, "]")
    }
}
