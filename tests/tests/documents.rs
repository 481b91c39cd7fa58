//! What the documents point at exists.

use std::path::{Path, PathBuf};

/// The tests and files that `docs/validation.md` names, and the pages that documents link to.
#[test]
fn validation_names_only_tests_that_exist() {
    let page = read("docs/validation.md");
    let named: Vec<&str> = page
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|name| name.contains(".rs") || name.contains(".test.ts"))
        .collect();
    assert!(named.len() > 50, "only {} tests are named", named.len());
    for name in named {
        let (file, function) = name.split_once("::").unwrap_or((name, ""));
        let source = read(file);
        let is_there = match Path::new(file).extension() {
            _ if function.is_empty() => true,
            Some(end) if end == "rs" => source.contains(&format!("fn {function}(")),
            _ => source.contains(&format!("(\"{function}\"")),
        };
        assert!(
            is_there,
            "docs/validation.md names {name}, which doesn't exist"
        );
    }
}

#[test]
fn links_between_documents_lead_somewhere() {
    let pages = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "docs/operating.md",
        "docs/membership.md",
        "docs/threat-model.md",
        "docs/validation.md",
        "docs/delivery-issues.md",
        "docs/decisions/README.md",
        "docs/wire/README.md",
    ];
    let mut links = 0;
    for page in pages {
        let folder = Path::new(page).parent().unwrap();
        for target in link_targets(&read(page)) {
            links += 1;
            let path = root().join(folder).join(&target);
            assert!(
                path.exists(),
                "{page} links to {target}, which doesn't exist"
            );
        }
    }
    assert!(links > 10, "only {links} links were found");
}

/// Local targets of Markdown links, without their anchors.
fn link_targets(page: &str) -> Vec<String> {
    page.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.split('#').next().unwrap_or_default().to_owned())
        .filter(|target| !target.is_empty() && !target.contains("://"))
        .collect()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path))
        .unwrap_or_else(|error| panic!("{path} can't be read: {error}"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
