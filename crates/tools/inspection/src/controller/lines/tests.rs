use super::{OutputLine, is_prompt, is_rule, lines, must_be_shown};

fn read(text: &str) -> Vec<(String, String)> {
    let begins = |line: &OutputLine| line.text.starts_with("Part");
    lines(text, begins).into_iter().map(|line| (line.key, line.value)).collect()
}

fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn keys_are_evened_and_split_at_the_colon_that_ends_them() {
    let text = "  CACHE  Ratio  : 10% Read / 90% Write\nAddress (Bus:Device): 00:1f.2\nName:\n";
    let all = [("cache ratio", "10% Read / 90% Write"), ("address (bus:device)", "00:1f.2")];
    assert_eq!(read(text), pairs(&[&all[..], &[("name", "")]].concat()));
}

#[test]
fn a_wrapped_line_is_joined_until_a_blank_line_or_a_part() {
    let text = "Status: Permanently\nDisabled for now\nPart 2\n\nwords alone\nA: b\n\nmore\n";
    let all = [
        ("status", "Permanently Disabled for now"),
        ("part 2", ""),
        ("words alone", ""),
        ("a", "b"),
        ("more", ""),
    ];
    assert_eq!(read(text), pairs(&all));
}

#[test]
fn the_noise_of_a_shell_is_left_out() {
    for text in [
        "[root@ex01 ~]# storcli64 /call show all J",
        "root@ex01:~# MegaCli64 -LDInfo -Lall -aAll -NoLog",
        "[root@ex01 ~]#",
        "PS C:\\tools> .\\perccli64.exe /c0 show all",
        "C:\\tools>",
        "=> ctrl all show config detail",
        "./MegaCli64 -AdpAllInfo -aAll",
        "$",
    ] {
        assert!(is_prompt(text), "{text}");
    }
    for text in ["Status: OK", "Group 0, Segment 0 : Present", "Drive #0", "physicaldrive 1I:1:1"] {
        assert!(!is_prompt(text), "{text}");
    }
    assert!(is_rule("-----") && is_rule("=====") && !is_rule("--") && !is_rule("-a-"));
}

#[test]
fn a_line_that_speaks_of_trouble_is_shown() {
    let shown = |text| must_be_shown(&lines(text, |_| false)[0]);
    assert!(shown("Sttus: Failed") && shown("no colon at all"));
    assert!(!shown("Spare Activation Mode: Activate on drive failure"));
    assert!(shown("Cach Mode: Write Through"));
    assert!(!shown("Failed disks: 0") && !shown("Queue Depth: Automatic"));
}
