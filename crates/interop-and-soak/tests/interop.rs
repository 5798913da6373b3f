//! Some megabytes by the program `interop`, which does it with gigabytes. Needs the right to make network namespaces with TUN devices
//! (root), and Python or curl; where one is missing, the reason is printed and nothing is tried.

use earlybird_interop_and_soak::Harm;
use earlybird_interop_and_soak::interop::{Family, Trial, Way};
use std::path::Path;
use std::process::{Command, Stdio};

/// All that can happen to packets.
const HARM: Harm = Harm { lost: 0.01, doubled: 0.01, overtaken: 0.01 };

fn is_here(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok()
}

fn goes_whole(way: Way, harm: Harm, control: &str) {
    let program = if way == Way::ToCurl { "curl" } else { "python3" };
    if !rustix::process::geteuid().is_root() || !Path::new("/dev/net/tun").exists() || !is_here(program) {
        eprintln!("skipped: this needs root, /dev/net/tun and {program}");
        return;
    }
    for family in Family::ALL {
        let (ours, kernel) = (control.to_owned(), "cubic".to_owned());
        let trial = Trial { way, family, harm, ours, kernel, megabytes: 5 };
        let outcome = trial.run(Path::new(env!("CARGO_BIN_EXE_interop"))).expect("both sides end");
        assert!(outcome.is_whole(), "{trial:?}: {outcome:?}");
        assert!(harm == Harm::default() || outcome.repeated > 0, "{trial:?}: {outcome:?}");
    }
}

#[test]
fn what_our_client_sends_arrives_whole() {
    goes_whole(Way::ToPython, Harm::default(), "cubic");
    goes_whole(Way::ToPython, HARM, "tolerant");
}

#[test]
fn what_a_client_of_the_kernel_sends_arrives_whole() {
    goes_whole(Way::FromPython, Harm::default(), "cubic");
    goes_whole(Way::FromPython, HARM, "cubic");
}

#[test]
fn what_curl_fetches_of_our_server_arrives_whole() {
    goes_whole(Way::ToCurl, Harm::default(), "cubic");
    goes_whole(Way::ToCurl, HARM, "bbr");
}
