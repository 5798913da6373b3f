//! The kernel's own hosts over emulated links. What needs rights that the machine does not give is skipped with the reason.

use earlybird_emulator::{Crossing, Emulator, Namespace, Place, Side, Timing, Watch, Way, Ways};
use earlybird_sim::{FlowId, GroupId, LinkSettings, Network, Observer};
use earlybird_units::{Duration, Instant, Rate, SeedTree};
use std::process::{Child, Command, Stdio};

/// Two hosts.
struct Hosts {
    near: Namespace,
    far: Namespace,
}

impl Hosts {
    fn place(number: u8) -> Place {
        let v4 = [10, 77, 0, number].into();
        Place { v4, v6: [0xfd77, 0, 0, 0, 0, 0, 0, u16::from(number)].into(), mtu: 1500 }
    }

    fn new() -> Option<Self> {
        match (Namespace::new(Self::place(1)), Namespace::new(Self::place(2))) {
            (Ok(near), Ok(far)) => Some(Self { near, far }),
            (Err(error), _) | (_, Err(error)) => {
                eprintln!("skipped: this machine gives no network namespace with a TUN device: {error}");
                None
            }
        }
    }

    fn crossing(&self) -> Crossing {
        let [near, far] = [&self.near, &self.far].map(|host| host.device().try_clone().unwrap());
        Crossing::new(near, far)
    }
}

/// One link each way.
fn line(link: impl Fn() -> LinkSettings) -> (Network, Ways) {
    let mut network = Network::default();
    let [near, far] = [network.add_node(), network.add_node()];
    network.add_link(near, far, link());
    network.add_link(far, near, link());
    let [there, back] = [(near, far), (far, near)].map(|(from, to)| network.add_route(from, to).unwrap());
    (network, Ways::all(Way { there, back, flow: FlowId(0), group: GroupId(0) }))
}

fn link(megabits: u64, millis: u64) -> LinkSettings {
    let rate = Rate::from_bits_per_second(megabits * 1_000_000).unwrap();
    LinkSettings { delay: Duration::from_millis(millis), ..LinkSettings::plain("", rate, SeedTree::new(1)) }
}

/// Looks on until a process ends.
struct UntilEnd(Child);

impl<O: Observer> Watch<O> for UntilEnd {
    fn look(&mut self, now: Instant, _: &mut Emulator<O>, _: &Timing) -> bool {
        self.0.try_wait().unwrap().is_none() && now < Instant::from_nanos(30_000_000_000)
    }
}

/// Lets a command run on the near side, and gives what it says.
fn run(hosts: &Hosts, emulator: &mut Emulator, command: &mut Command) -> (String, Crossing) {
    let mut crossing = hosts.crossing();
    let mut watch = UntilEnd(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    crossing.run(emulator, &mut watch).unwrap();
    let output = watch.0.wait_with_output().unwrap();
    (String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap(), crossing)
}

#[test]
fn a_ping_takes_the_time_that_the_links_say() {
    let Some(hosts) = Hosts::new() else { return };
    for destination in ["10.77.0.2", "fd77::2"] {
        let (network, ways) = line(|| link(10, 20));
        let mut emulator = Emulator::new(network, ways, ());
        let mut command = hosts.near.command("ping").unwrap();
        let (said, crossing) = run(&hosts, &mut emulator, command.args(["-c", "5", "-i", "0.05", destination]));
        let times: Vec<f64> = said
            .lines()
            .filter_map(|line| line.split("time=").nth(1)?.split(' ').next()?.parse().ok())
            .collect();
        assert_eq!(times.len(), 5, "{said}");
        // 84 or 104 bytes at 10 Mb/s take less than 0.1 ms; the kernel and this process take what they take.
        assert!(times.iter().all(|time| (40.1..80.0).contains(time)), "{said}");
        assert!(crossing.timing().packets() >= 10 && crossing.undelivered() == 0);
        assert_eq!(emulator.refusals().overflows, 0);
    }
}
