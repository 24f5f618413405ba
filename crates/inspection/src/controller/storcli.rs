//! JSON of storcli and perccli: `/call show all J`, `/call/vall show all J` and `/call/eall/sall
//! show all J`, of releases 7.x and before, whose members differ a little.

use serde_json::{Map, Value};

use super::words::{size_bytes, switch};
use super::{CacheBackup, Controller, ControllerError, LogicalDrive, Tool, WritePolicy};

type Members = Map<String, Value>;

/// The controllers of an output.
pub(super) fn read(text: &str) -> Result<Vec<Controller>, ControllerError> {
    let document: Value =
        serde_json::from_str(text).map_err(|error| ControllerError::Syntax(error.to_string()))?;
    let Some(answers) = document.get("Controllers").and_then(Value::as_array) else {
        return Err(ControllerError::NotOfControllers);
    };
    let controllers: Vec<Controller> = answers.iter().filter_map(controller).collect();
    if controllers.is_empty() {
        return Err(failure(answers).unwrap_or(ControllerError::Empty(Tool::Storcli)));
    }
    Ok(controllers)
}

/// What the tool says of its own failure.
fn failure(answers: &[Value]) -> Option<ControllerError> {
    answers.iter().find_map(|answer| {
        let status = answer.get("Command Status")?;
        let failed = word(status, "Status")? != "Success";
        let why = word(status, "Description").unwrap_or("it does not say why");
        failed.then(|| ControllerError::Failed(why.to_owned()))
    })
}

fn word<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str().map(str::trim)
}

/// One controller. A failed part of an answer, such as a foreign configuration, leaves the rest.
fn controller(answer: &Value) -> Option<Controller> {
    let data = answer.get("Response Data")?.as_object()?;
    let number = answer.get("Command Status")?.get("Controller")?.as_u64()?;
    let of = |part: &str, name: &str| data.get(part).and_then(|part| word(part, name));
    let product = data.get("Product Name").and_then(Value::as_str).map(str::trim);
    let with_bad_battery = of("Defaults", "Cache When BBU Bad").and_then(switch);
    Some(Controller {
        tool: Tool::Storcli,
        id: number.to_string(),
        model: of("Basics", "Model").or(product).unwrap_or_default().to_owned(),
        cache_bytes: of("HwCfg", "On Board Memory Size").and_then(size_bytes),
        backup: backup(data),
        caches_without_backup: with_bad_battery,
        drives: drives(data),
        disks: disks(data),
        ..Controller::default()
    })
}

/// `State` of the vault or the battery; else what the hardware says of their presence.
fn backup(data: &Members) -> CacheBackup {
    let state = ["Cachevault_Info", "BBU_Info"].into_iter().find_map(|part| {
        let first = data.get(part)?.as_array()?.first()?;
        word(first, "State")
    });
    match state {
        Some("Optimal" | "Optl") => CacheBackup::Ready,
        Some(state) => CacheBackup::NotReady(state.to_owned()),
        None => match data.get("HwCfg").and_then(|part| word(part, "BBU")) {
            Some("Absent") => CacheBackup::Absent,
            _ => CacheBackup::Untold,
        },
    }
}

/// Virtual drives, from whichever of the lists an output has.
fn drives(data: &Members) -> Vec<LogicalDrive> {
    let lists = data
        .iter()
        .filter(|(name, _)| *name == "VD LIST" || *name == "Virtual Drives" || is_drive_path(name));
    let rows = lists.filter_map(|(_, list)| list.as_array()).flatten();
    rows.filter_map(|row| drive(row, data)).collect()
}

/// Whether a member is named after a virtual drive: `/c0/v1`.
fn is_drive_path(name: &str) -> bool {
    let parts: Vec<&str> = name.trim_start_matches('/').split('/').collect();
    parts.len() == 2 && parts[0].starts_with('c') && parts[1].starts_with('v')
}

fn drive(row: &Value, data: &Members) -> Option<LogicalDrive> {
    let (group, id) = word(row, "DG/VD")?.split_once('/')?;
    let (writes, reads_ahead) = word(row, "Cache").map_or((WritePolicy::Untold, None), cache);
    let state = word(row, "State").filter(|&state| state != "Optl");
    let properties = data.get(&format!("VD{id} Properties"));
    let of = |name: &str| properties.and_then(|part| word(part, name));
    let count = |name: &str| properties.and_then(|part| part.get(name)?.as_u64());
    let members = members(group, data);
    let in_properties = count("Number of Drives Per Span").map(|each| {
        let spans = count("Span Depth").unwrap_or(1);
        u32::try_from(each.saturating_mul(spans)).unwrap_or(u32::MAX)
    });
    Some(LogicalDrive {
        id: id.to_owned(),
        level: word(row, "TYPE").unwrap_or_default().to_owned(),
        strip_bytes: of("Strip Size").and_then(size_bytes),
        writes,
        reads_ahead,
        disk_caches: of("Disk Cache Policy").and_then(switch).or_else(|| group_caches(group, data)),
        disks: in_properties.or(u32::try_from(members.len()).ok().filter(|&count| count > 0)),
        is_flash: are_flash(&members),
        trouble: state.map(|state| format!("its state is {state}")),
        device: of("OS Drive Name").map(str::to_owned),
    })
}

