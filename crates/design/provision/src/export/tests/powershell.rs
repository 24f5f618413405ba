//! How `PowerShell` parses a line, as far as the exported scripts need: the tests have no real one
//! to ask.

/// Commands of the shells that the scripts target.
const COMMANDS: &[&str] = &[
    "New-DatabaseAvailabilityGroup",
    "Set-DatabaseAvailabilityGroup",
    "Add-DatabaseAvailabilityGroupServer",
    "Set-MailboxServer",
    "New-MailboxDatabase",
    "Mount-Database",
    "Add-MailboxDatabaseCopy",
    "Set-MailboxDatabase",
    "Set-FileIntegrity",
    "New-Item",
    "diskpart",
    "Manage-MCDB",
    "Read-Host",
    "Get-MailboxDatabaseCopyStatus",
    ".",
];

/// Whether a line may begin with `command`.
pub(super) fn is_known(command: &str) -> bool {
    // The parameters of a script, a setting, a condition.
    let part = ["param(", "[Parameter(", "[string]", "[long]", ")", "$ErrorActionPreference", "if"];
    COMMANDS.contains(&command) || part.iter().any(|part| command.starts_with(part))
}

/// The words of a line, strings without their quotes; comments are dropped.
pub(super) fn words(line: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() && !rest.starts_with('#') {
        let (word, after) =
            if let Some(text) = rest.strip_prefix('\'') { quoted(text)? } else { bare(rest)? };
        words.push(word);
        rest = after.trim_start();
    }
    Ok(words)
}

/// A string up to its closing quote; a doubled quote is one character.
fn quoted(text: &str) -> Result<(String, &str), &'static str> {
    let mut word = String::new();
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        if letter != '\'' {
            word.push(letter);
        } else if letters.next_if(|(_, next)| *next == '\'').is_some() {
            word.push('\'');
        } else {
            let after = &text[at + 1..];
            let ends = after.is_empty() || after.starts_with([' ', ')', ';']);
            let glued = Err("letters behind the quote that ends a text");
            return if ends { Ok((word, after)) } else { glued };
        }
    }
    Err("a text without an end")
}

/// A word without quotes: nothing in it may expand except the scripts' own variables.
fn bare(text: &str) -> Result<(String, &str), &'static str> {
    let end = text.find([' ', '\'']).unwrap_or(text.len());
    let (word, after) = text.split_at(end);
    let variables = [
        "$true",
        "$false",
        "$WitnessServer",
        "$WitnessDirectory",
        "$PSScriptRoot",
        "$SSDSizeInBytes",
        "$exscripts",
        "-ServerAllowMCDB:$true",
    ];
    let settings = ["$ErrorActionPreference", "($LASTEXITCODE", "@"];
    let known = |part: &str| {
        let part = part.trim_end_matches([',', ')', ']']);
        variables.contains(&part) || settings.contains(&part)
    };
    if word.contains(['`', '&', '"']) || (word.contains('$') && !known(word)) {
        return Err("something that expands outside of a text");
    }
    Ok((word.to_owned(), after))
}
