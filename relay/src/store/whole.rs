//! Unsigned numbers in SQLite's signed columns.
//!
//! Invariant: what doesn't fit is an error, never another number.

use rusqlite::Result;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

/// A number of a row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Whole(pub(super) u64);

impl ToSql for Whole {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        let number = i64::try_from(self.0)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        Ok(ToSqlOutput::from(number))
    }
}

impl FromSql for Whole {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let number = i64::column_result(value)?;
        u64::try_from(number)
            .map(Self)
            .map_err(|_| FromSqlError::OutOfRange(number))
    }
}
