use super::*;
use crate::core::step::Change;
use crate::store::tests::Home;

#[test]
fn issues_are_counted_and_dismissed_beyond_a_page() {
    let home = Home::new();
    let mut store = home.open();
    let issue = |at_ms| Change::IssueAdded {
        at_ms,
        issue: DeliveryIssue::Unauthorized,
    };
    let many = PAGE_ROWS_MAX + 5;
    let changes: Vec<Change> = (0..many as u64).map(issue).collect();
    store.apply(&changes, None).unwrap();
    assert_eq!(store.issue_count().unwrap(), many as u64);
    let page = store.issues(None, usize::MAX).unwrap();
    assert_eq!(page.len(), PAGE_ROWS_MAX);
    let rest = store.issues(page.last().map(|issue| issue.id), 9).unwrap();
    let ids: Vec<u64> = rest.iter().map(|issue| issue.id).collect();
    assert_eq!(ids, [5, 4, 3, 2, 1]);
    // The oldest is on no first page, and can be dismissed all the same.
    assert_eq!(store.remove_issue(1), Ok(true));
    assert_eq!(store.remove_issue(1), Ok(false));
    assert_eq!(store.issue_count().unwrap(), many as u64 - 1);
    store.remove_all_issues().unwrap();
    assert_eq!(store.issue_count().unwrap(), 0);
}
