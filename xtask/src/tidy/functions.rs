//! Finds where each function begins and how long it is.

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Function {
    /// Its name.
    pub name: String,
    /// Line of the `fn`, counted from 1.
    pub line: usize,
    /// Lines of code from `fn` to the closing brace.
    pub lines: usize,
}

/// The functions of a masked source, including nested ones.
pub(super) fn functions(masked: &str) -> Vec<Function> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = masked[at..].find("fn ") {
        let start = at + offset;
        at = start + 3;
        let inside_word =
            masked[..start].ends_with(|last: char| last.is_alphanumeric() || last == '_');
        if inside_word {
            continue;
        }
        let name: String = masked[at..]
            .chars()
            .take_while(|&character| character.is_alphanumeric() || character == '_')
            .collect();
        let Some(end) = body_end(&masked[at..]) else {
            continue;
        };
        if name.is_empty() {
            continue; // A function pointer type.
        }
        let body = &masked[start..at + end];
        found.push(Function {
            name,
            line: masked[..start].matches('\n').count() + 1,
            lines: body.lines().filter(|line| !line.trim().is_empty()).count(),
        });
    }
    found
}

/// Offset after the closing brace; `None` for a declaration without a body.
fn body_end(text: &str) -> Option<usize> {
    let mut braces = 0_u32;
    let mut brackets = 0_i32;
    for (at, character) in text.char_indices() {
        match character {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets -= 1,
            ';' if braces == 0 && brackets == 0 => return None,
            '{' => braces += 1,
            '}' if braces <= 1 => return (braces == 1).then_some(at + 1),
            '}' => braces -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::functions;

    #[test]
    fn lengths_count_code_from_signature_to_brace() {
        let text =
            "trait T { fn a(&self); }\n\nfn b(x: [u8; 4]) -> u8 {\n\n    x[0]\n}\nfn c() {}\n";
        let found: Vec<(String, usize, usize)> = functions(text)
            .into_iter()
            .map(|function| (function.name, function.line, function.lines))
            .collect();
        assert_eq!(found, [("b".to_string(), 3, 3), ("c".to_string(), 7, 1)]);
    }
}
