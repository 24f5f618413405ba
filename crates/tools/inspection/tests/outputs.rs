//! Outputs of real controllers' tools, each compared with the values that another program's parser
//! reads from it, and damaged outputs.

use std::fs;

use inspection::controller::{Controller, LogicalDrive, WritePolicy, of_controller, read};
use proptest::prelude::*;
use serde_json::Value;
use testkit::samples;

/// The other program's values for one drive against those read here.
fn differences(name: &str, drive: &LogicalDrive, expected: &Value) -> Vec<String> {
    let word = |key: &str| expected[key].as_str().unwrap_or_default().to_owned();
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let writes = match word("writes").as_str() {
        "wt" | "Disabled" => Some(WritePolicy::Through),
        "wb" | "Enabled" => Some(WritePolicy::Back),
        "awb" => Some(WritePolicy::BackAlways),
        _ => None,
    };
    let reads = match word("reads").as_str() {
        "ra" => Some(true),
        "nora" => Some(false),
        _ => None,
    };
    let strip = word("strip");
    let strip = strip.strip_suffix(" KB").and_then(|number| number.parse::<u64>().ok());
    let strip = strip.map(|kib| kib << 10);
    let device = Some(word("device")).filter(|device| !device.is_empty());
    let level = drive.level.only().cloned().unwrap_or_default();
    let pairs = [
        (digits(&level), digits(&word("level"))),
        (format!("{:?}", drive.writes.only()), format!("{:?}", writes.as_ref())),
        (format!("{:?}", drive.reads_ahead.only()), format!("{:?}", reads.as_ref())),
        (format!("{:?}", drive.strip_bytes.only()), format!("{:?}", strip.as_ref())),
        (format!("{:?}", drive.device), format!("{device:?}")),
    ];
    let differ = pairs.into_iter().filter(|(ours, theirs)| ours != theirs);
    differ.map(|(ours, theirs)| format!("{name}: drive {}: {ours}, {theirs}", drive.id)).collect()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the samples are files")]
fn other_programs_read_the_same_in_real_outputs() {
    let Some(folder) = samples::find("controllers") else {
        return;
    };
    let expected = fs::read(folder.join("expected.json")).unwrap();
    let expected: Value = serde_json::from_slice(&expected).unwrap();
    let outputs = expected.as_object().unwrap();
    assert!(outputs.len() > 40, "{}", outputs.len());
    let mut wrong = Vec::new();
    for (name, theirs) in outputs {
        let text = String::from_utf8(fs::read(folder.join(name)).unwrap()).unwrap();
        let output = read(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let controllers = output.controllers;
        let drives: Vec<&LogicalDrive> = controllers.iter().flat_map(|of| &of.drives).collect();
        for drive in &drives {
            match theirs.get(&drive.id) {
                Some(expected) => wrong.extend(differences(name, drive, expected)),
                None => wrong.push(format!("{name}: drive {} is not there", drive.id)),
            }
        }
        if drives.len() != theirs.as_object().unwrap().len() {
            wrong.push(format!("{name}: {} drives", drives.len()));
        }
        let of_drives = |check: &str| {
            let findings = controllers.iter().flat_map(of_controller);
            findings.filter(|of| of.check == check).count()
        };
        assert_eq!(of_drives("controller-write-cache"), drives.len(), "{name}");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn samples_text() -> Vec<String> {
    let storcli = r#"{"Controllers":[{"Command Status":{"Controller":0,"Status":"Success"},
        "Response Data":{"VD LIST":[{"DG/VD":"0/1","TYPE":"RAID5","State":"Optl","Cache":"RWBD"}],
        "PD LIST":[{"DG":0,"Med":"HDD"}],"Cachevault_Info":[{"State":"Optimal"}]}}]}"#;
    let ssacli = "Array X in Slot 1\n   Cache Ratio: 10% Read / 90% Write\n\n   Array: A\n\n      \
                  Logical Drive: 1\n         Strip Size: 256 KB\n         Caching:  Enabled\n";
    let arcconf = "Controller information\n   Controller Model : M\nLogical device information\n\
                   Logical device number 0\n   Write-cache mode : Enabled\n";
    [storcli, ssacli, arcconf].map(str::to_owned).to_vec()
}

proptest! {
    /// Whatever is cut out of an output or inserted, the output is read or refused.
    #[test]
    fn damaged_outputs_are_read_or_refused(
        which in 0_usize..3,
        at in 0_usize..600,
        cut in 0_usize..40,
        put in "\\PC{0,12}",
    ) {
        let text: Vec<char> = samples_text()[which].chars().collect();
        let at = at.min(text.len());
        let rest = &text[(at + cut).min(text.len())..];
        let damaged: String =
            text[..at].iter().copied().chain(put.chars()).chain(rest.iter().copied()).collect();
        let read: Vec<Controller> = read(&damaged).unwrap_or_default().controllers;
        // Nothing more is required of the findings than that computing them does not panic.
        for controller in &read {
            drop(of_controller(controller));
        }
    }
}

#[test]
fn an_untouched_sample_describes_a_drive() {
    for text in samples_text() {
        let controllers = read(&text).unwrap().controllers;
        assert_eq!(controllers[0].drives.len(), 1, "{text}");
        let writes = controllers[0].drives[0].writes.only().unwrap();
        assert!(matches!(writes, WritePolicy::Back | WritePolicy::BackPerhapsAlways), "{text}");
    }
}
