use earlybird_queue::{Discipline, QueueLimit};
use earlybird_transport::{ScenarioError, Time, join, positive};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The table of a queue discipline in a scenario: its parameters with their defaults, and their conversion for the simulator.
pub trait QueueTable: Copy {
    /// Returns the most that may wait.
    fn limit(&self) -> QueueLimit;

    /// Returns the discipline with these parameters.
    fn discipline(&self) -> Discipline;

    /// Returns whether the discipline draws random numbers.
    fn is_random(&self) -> bool {
        false
    }

    /// Returns whether packets are marked instead of dropped.
    fn marks(&self) -> bool {
        false
    }

    /// Returns the table without marks; itself if the discipline has no such setting.
    #[must_use]
    fn without_marks(self) -> Self {
        self
    }

    /// Checks conditions that the schema cannot express; `path` is the key of the table.
    ///
    /// # Errors
    /// The first parameter that is wrong.
    fn check(&self, _path: &str) -> Result<(), ScenarioError> {
        Ok(())
    }
}

/// Writes [`Queue`], one line for each discipline that has a table: its file, its key and the type of the table.
macro_rules! queues {
    ($($(#[$doc:meta])* $file:ident $key:tt: $name:ident,)*) => {
        $(mod $file; pub use $file::$name;)*

        /// The queue in front of a link: the limit of a drop-tail queue, or a discipline with its parameters.
        ///
        /// Like ns-2's, a queue of `packets = L` lets L − 1 packets wait while one more is being sent; so do all limits here. With
        /// `packets = 1` a link holds one packet: it drops packets that arrive during a transmission.
        ///
        /// A link without a `queue` has one that never drops (`"unlimited"`).
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        pub enum Queue {
            /// Never drops: the default where no queue is given.
            #[default]
            Unlimited,
            /// Limit in packets.
            Packets(#[schemars(range(min = 1))] u32),
            /// Limit in bytes.
            Bytes(#[schemars(range(min = 1))] u64),
            /// Drops the packet that has waited longest if the queue is full: limit in packets.
            HeadDrop(#[schemars(range(min = 1))] u32),
            $($(#[$doc])* #[serde(rename = $key)] $name($name),)*
        }

        impl Queue {
            /// Returns the most that may wait.
            pub fn limit(&self) -> QueueLimit {
                match self {
                    Self::Unlimited => QueueLimit::Unlimited,
                    Self::Bytes(bytes) => QueueLimit::Bytes(*bytes),
                    Self::Packets(packets) | Self::HeadDrop(packets) => QueueLimit::Packets(*packets),
                    $(Self::$name(table) => table.limit(),)*
                }
            }

            /// Returns the discipline with its parameters.
            pub fn discipline(&self) -> Discipline {
                match self {
                    Self::Unlimited | Self::Packets(_) | Self::Bytes(_) => Discipline::DropTail,
                    Self::HeadDrop(_) => Discipline::DropHead,
                    $(Self::$name(table) => table.discipline(),)*
                }
            }

            /// Returns whether the discipline draws random numbers.
            pub fn is_random(&self) -> bool {
                match self {
                    $(Self::$name(table) => table.is_random(),)*
                    _ => false,
                }
            }

            /// Returns whether packets are marked instead of dropped.
            pub fn marks(&self) -> bool {
                match self {
                    $(Self::$name(table) => table.marks(),)*
                    _ => false,
                }
            }

            /// Returns the queue without marking, if marking is optional.
            #[must_use]
            pub fn without_marks(self) -> Self {
                match self {
                    $(Self::$name(table) => Self::$name(table.without_marks()),)*
                    _ => self,
                }
            }

            /// Checks conditions that the schema cannot express; `path` is the key of the queue.
            pub(crate) fn check(&self, path: &str) -> Result<(), ScenarioError> {
                match self {
                    $(Self::$name(table) => table.check(&join(path, $key)),)*
                    _ => Ok(()),
                }
            }
        }
    };
}

queues! {
    /// Random Early Detection (Floyd and Jacobson 1993; gentle; Adaptive RED 2001).
    red "red": Red,
    /// Controlled Delay (RFC 8289).
    codel "codel": Codel,
    /// Proportional Integral controller Enhanced (RFC 8033).
    pie "pie": Pie,
    /// A fair share for every connection, with `CoDel` for each (RFC 8290).
    fq_codel "fq-codel": FqCodel,
    /// CAKE: a fair share for every connection, with `CoDel` and BLUE for each (Høiland-Jørgensen, Täht and Morton 2018).
    cake "cake": Cake,
    /// A low-latency queue for scalable senders and a classic queue, with coupled marking (RFC 9332).
    dual_pi2 "dualpi2": DualPi2,
}

const fn millis(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// The shortest period of a controller: a thousandth of the standards' 15 ms (RFC 8033) and 16 ms (RFC 9332). Every period of
/// a run is computed, so shorter periods are too slow.
const SHORTEST_UPDATE: Time = Time::from_micros(15);

fn check_update(update: Time, path: &str) -> Result<(), ScenarioError> {
    positive(update, path)?;
    let error = || ScenarioError::new(path, "is too short").text(&update.to_string());
    let allowed = || format!("a duration from {SHORTEST_UPDATE} on");
    if update >= SHORTEST_UPDATE { Ok(()) } else { Err(error().allowed(allowed())) }
}
