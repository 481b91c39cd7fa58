//! What is said of backups and of what is read out.

use super::Report;
use crate::terminal_text::one_line;
use sealpost_engine::utc;

pub(super) fn text(report: &Report) -> String {
    match report {
        Report::Backup { groups, messages } => format!(
            "The backup is written: {}, {}. Nobody can open it without its passphrase, not you \
             either.",
            count(*groups, "group"),
            count(*messages, "message")
        ),
        Report::Restored {
            groups,
            messages,
            made_at_ms,
        } => {
            let numbers: Vec<String> = groups.iter().map(u32::to_string).collect();
            format!(
                "The backup of {} is restored: {}, {}; in `group list`: {}. To be in a group \
                 again, this device has to be let in again: `sealpost join`. That makes a group \
                 beside the restored one.",
                utc::to_text(*made_at_ms),
                count(groups.len() as u64, "group"),
                count(*messages, "message"),
                numbers.join(", ")
            )
        }
        Report::Export {
            number,
            name,
            messages,
            complete,
            ..
        } => {
            let name = one_line(name);
            let rest = if *complete {
                ""
            } else {
                "; the rest can't be read any more"
            };
            format!("{number}  {name}  {}{rest}", count(*messages, "message"))
        }
        _ => String::new(),
    }
}

fn count(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_words() {
        let text = text(&Report::Backup {
            groups: 1,
            messages: 2,
        });
        assert!(text.contains("1 group, 2 messages."), "{text}");
    }
}
