//! The names and types of columns, as the register of metrics has them.
//!
//! The register is `python/earlybird/metrics.toml`, one file for both languages. The engine does not need it to run, so
//! that reports are compared with it in debug builds only: every test that runs a scenario is a test of its tables.

use crate::table::{Column, Summary, Table, Value};

include!(concat!(env!("OUT_DIR"), "/register.rs"));

/// The type of a column or of a value of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Float,
    Integer,
    String,
    Boolean,
}

impl From<&Column> for Type {
    fn from(column: &Column) -> Self {
        match column {
            Column::Float(_) => Self::Float,
            Column::Integer(_) => Self::Integer,
            Column::String(_) => Self::String,
            Column::Boolean(_) => Self::Boolean,
        }
    }
}

impl From<&Value> for Type {
    fn from(value: &Value) -> Self {
        match value {
            Value::Float(_) => Self::Float,
            Value::Integer(_) => Self::Integer,
            Value::String(_) => Self::String,
        }
    }
}

/// Compares tables and a summary with the register.
///
/// # Panics
///
/// If a table has other columns than the register, in another order or of other types, or if a value of the summary is
/// missing from the register or of another type.
pub(crate) fn check(tables: &[(&'static str, Table)], summary: &Summary) {
    for (name, table) in tables {
        let described = TABLES.iter().find(|(known, _)| known == name);
        let columns: Vec<(&str, Type)> = table.columns.iter().map(|(name, column)| (*name, column.into())).collect();
        assert_eq!(described.map(|(_, columns)| *columns), Some(&columns[..]), "columns of `{name}` in metrics.toml");
    }
    for (name, value) in summary {
        let described = SUMMARY.iter().find(|(known, _)| known == name);
        assert_eq!(described.map(|(_, kind)| *kind), Some(value.into()), "`{name}` of the summary in metrics.toml");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_of_the_summary_has_the_type_of_the_register() {
        check(&[], &vec![("t_over_mu".to_owned(), Value::Float(1.0))]);
    }

    #[test]
    #[should_panic(expected = "`no_such_measure` of the summary in metrics.toml")]
    fn a_measure_that_the_register_lacks_is_found() {
        check(&[], &vec![("no_such_measure".to_owned(), Value::Float(1.0))]);
    }

    #[test]
    #[should_panic(expected = "columns of `links` in metrics.toml")]
    fn a_table_that_lacks_columns_is_found() {
        check(&[("links", Table::default().string("link", []))], &Vec::new());
    }
}
