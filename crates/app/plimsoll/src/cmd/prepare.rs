//! `prepare`: the databases of a plan, filled from its seed at the speed of the storage.

pub(crate) mod flags;

use host::fill::{Complete, Fill, Filled, fill_with};
use host::refuse_shortage;
use host::system;
use serde_json::{Value, json};
use units::Bytes;

use console::Console;
use console::Outcome;
use console::documents::read_plan;
use console::error::CommandError;
use console::shell::shell_word;
use console::shown;
use console::signals;
use console::term::duration;
use flags::PrepareFlags;

/// Populates the databases; complete ones are kept unless they are reset.
pub(crate) fn run(flags: &PrepareFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let plan = read_plan(&flags.plan, &plan::Overrides::default())?;
    let stop = signals::install(
        "stopping; again ends at once. Databases that are not complete are filled anew next time.",
    )?;
    if let Some(sentence) = system::of_new_files() {
        console.remark(sentence)?;
    }
    let complete = if flags.reset { Complete::Reset } else { Complete::Stays };
    let filled = fill_with(&plan, complete, &stop, &shown::on_console(console.is_quiet()))?;
    if flags.json {
        console.answer_json("prepared", as_json(&filled))?;
        return Ok(Outcome::Pass);
    }
    print(&filled, console)?;
    let name = shell_word(&flags.plan);
    match refuse_shortage(&plan, &stop) {
        Ok(()) => console.remark(format_args!("Next: plimsoll run {name} measures them."))?,
        Err(shortage) => {
            console.remark(format_args!("A run of this plan would be refused now: {shortage}"))?;
        }
    }
    Ok(Outcome::Pass)
}

/// Prints one line per database, and the combined speed.
pub(crate) fn print(fill: &Fill, console: &mut Console) -> Result<(), CommandError> {
    for database in &fill.databases {
        console.answer(line(database))?;
    }
    let new = fill.databases.iter().filter(|database| !database.kept);
    let bytes: u64 = new.map(|database| database.bytes).sum();
    if bytes > 0 {
        let speed = Bytes(bytes).as_mib_f64() / fill.took.as_secs_f64().max(1e-6);
        let took = match fill.took.as_secs() {
            0 => format!("{:.1} s", fill.took.as_secs_f64()),
            _ => duration(fill.took),
        };
        console.answer(format_args!("filled {} in {took}: {speed:.0} MiB/s", Bytes(bytes)))?;
    }
    Ok(())
}

fn line(database: &Filled) -> String {
    let messages = messages(database).map_or_else(String::new, |of| format!(", {of} messages"));
    let how = match (database.kept, database.written_whole) {
        (true, _) => ", was complete already",
        (false, true) => ", written once over what deleted files left there",
        (false, false) => "",
    };
    format!("{}: {}{messages}{how}", database.file, Bytes(database.bytes))
}

/// The number of messages of a new database; unknown of a kept one, since runs add and delete some.
fn messages(database: &Filled) -> Option<u64> {
    (!database.kept).then_some(database.rows)
}

fn as_json(fill: &Fill) -> Value {
    let databases: Vec<Value> = fill
        .databases
        .iter()
        .map(|database| {
            json!({
                "file": database.file,
                "bytes": database.bytes,
                "messages": messages(database),
                "kept": database.kept,
                "written_whole": database.written_whole,
            })
        })
        .collect();
    json!({ "databases": databases, "seconds": fill.took.as_secs_f64() })
}

#[cfg(test)]
mod tests {
    use host::fill::Filled;

    use super::line;

    #[test]
    fn a_kept_database_has_no_count_of_its_first_fill() {
        let new = Filled {
            file: "a.edb".to_owned(),
            bytes: 48 << 20,
            rows: 28_801,
            kept: false,
            written_whole: false,
        };
        assert_eq!(line(&new), "a.edb: 48.0 MiB, 28801 messages");
        let kept = Filled { kept: true, ..new };
        assert_eq!(line(&kept), "a.edb: 48.0 MiB, was complete already");
    }
}
