//! JSON Schema of the answers to commands under `--json`: one for each kind, with its members and
//! their types. `report` has a separate schema.

use serde_json::{Map, Value, json};

/// Names and types of members; a type that ends in `?` includes null.
type MemberTypes = &'static [(&'static str, &'static str)];

/// A kind, its schema number, and its mandatory members.
const ANSWERS: &[(&str, u64, MemberTypes)] = &[
    ("builds", 1, &[("data_as_of", "string")]),
    (
        "cache_curve",
        1,
        &[
            ("advice", "object"),
            ("block_bytes", "integer"),
            ("classes", "array"),
            ("file", "string"),
            ("footprint_bytes", "integer"),
            ("points", "array"),
            ("sampling_rate", "number"),
            ("skipped", "object"),
            ("span_ns", "integer?"),
        ],
    ),
    (
        "cache_gain",
        1,
        &[
            ("advice", "object"),
            ("array", "string"),
            ("database_bytes", "integer"),
            ("plan", "string"),
            ("points", "array"),
            ("uncertainty_percent", "number"),
        ],
    ),
    ("cache_contents", 1, &[("flash", "string"), ("volumes", "array")]),
    ("cache_created", 1, &[("capacity_bytes", "integer"), ("flash", "string")]),
    (
        "cache_mirror",
        1,
        &[
            ("bytes", "integer"),
            ("clients", "integer"),
            ("dirty_bytes", "integer"),
            ("host", "string"),
            ("peer", "string"),
            ("role", "string"),
            ("state", "string"),
            ("volume", "string"),
        ],
    ),
    (
        "cache_status",
        1,
        &[
            ("cached_bytes", "integer"),
            ("capacity_bytes", "integer"),
            ("classes", "array"),
            ("flash", "string"),
            ("state", "string"),
            ("volumes", "array"),
        ],
    ),
    ("check", 1, &[("files", "array")]),
    (
        "comparison",
        1,
        &[
            ("differences", "array"),
            ("doubts", "array"),
            ("headline", "string"),
            ("metrics", "array"),
            ("phase", "string"),
            ("runs", "array"),
        ],
    ),
    ("database_schema", 1, &[("tables", "array")]),
    ("design_proof", 1, &[("claims", "array"), ("remedy", "object?"), ("verdict", "string")]),
    ("doctor", 1, &[("needs", "array"), ("version", "string")]),
    ("error", 1, &[("at", "string"), ("error", "string"), ("exit_status", "integer")]),
    ("fleet_comparison", 1, &[("fleets", "array"), ("hosts", "array")]),
    ("fleet_hosts", 1, &[("hosts", "array"), ("ignored", "integer")]),
    (
        "fleet_report",
        1,
        &[
            ("all_hosts", "array"),
            ("findings", "array"),
            ("headline", "string"),
            ("hosts", "array"),
            ("name", "string"),
            ("periods", "array"),
            ("run", "string"),
            ("shared_disks", "array"),
            ("skew_ns", "integer?"),
            ("verdict", "string"),
        ],
    ),
    ("formatted", 1, &[("device", "string"), ("free_bytes", "integer")]),
    ("header", 1, &[("file_kind", "string")]),
    ("imported_report", 2, &[]),
    (
        "inspection",
        1,
        &[
            ("at", "string"),
            ("findings", "array"),
            ("outputs", "array"),
            ("paths", "array"),
            ("tally", "object"),
        ],
    ),
    ("iscsi_apply", 1, &[]),
    ("iscsi_destroy", 1, &[]),
    ("iscsi_grow", 1, &[]),
    ("iscsi_plan", 1, &[]),
    ("limits", 1, &[]),
    ("limits_set", 1, &[]),
    (
        "line",
        1,
        &[
            ("failure_seen_above", "boolean"),
            ("highest_load_held_iops", "number?"),
            ("is_complete", "boolean"),
            ("load_line_iops", "number?"),
            ("name", "string"),
            ("required_iops", "number?"),
            ("started", "string?"),
            ("steps", "array"),
            ("tags", "array"),
        ],
    ),
    ("load", 1, &[("busiest_hour", "object"), ("day", "array"), ("places", "array")]),
    ("log_check", 1, &[("files", "array"), ("findings", "array"), ("sentence", "string")]),
    ("log_record", 1, &[("place", "string"), ("type", "integer")]),
    ("log_recovery", 1, &[("best_effort", "boolean"), ("copy", "string"), ("file", "string")]),
    (
        "page",
        1,
        &[
            ("dbtime", "integer"),
            ("flags", "integer"),
            ("nodes", "array"),
            ("object", "integer"),
            ("page", "integer"),
            ("state", "string"),
        ],
    ),
    ("predictions", 1, &[]),
    ("prepared", 1, &[("databases", "array"), ("seconds", "number")]),
    ("profile", 1, &[]),
    ("provision", 1, &[("disks", "array"), ("groups", "array"), ("title", "string")]),
    ("recovery", 1, &[("file", "string"), ("file_faults", "array"), ("recovered", "boolean")]),
    ("router_scans", 1, &[("scans", "array")]),
    ("runs", 1, &[("runs", "array")]),
    ("scenarios", 1, &[("ranked", "array")]),
    ("selftest", 1, &[("folder", "string"), ("outcome", "string"), ("parts", "array")]),
    ("set_comparison", 1, &[("sets", "array"), ("tests", "array")]),
    ("set_report", 2, &[("exit_code", "integer"), ("tests", "array"), ("verdict", "string")]),
    (
        "simulated_deployment",
        1,
        &[("broken", "array"), ("events", "array"), ("rows", "array"), ("verdict", "string")],
    ),
    (
        "sizing",
        1,
        &[
            ("exit_code", "integer"),
            ("failures", "array"),
            ("findings", "array"),
            ("headline", "string"),
            ("mode", "string"),
            ("name", "string"),
            ("values", "object"),
            ("workable", "boolean"),
        ],
    ),
    ("space", 1, &[("not_closed", "object?"), ("page_size_bytes", "integer"), ("trees", "array")]),
    ("table", 1, &[("columns", "array"), ("table", "string")]),
    ("verification", 1, &[]),
];

