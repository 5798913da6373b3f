//! Compiles the eBPF programs.

use libbpf_cargo::SkeletonBuilder;
use std::path::PathBuf;
use std::{env, process};

fn main() {
    println!("cargo:rerun-if-changed=bpf");
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where"));
    for name in ["pert", "select"] {
        let source = format!("bpf/{name}.bpf.c");
        let object = folder.join(format!("{name}.bpf.o"));
        let built =
            SkeletonBuilder::new().source(&source).obj(object).clang_args(["-mcpu=v3", "-Wall", "-Werror"]).build();
        if let Err(error) = built {
            println!("cargo:warning={source}: {error:#}. Is clang 12 or later there? `apt-get install clang`");
            process::exit(1);
        }
    }
}
