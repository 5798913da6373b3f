//! What carries packets from one endpoint to another.

mod impaired;
mod served;

use crate::calendar::Calendar;
use crate::events::Event;
use crate::ids::LinkId;
use crate::moment::Moment;
use crate::network::{Network, Step};
use crate::observer::{Observer, PacketEvent};
use crate::parcels::Parcels;
use crate::slots::{Place, Slot};
use earlybird_units::Instant;
use impaired::Stragglers;

/// The network, the packets in it, and what is to happen.
#[derive(Debug)]
pub(crate) struct Transit<O> {
    pub(crate) now: Moment,
    pub(crate) events: Calendar,
    pub(crate) network: Network,
    pub(crate) parcels: Parcels,
    stragglers: Stragglers,
    pub(crate) observer: O,
}

impl<O: Observer> Transit<O> {
    pub(crate) fn new(mut network: Network, observer: O) -> Self {
        network.settle();
        let (events, parcels, stragglers) = (Calendar::default(), Parcels::default(), Stragglers::default());
        Self { now: Moment::ZERO, events, network, parcels, stragglers, observer }
    }

    /// Lets a packet go that an endpoint has sent.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as of `forward`")]
    pub(crate) fn depart(&mut self, place: Place) {
        self.events.slots.get_mut(place).event.moment = self.now;
        if self.forward(place) {
            // An endpoint that sends to itself.
            self.push_into_pipe(LinkId(0), place);
        }
    }

    /// Lets a packet go on at the moment in its slot, which is now; says whether it has come to the end of its route.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "every packet comes by several times, so that calls cost much")]
    pub(crate) fn forward(&mut self, place: Place) -> bool {
        let step = self.network.first_step(self.events.slots.get(place).packet.route);
        if !step.stops() {
            self.carry(place, step);
        } else if step != Step::END {
            self.queue_up(step.link(), place);
        }
        step == Step::END
    }

    /// Carries a packet over its next links as far as its fate is known now.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as of `forward`")]
    fn carry(&mut self, place: Place, first: Step) {
        let Slot { event: Event { moment, .. }, packet } = self.events.slots.get_mut(place);
        let mut step = first;
        loop {
            let entered = moment.at;
            if !self.network.link_mut(step.link()).accept(moment, packet) {
                return self.drop_at(step.link(), entered, place);
            }
            if O::PACKETS {
                self.observer.on_packet(entered, PacketEvent::Entered(step.link()), packet);
            }
            packet.route = packet.route.rest();
            if !step.goes_on() {
                break;
            }
            step = self.network.first_step(packet.route);
        }
        if self.network.link(step.link()).is_impaired {
            return self.leave_impaired(step.link(), place);
        }
        self.push_into_pipe(step.link(), place);
    }

    #[cold]
    fn drop_at(&mut self, link: LinkId, at: Instant, place: Place) {
        let cause = self.network.link(link).drop_cause();
        self.observer.on_packet(at, PacketEvent::Dropped(link, cause), self.events.slots.set_free(place));
    }

    /// Enters the arrival of a packet at the far end of a link.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as of `forward`")]
    fn push_into_pipe(&mut self, link: LinkId, place: Place) {
        self.events.slots.get_mut(place).event.become_arrival(link);
        self.events.push(place);
    }
}
