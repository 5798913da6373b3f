//! Packets of real networks: written, read, and refused where they are not what they say.

mod addresses;
mod arbitrary;
mod damage;
mod icmp;
mod ip;
mod options;
mod packet_summary;
mod round_trip;
mod train;
