//! Short versions of the program `interop`. Needs root, for network namespaces with TUN devices, and Python or curl; where one is
//! missing, the test prints the reason and passes.

use earlybird_interop_and_soak::TestImpairments;
use earlybird_interop_and_soak::interop::{Direction, Family, Trial};
use std::path::Path;
use std::process::{Command, Stdio};

/// All impairments.
const HARM: TestImpairments = TestImpairments { lost: 0.01, duplicated: 0.01, reordered: 0.01 };

fn is_here(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok()
}

fn transfer_is_intact(direction: Direction, impairments: TestImpairments, control: &str) {
    let program = if direction == Direction::ToCurl { "curl" } else { "python3" };
    if !rustix::process::geteuid().is_root() || !Path::new("/dev/net/tun").exists() || !is_here(program) {
        eprintln!("skipped: this needs root, /dev/net/tun and {program}");
        return;
    }
    for family in Family::ALL {
        let (ours, kernel) = (control.to_owned(), "cubic".to_owned());
        let trial = Trial { direction, family, impairments, ours, kernel, megabytes: 5 };
        let outcome = trial.run(Path::new(env!("CARGO_BIN_EXE_interop"))).expect("both sides end");
        assert!(outcome.is_intact(), "{trial:?}: {outcome:?}");
        assert!(impairments == TestImpairments::default() || outcome.retransmissions > 0, "{trial:?}: {outcome:?}");
    }
}

#[test]
fn what_our_client_sends_arrives_whole() {
    transfer_is_intact(Direction::ToPython, TestImpairments::default(), "cubic");
    transfer_is_intact(Direction::ToPython, HARM, "tolerant");
}

#[test]
fn what_a_client_of_the_kernel_sends_arrives_whole() {
    transfer_is_intact(Direction::FromPython, TestImpairments::default(), "cubic");
    transfer_is_intact(Direction::FromPython, HARM, "cubic");
}

#[test]
fn what_curl_fetches_of_our_server_arrives_whole() {
    transfer_is_intact(Direction::ToCurl, TestImpairments::default(), "cubic");
    transfer_is_intact(Direction::ToCurl, HARM, "bbr");
}
