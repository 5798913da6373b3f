//! Where a key that is not here could belong.

use crate::document::join;
use crate::shape::{Kind, Shape};
use crate::suggest::nearest;

/// Returns every key path of the model, the shortest first; a list's elements go by `NAME`.
fn paths() -> Vec<String> {
    let mut paths = Vec::new();
    collect(Shape::root(), "", &mut paths);
    paths.sort_by_key(|path| path.matches('.').count());
    paths
}

/// Names the paths that end with `key`, or the nearest thing to it; empty if there is nothing like it.
pub(crate) fn elsewhere(key: &str) -> String {
    let last = key.rsplit('.').next().unwrap_or(key);
    let paths = paths();
    let ending_with = |key| ending_with(&paths, key);
    let exact = ending_with(key);
    let names = paths.iter().map(|path| path.rsplit('.').next().unwrap_or(path));
    let found = if exact.is_empty() { nearest(last, names).map(ending_with).unwrap_or_default() } else { exact };
    if found.is_empty() { String::new() } else { format!("did you mean {}?", found.join(" or ")) }
}

/// Returns up to two paths that end with `key`.
fn ending_with(paths: &[String], key: &str) -> Vec<String> {
    let end = format!(".{key}");
    paths.iter().filter(|path| path.ends_with(&end)).take(2).map(|path| format!("`{path}`")).collect()
}

fn collect(shape: Shape, path: &str, paths: &mut Vec<String>) {
    if let Kind::List(inner) = shape.kind() {
        collect(inner, &join(path, "NAME"), paths);
    }
    for (key, child) in shape.keys().into_iter().filter_map(|key| Some((key, shape.child(key)?))) {
        let path = join(path, key);
        collect(child, &path, paths);
        paths.push(path);
    }
}
