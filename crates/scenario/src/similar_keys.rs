//! Suggestions of the place to which a misplaced key belongs.

use crate::schema_walk::{Kind, SchemaNode};
use earlybird_transport::{join, nearest};

/// Returns every key path of the model, the shortest first; a list's elements go by `NAME`.
fn paths(root: SchemaNode<'_>) -> Vec<String> {
    let mut paths = Vec::new();
    collect(root, "", &mut paths);
    // Stable: keys of one depth keep the order of the model.
    paths.sort_by_key(|path| path.matches('.').count());
    paths
}

/// Names the paths that end with `key`, or the nearest thing to it; empty if there is nothing like it.
pub(crate) fn elsewhere(key: &str, root: SchemaNode<'_>) -> String {
    let last = key.rsplit('.').next().unwrap_or(key);
    let paths = paths(root);
    let ending_with = |key| ending_with(&paths, key);
    let exact = ending_with(key);
    let names = paths.iter().map(|path| path.rsplit('.').next().unwrap_or(path));
    // The key itself elsewhere is likelier than a similar one.
    let found = if exact.is_empty() { nearest(last, names).map(ending_with).unwrap_or_default() } else { exact };
    if found.is_empty() { String::new() } else { format!("did you mean {}?", found.join(" or ")) }
}

/// Returns up to two paths that end with `key`.
fn ending_with(paths: &[String], key: &str) -> Vec<String> {
    let end = format!(".{key}");
    paths.iter().filter(|path| path.ends_with(&end)).take(2).map(|path| format!("`{path}`")).collect()
}

fn collect(schema: SchemaNode<'_>, path: &str, paths: &mut Vec<String>) {
    if let Kind::List(inner) = schema.kind() {
        collect(inner, &join(path, "NAME"), paths);
    }
    for (key, child) in schema.keys().into_iter().filter_map(|key| Some((key, schema.child(key)?))) {
        let path = join(path, key);
        collect(child, &path, paths);
        paths.push(path);
    }
}
