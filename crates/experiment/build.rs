//! Compiles the names and types of all columns from the register of metrics, which Python reads too.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};
use toml::{Table, Value};

const REGISTER: &str = "../../python/earlybird/metrics.toml";

fn main() {
    println!("cargo::rerun-if-changed={REGISTER}");
    let text = fs::read_to_string(REGISTER).expect("the register of metrics is in the repository");
    let register: Table = text.parse().expect("the register of metrics is TOML");
    let mut code = String::from("pub(crate) const TABLES: &[(&str, &[(&str, Type)])] = &[\n");
    for (name, table) in section(&register, "tables") {
        let columns = entries(table.as_table().expect("a table of the register"));
        writeln!(code, "    ({name:?}, &[{columns}]),").expect("a string takes all text");
    }
    code.push_str("];\npub(crate) const SUMMARY: &[(&str, Type)] = &[");
    for name in ["summary", "real_time"] {
        code.push_str(&entries(section(&register, name)));
    }
    code.push_str("];\npub(crate) const SHARES: &[(&str, &str)] = &[");
    code.push_str(&shares("summary", section(&register, "summary")));
    for (name, table) in section(&register, "tables") {
        code.push_str(&shares(name, table.as_table().expect("a table of the register")));
    }
    code.push_str("];\n");
    let folder = env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR");
    fs::write(Path::new(&folder).join("register.rs"), code).expect("OUT_DIR can be written to");
}

fn section<'a>(register: &'a Table, name: &str) -> &'a Table {
    register.get(name).and_then(Value::as_table).unwrap_or_else(|| panic!("the register has no section `{name}`"))
}

/// Returns pairs of name and type as Rust code, in the order of the register.
fn entries(node: &Table) -> String {
    let entries = section(node, "entries").iter();
    let rows: Vec<String> =
        entries.map(|(name, entry)| format!("({name:?}, Type::{})", variant(name, entry))).collect();
    rows.iter().flat_map(|row| [row.as_str(), ", "]).collect()
}

/// Returns pairs of table and name as Rust code, of the values that are from 0 to 1.
fn shares(table: &str, node: &Table) -> String {
    let entries = section(node, "entries").iter();
    let is_share = |entry: &Value| entry.get("unit").and_then(Value::as_str) == Some("share");
    let rows: Vec<String> =
        entries.filter(|(_, entry)| is_share(entry)).map(|(name, _)| format!("({table:?}, {name:?})")).collect();
    rows.iter().flat_map(|row| [row.as_str(), ", "]).collect()
}

fn variant(name: &str, entry: &Value) -> &'static str {
    match entry.get("type").and_then(Value::as_str) {
        Some("float") => "Float",
        Some("integer") => "Integer",
        Some("string") => "String",
        Some("boolean") => "Boolean",
        other => panic!("`{name}` in the register of metrics has the type {other:?}"),
    }
}