/// A code such as `NRWBD`: whether it reads ahead (R, NR), what becomes of writes (WB, AWB or FWB,
/// WT), and whether reads are cached (C) or direct (D).
fn cache(code: &str) -> (WritePolicy, Option<bool>) {
    let (reads_ahead, rest) = match (code.strip_prefix("NR"), code.strip_prefix('R')) {
        (Some(rest), _) => (Some(false), rest),
        (None, Some(rest)) => (Some(true), rest),
        (None, None) => (None, code),
    };
    let writes = if rest.starts_with("AWB") || rest.starts_with("FWB") {
        WritePolicy::BackAlways
    } else if rest.starts_with("WB") {
        WritePolicy::Back
    } else if rest.starts_with("WT") {
        WritePolicy::Through
    } else {
        WritePolicy::Untold
    };
    (writes, reads_ahead)
}

/// The rows of physical disks in a drive group.
fn members<'a>(group: &str, data: &'a Members) -> Vec<&'a Value> {
    let rows = data.get("PD LIST").and_then(Value::as_array);
    let in_group = |row: &&Value| match row.get("DG") {
        Some(Value::Number(number)) => number.to_string() == group,
        Some(Value::String(text)) => text == group,
        _ => false,
    };
    rows.into_iter().flatten().filter(in_group).collect()
}

fn are_flash(members: &[&Value]) -> Option<bool> {
    let kinds: Option<Vec<&str>> = members.iter().map(|row| word(row, "Med")).collect();
    let kinds = kinds.filter(|kinds| !kinds.is_empty())?;
    Some(kinds.iter().all(|&kind| kind == "SSD"))
}

/// `PDC` of the group's own row: whether the caches of its disks are on; `dflt` leaves that to the
/// disks, of which nothing is known here.
fn group_caches(group: &str, data: &Members) -> Option<bool> {
    let rows = data.get("TOPOLOGY")?.as_array()?;
    let of_group = rows.iter().find(|row| {
        let number = row.get("DG").map(Value::to_string);
        number.as_deref() == Some(group) && word(row, "Arr") == Some("-")
    })?;
    match word(of_group, "PDC")? {
        "enbl" => Some(true),
        "dsbl" => Some(false),
        _ => None,
    }
}

