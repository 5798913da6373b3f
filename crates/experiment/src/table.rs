//! Tables as columns, and named values.

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// 64-bit floating-point numbers; NaN where there is no value.
    Float(Vec<f64>),
    /// 64-bit integers.
    Integer(Vec<i64>),
    /// Strings.
    String(Vec<String>),
    /// Booleans.
    Boolean(Vec<bool>),
}

/// Columns of one length, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The columns in order.
    pub columns: Vec<(&'static str, Column)>,
}

impl Table {
    /// Returns a column by name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|(known, _)| *known == name).map(|(_, column)| column)
    }

    /// Appends a column of floats.
    #[must_use]
    pub fn float(mut self, name: &'static str, values: impl IntoIterator<Item = f64>) -> Self {
        self.columns.push((name, Column::Float(values.into_iter().collect())));
        self
    }

    /// Appends a column of integers.
    #[must_use]
    pub fn integer(mut self, name: &'static str, values: impl IntoIterator<Item = u64>) -> Self {
        self.columns.push((name, Column::Integer(values.into_iter().map(u64::cast_signed).collect())));
        self
    }

    /// Appends a column of strings.
    #[must_use]
    pub fn string(mut self, name: &'static str, values: impl IntoIterator<Item = String>) -> Self {
        self.columns.push((name, Column::String(values.into_iter().collect())));
        self
    }

    /// Appends a column of booleans.
    #[must_use]
    pub fn boolean(mut self, name: &'static str, values: impl IntoIterator<Item = bool>) -> Self {
        self.columns.push((name, Column::Boolean(values.into_iter().collect())));
        self
    }
}

/// A value of a summary.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A 64-bit floating-point number.
    Float(f64),
    /// An integer.
    Integer(u64),
    /// A string.
    String(String),
}

/// Named values in order.
pub type Summary = Vec<(String, Value)>;