/// Members of each run that `list` shows.
const RUN: MemberTypes = &[
    ("achieved_transactional_iops", "number?"),
    ("description", "string"),
    ("id", "string"),
    ("imported", "string?"),
    ("log_write_latency_ms", "number?"),
    ("machine", "string"),
    ("name", "string"),
    ("read_latency_ms", "number?"),
    ("simulated", "string?"),
    ("started", "string?"),
    ("state", "string"),
    ("tags", "array"),
    ("target_transactional_iops", "number?"),
    ("test", "string"),
    ("verdict", "string?"),
    ("written", "string?"),
];

/// Members of a file that `check` examined.
const CHECKED: MemberTypes = &[
    ("bad_pages", "integer"),
    ("file", "string"),
    ("file_faults", "array"),
    ("findings", "array"),
    ("not_closed", "object?"),
    ("ranges", "array"),
    ("seen_pages", "integer"),
];

/// Members of a file that `verify` examined.
const VERIFIED: MemberTypes = &[
    ("damaged_ranges", "array"),
    ("file", "string"),
    ("file_faults", "array"),
    ("findings", "array"),
    ("messages", "integer?"),
    ("not_closed", "object?"),
    ("notices", "array"),
    ("problems", "integer"),
];

/// The schema of all answers.
pub(super) fn schema() -> Value {
    let all = ANSWERS.iter().map(|&(kind, number, members)| {
        let mut answer = object(members);
        answer["properties"]["kind"] = json!({ "const": kind });
        answer["properties"]["schema"] = json!({ "const": number });
        if let Some(required) = answer["required"].as_array_mut() {
            required.extend([json!("kind"), json!("schema")]);
        }
        match kind {
            "runs" => {
                answer["properties"]["runs"] = json!({ "type": "array", "items": entry() });
            }
            "check" => {
                answer["properties"]["files"] =
                    json!({ "type": "array", "items": object(CHECKED) });
            }
            "verification" => verification(&mut answer),
            _ => {}
        }
        answer
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An answer of plimsoll under `--json`",
        "description": "By its `kind`; new members may come at any time. A `report` has a schema \
                        of its own.",
        "oneOf": all.collect::<Vec<Value>>(),
    })
}

/// An entry of a list: a run, a set with its `tests`, or a fleet with its `hosts`.
fn entry() -> Value {
    let mut entry = object(RUN);
    let states = ["live", "ended", "cut_off", "unread", "unreadable"];
    entry["properties"]["state"] = json!({ "enum": states });
    let of_all = json!(["id", "name", "started", "state", "test", "verdict"]);
    let of_run = std::mem::replace(&mut entry["required"], of_all);
    for parts in ["hosts", "tests"] {
        entry["properties"][parts] = json!({ "type": "array" });
    }
    let forms = [of_run, json!(["tests"]), json!(["hosts"])];
    entry["anyOf"] = forms.map(|required| json!({ "required": required })).to_vec().into();
    entry
}

/// The answer for one file is the file's object itself; for several, `files` lists them.
fn verification(answer: &mut Value) {
    let one = object(VERIFIED);
    answer["properties"]["files"] = json!({ "type": "array", "items": one });
    for (name, holds) in one["properties"].as_object().into_iter().flatten() {
        answer["properties"][name] = holds.clone();
    }
    answer["anyOf"] = json!([{ "required": ["files"] }, { "required": one["required"] }]);
}

fn object(members: MemberTypes) -> Value {
    let mut properties = Map::new();
    for &(name, holds) in members {
        let schema = match holds.strip_suffix('?') {
            Some(holds) => json!({ "type": [holds, "null"] }),
            None => json!({ "type": holds }),
        };
        properties.insert(name.to_owned(), schema);
    }
    let required: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}
