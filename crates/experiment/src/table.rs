//! Tables as columns.

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Real numbers; NaN where there is no value.
    Real(Vec<f64>),
    /// Whole numbers.
    Whole(Vec<i64>),
    /// Texts.
    Text(Vec<String>),
    /// Yes or no.
    Flag(Vec<bool>),
}

/// Columns of one length, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The columns in order.
    pub columns: Vec<(&'static str, Column)>,
}

impl Table {
    /// Appends a column of real numbers.
    #[must_use]
    pub fn real(mut self, name: &'static str, values: impl IntoIterator<Item = f64>) -> Self {
        self.columns.push((name, Column::Real(values.into_iter().collect())));
        self
    }

    /// Appends a column of whole numbers.
    #[must_use]
    pub fn whole(mut self, name: &'static str, values: impl IntoIterator<Item = u64>) -> Self {
        self.columns.push((name, Column::Whole(values.into_iter().map(u64::cast_signed).collect())));
        self
    }

    /// Appends a column of texts.
    #[must_use]
    pub fn text(mut self, name: &'static str, values: impl IntoIterator<Item = String>) -> Self {
        self.columns.push((name, Column::Text(values.into_iter().collect())));
        self
    }

    /// Appends a column of flags.
    #[must_use]
    pub fn flag(mut self, name: &'static str, values: impl IntoIterator<Item = bool>) -> Self {
        self.columns.push((name, Column::Flag(values.into_iter().collect())));
        self
    }
}