/// Disks that say whether their caches are on: members named `Drive /c0/e252/s0 Device attributes`
/// inside those with details.
fn disks(data: &Members) -> Vec<(String, bool)> {
    let details = data.values().filter_map(Value::as_object).flatten();
    details
        .filter_map(|(name, attributes)| {
            let disk = name.strip_prefix("Drive ")?.strip_suffix(" Device attributes")?;
            Some((disk.to_owned(), switch(word(attributes, "Write Cache")?)?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{CacheBackup, ControllerError, WritePolicy, merged};
    use super::{cache, read};

    fn answer(data: &serde_json::Value) -> String {
        let status = json!({ "Controller": 0, "Status": "Success", "Description": "None" });
        json!({ "Controllers": [{ "Command Status": status, "Response Data": data }] }).to_string()
    }

    fn overview() -> String {
        answer(&json!({
            "Basics": { "Model": "Array 9999i" },
            "HwCfg": { "BBU": "Present", "On Board Memory Size": "4096MB" },
            "Defaults": { "Cache When BBU Bad": "Off" },
            "TOPOLOGY": [
                { "DG": 0, "Arr": "-", "PDC": "dsbl" },
                { "DG": 1, "Arr": "-", "PDC": "enbl" },
            ],
            "VD LIST": [
                { "DG/VD": "0/238", "TYPE": "RAID10", "State": "Optl", "Cache": "NRWBD" },
                { "DG/VD": "1/239", "TYPE": "RAID0", "State": "Dgrd", "Cache": "RWTD" },
            ],
            "PD LIST": [
                { "EID:Slt": "8:0", "DG": 0, "Med": "HDD" },
                { "EID:Slt": "8:1", "DG": 0, "Med": "HDD" },
                { "EID:Slt": "8:2", "DG": 1, "Med": "SSD" },
                { "EID:Slt": "8:3", "DG": "-", "Med": "HDD" },
            ],
            "Cachevault_Info": [{ "Model": "CV", "State": "Optimal" }],
        }))
    }

    #[test]
    fn an_overview_tells_policies_and_members() {
        let controllers = read(&overview()).unwrap();
        let controller = &controllers[0];
        assert_eq!((controller.id.as_str(), controller.model.as_str()), ("0", "Array 9999i"));
        assert_eq!(controller.cache_bytes, Some(4 << 30));
        assert_eq!(controller.backup, CacheBackup::Ready);
        assert_eq!(controller.caches_without_backup, Some(false));
        let [first, second] = &controller.drives[..] else {
            panic!("{:?}", controller.drives);
        };
        assert_eq!((first.id.as_str(), first.writes), ("238", WritePolicy::Back));
        assert_eq!((first.reads_ahead, first.disk_caches), (Some(false), Some(false)));
        assert_eq!((first.disks, first.is_flash, &first.trouble), (Some(2), Some(false), &None));
        assert_eq!((second.writes, second.disk_caches), (WritePolicy::Through, Some(true)));
        assert_eq!(second.is_flash, Some(true));
        assert_eq!(second.trouble.as_deref(), Some("its state is Dgrd"));
    }

    #[test]
    fn details_of_drives_and_disks_add_to_the_overview() {
        let drives = answer(&json!({
            "/c0/v238": [{ "DG/VD": "0/238", "TYPE": "RAID10", "State": "Optl", "Cache": "NRWBD" }],
            "VD238 Properties": {
                "Strip Size": "256 KB", "Span Depth": 2, "Number of Drives Per Span": 2,
                "Disk Cache Policy": "Disabled", "OS Drive Name": "/dev/sdb",
            },
        }));
        let disks = answer(&json!({
            "Drive /c0/e8/s0 - Detailed Information": {
                "Drive /c0/e8/s0 Device attributes": { "Write Cache": "Enabled" },
                "Drive /c0/e8/s0 State": { "Shield Counter": 0 },
            },
        }));
        let all = [overview(), drives, disks].iter().flat_map(|text| read(text).unwrap()).collect();
        let all = merged(all);
        assert_eq!(all.len(), 1);
        let first = &all[0].drives[0];
        assert_eq!((first.strip_bytes, first.disks), (Some(256 << 10), Some(2)));
        assert_eq!(first.device.as_deref(), Some("/dev/sdb"));
        assert_eq!(all[0].disks, [("/c0/e8/s0".to_owned(), true)]);
        assert_eq!(all[0].drives.len(), 2);
    }

    #[test]
    fn codes_of_caches_are_taken_apart() {
        use WritePolicy::{Back, BackAlways, Through, Untold};
        for (code, policy) in [
            ("RWBD", (Back, Some(true))),
            ("NRWBD", (Back, Some(false))),
            ("RAWBD", (BackAlways, Some(true))),
            ("NRAWBC", (BackAlways, Some(false))),
            ("RFWBD", (BackAlways, Some(true))),
            ("RWTD", (Through, Some(true))),
            ("-", (Untold, None)),
            ("", (Untold, None)),
        ] {
            assert_eq!(cache(code), policy, "{code}");
        }
    }

    #[test]
    fn a_battery_is_ready_not_ready_or_absent() {
        let backup = |data: serde_json::Value| read(&answer(&data)).unwrap()[0].backup.clone();
        assert_eq!(backup(json!({ "BBU_Info": [{ "State": "Optimal" }] })), CacheBackup::Ready);
        let failed = CacheBackup::NotReady("Failed".to_owned());
        assert_eq!(backup(json!({ "BBU_Info": [{ "State": "Failed" }] })), failed);
        assert_eq!(backup(json!({ "HwCfg": { "BBU": "Absent" } })), CacheBackup::Absent);
        assert_eq!(backup(json!({ "HwCfg": { "BBU": "Present" } })), CacheBackup::Untold);
    }

    #[test]
    fn what_is_no_answer_of_a_controller_says_so() {
        assert_eq!(read("{}"), Err(ControllerError::NotOfControllers));
        let failed = json!({ "Controllers": [{ "Command Status":
            { "Status": "Failure", "Description": "No Controller found" } }] });
        let error = read(&failed.to_string()).unwrap_err();
        assert_eq!(error, ControllerError::Failed("No Controller found".to_owned()));
        assert!(matches!(read("{\"Controllers\": ["), Err(ControllerError::Syntax(_))));
    }
}
