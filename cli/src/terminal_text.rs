//! Text from outside on a terminal.
//!
//! A message or a name may hold anything, also what a terminal takes for a command or what
//! turns the rest of the line around. Here it becomes text that only shows itself.

/// Spaces before each further line of a message.
const INDENT: &str = "\n    ";

/// Makes `text` safe for one line: whatever doesn't print itself is written as an escape.
pub(crate) fn one_line(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        push_safe(&mut safe, character);
    }
    safe
}

/// Makes `text` safe and keeps its lines, each further one indented, so that no line of a
/// message can pass for a message of its own.
pub(crate) fn lines(text: &str) -> String {
    let text = text.trim_end_matches(['\n', '\r']).replace("\r\n", "\n");
    text.split('\n')
        .map(one_line)
        .collect::<Vec<_>>()
        .join(INDENT)
}

fn push_safe(safe: &mut String, character: char) {
    if character == '\t' {
        safe.push(' ');
    } else if character.is_control() || turns_text(character) {
        safe.extend(character.escape_unicode());
    } else {
        safe.push(character);
    }
}

/// Characters that change the direction or the place of what follows.
fn turns_text(character: char) -> bool {
    matches!(character,
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}'
        | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_never_gets_a_command() {
        assert_eq!(one_line("a\u{1b}[2Jb\u{7}c\u{202e}d\re"), {
            "a\\u{1b}[2Jb\\u{7}c\\u{202e}d\\u{d}e"
        });
        assert_eq!(
            one_line("tab\tstays a space, ünïcödé and 悬空 stay"),
            { "tab stays a space, ünïcödé and 悬空 stay" }
        );
    }

    #[test]
    fn further_lines_are_indented() {
        assert_eq!(lines("one\ntwo\r\nthree\n\n"), "one\n    two\n    three");
    }
}
