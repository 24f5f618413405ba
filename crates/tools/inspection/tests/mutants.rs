//! Damaged outputs, with lines lost, wrapped, doubled, cut or written in other digits: none passes
//! a check that the whole output does not pass, and none is a clean answer if the whole output is
//! not and the change shows. Runs 1,000 of them, or as many as `PLIMSOLL_MUTANTS` says.

#![expect(clippy::print_stderr, reason = "the test says how many it tried")]

#[path = "mutants/wholes.rs"]
mod wholes;

use std::collections::{BTreeMap, BTreeSet};

use inspection::controller::{
    OutputSource, leaves_open, merged, not_understood, of_controller, read,
};
use record::{StorageFinding, StorageRuling};
use units::{Prng, Seed};

/// Findings on the whole output.
fn findings(text: &str) -> Vec<StorageFinding> {
    let Ok(output) = read(text) else {
        return Vec::new();
    };
    let unread = not_understood("file", &output.unread);
    let told = OutputSource { source: "file".to_owned(), controllers: output.controllers };
    let found = merged(vec![told]).iter().flat_map(of_controller).collect::<Vec<_>>();
    found.into_iter().chain(unread).collect()
}

/// The passed checks, each with its drive alone: a mutant may change the controller's model or
/// number.
fn passes(findings: &[StorageFinding]) -> BTreeSet<(String, String)> {
    let passed = findings.iter().filter(|of| of.outcome == StorageRuling::Pass);
    let part = |subject: &str| {
        let drive = subject.split(", drive ").nth(1).unwrap_or(subject.trim_start_matches("/dev/"));
        let is_array = drive.starts_with("md");
        let is_drive = subject.contains(", drive ") || is_array;
        if is_drive {
            drive.split(',').next().unwrap_or_default().to_owned()
        } else {
            String::new()
        }
    };
    passed.map(|of| (of.check.clone(), part(&of.subject))).collect()
}

fn is_clean(findings: &[StorageFinding]) -> bool {
    let is_any = findings.iter().any(|of| of.outcome == StorageRuling::Pass);
    is_any && !findings.iter().any(|of| of.outcome >= StorageRuling::Warn || leaves_open(of))
}

/// A change of one line or of the end.
fn mutated(text: &str, random: &mut Prng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        return String::new();
    }
    let mut below = |most: usize| {
        usize::try_from(random.below(most.max(1) as u64)).expect("it is below a usize")
    };
    let at = below(lines.len());
    match below(9) {
        0 | 1 => drop(lines.remove(at)),
        2 => {
            let line = lines[at].clone();
            lines.insert(below(lines.len()), line);
        }
        3 => {
            let line = lines.remove(at);
            let blanks: Vec<usize> =
                line.trim_start().match_indices(' ').map(|(at, _)| at).collect();
            let start = line.len() - line.trim_start().len();
            let cut = blanks.get(below(blanks.len())).map_or(line.len(), |cut| start + cut);
            lines.insert(at, line[cut..].trim_start().to_owned());
            lines.insert(at, line[..cut].to_owned());
        }
        4 => {
            lines[at] = lines[at].replace('.', ",").replace(['2', '5'], "\u{662}");
        }
        5 => lines.truncate(at),
        6 => {
            let whole = lines.join("\n");
            let mut cut = below(whole.len());
            while !whole.is_char_boundary(cut) {
                cut -= 1;
            }
            return whole[..cut].to_owned();
        }
        7 => lines[at] = lines[at].to_ascii_uppercase(),
        _ => {
            for (word, other) in [
                ("OK", "Bon"),
                ("Optimal", "Optimale"),
                ("Enabled", "Aktiviert"),
                ("Disabled", "Deaktiviert"),
                ("Optl", "Ok?"),
                ("clean", "propre"),
            ] {
                lines[at] = lines[at].replace(word, other);
            }
        }
    }
    lines.join("\n")
}

#[test]
fn a_changed_output_never_passes_what_the_whole_does_not() {
    let count = std::env::var("PLIMSOLL_MUTANTS").map_or(1_000, |count| count.parse().unwrap());
    let wholes = wholes::all();
    let known: Vec<_> = wholes.iter().map(|(_, text)| findings(text)).collect();
    let mut random = Prng::new(Seed(42));
    let (mut wrong, mut clean) = (BTreeMap::new(), BTreeMap::new());
    for at in 0..count {
        let which = at % wholes.len();
        let (name, text) = &wholes[which];
        let mut changed = mutated(text, &mut random);
        for _ in 0..random.below(3) {
            changed = mutated(&changed, &mut random);
        }
        let found = findings(&changed);
        let new: Vec<_> = passes(&found).difference(&passes(&known[which])).cloned().collect();
        if !new.is_empty() {
            wrong.entry(format!("{name}: {new:?}")).or_insert_with(|| changed.clone());
        }
        if is_clean(&found) && !is_clean(&known[which]) {
            *clean.entry(name.clone()).or_insert(0) += 1;
        }
    }
    eprintln!("{count} mutants of {} outputs; clean answers of others: {clean:?}", wholes.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Proves that the test above can fail: each good output is clean, each bad one is not.
#[test]
fn whole_outputs_are_what_their_names_say() {
    for (name, text) in wholes::all() {
        let found = findings(&text);
        let bad: Vec<_> = found.iter().filter(|of| of.outcome != StorageRuling::Pass).collect();
        // The short form says nothing about caches.
        let wanted = name.ends_with(" good") && !name.starts_with("ssacli short");
        assert_eq!(is_clean(&found), wanted, "{name}: {bad:#?}");
    }
}
