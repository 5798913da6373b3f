//! Web sessions: what they ask for, over how many connections, and the distributions against their papers.

use earlybird_conformance::{Area, conforms};
use earlybird_traffic::{
    Browser, ConnectionId, Encoding, Exchange, HttpSimple, Mah, Pages, PathId, Persistence, SenderApp, SenderIo, Sites,
    Surge,
};
use earlybird_units::{Duration, Instant, Random, SeedTree};
use std::sync::Arc;

/// A network that delivers everything after a tenth of a second.
#[derive(Default)]
struct Wire {
    now: Instant,
    wake: Option<Instant>,
    /// Path of each open connection; none once it is closed.
    paths: Vec<Option<PathId>>,
    /// The times at which writes will be acknowledged.
    in_flight: Vec<(Instant, ConnectionId)>,
    written: Vec<(Instant, PathId, u64)>,
    most_in_flight: usize,
}

impl SenderIo for Wire {
    fn now(&self) -> Instant {
        self.now
    }

    fn open(&mut self, path: PathId) -> ConnectionId {
        self.paths.push(Some(path));
        ConnectionId(self.paths.len() as u32 - 1)
    }

    fn write(&mut self, connection: ConnectionId, bytes: u64) {
        let path = self.paths[connection.0 as usize].expect("an open connection");
        self.written.push((self.now, path, bytes));
        self.in_flight.push((self.now + Duration::from_millis(100), connection));
        self.most_in_flight = self.most_in_flight.max(self.in_flight.len());
    }

    fn write_unit_created(&mut self, _connection: ConnectionId, _bytes: u64, _made: Instant) {
        unreachable!("no media here");
    }

    fn is_blocked(&self, _connection: ConnectionId) -> bool {
        false
    }

    fn report(&mut self, _event: Encoding) {
        unreachable!("nothing is encoded here");
    }

    fn close(&mut self, connection: ConnectionId) {
        assert!(self.paths[connection.0 as usize].take().is_some(), "closed twice");
    }

    fn wake_at(&mut self, at: Instant) {
        self.wake = Some(at);
    }

    fn mss(&self) -> u64 {
        1000
    }
}

const REQUEST: PathId = PathId(0);
const RESPONSE: PathId = PathId(1);

impl Wire {
    /// Lets a browser act for so many events, from its start.
    fn drive<P: Pages>(&mut self, browser: &mut Browser<P>, events: usize) {
        (0..events).for_each(|_| self.drive_one(browser));
    }

    /// Acknowledges writes before anything else that is due.
    fn drive_one<P: Pages>(&mut self, browser: &mut Browser<P>) {
        let drained = (0..self.in_flight.len()).min_by_key(|index| self.in_flight[*index].0);
        let wake = self.wake.unwrap_or(if self.written.is_empty() { Instant::ZERO } else { Instant::NEVER });
        if let Some(index) = drained.filter(|index| self.in_flight[*index].0 <= wake) {
            let (at, connection) = self.in_flight.remove(index);
            self.now = at;
            browser.on_drained(self, connection);
        } else {
            assert!(wake < Instant::NEVER, "a browser that waits for nothing");
            self.now = wake;
            self.wake = None;
            browser.on_wake(self);
        }
    }

    fn sizes_on(&self, path: PathId) -> Vec<u64> {
        self.written.iter().filter(|(_, on, _)| *on == path).map(|(_, _, bytes)| *bytes).collect()
    }

    fn open_connections(&self) -> usize {
        self.paths.iter().flatten().count()
    }
}

fn random() -> Random {
    SeedTree::new(4).random()
}

fn browser<P: Pages>(pages: P, parallel: usize, persistence: Persistence) -> Browser<P> {
    let sites = Sites { requests: vec![vec![REQUEST]], responses: vec![vec![RESPONSE]] };
    Browser::new(Arc::new(sites), pages, parallel, persistence, random())
}

fn simple() -> HttpSimple {
    HttpSimple { think: Duration::from_secs(3), request: 256, page: 4000, objects: 4, object: 8000 }
}

/// A page of http-simple: 5 requests, 5 answers; the page's own answer comes before anything else is asked for.
#[test]
fn a_page_comes_first_then_its_objects_over_as_many_connections_as_allowed() {
    for (parallel, steps) in [(1, 5), (2, 3), (4, 2), (8, 2)] {
        let mut wire = Wire::default();
        let mut browser = browser(simple(), parallel, Persistence::PerObject);
        wire.drive(&mut browser, 1000);
        let first: Vec<_> = wire.written.iter().take(10).copied().collect();
        assert_eq!(wire.sizes_on(REQUEST)[..5], [256; 5]);
        assert_eq!(wire.sizes_on(RESPONSE)[..5], [4000, 8000, 8000, 8000, 8000]);
        assert_eq!(first[0], (Instant::ZERO, REQUEST, 256));
        assert_eq!(first[1].1, RESPONSE);
        assert!(
            first[2].0 == first[1].0 + Duration::from_millis(100),
            "the page is there before the rest is asked for"
        );
        // Each step takes a request and an answer of 100 ms.
        let last = Instant::ZERO + Duration::from_millis(200 * steps - 100);
        assert_eq!(first[9].0, last, "with {parallel} in parallel");
        assert_eq!(wire.most_in_flight, parallel.min(4));
    }
}

#[test]
fn connections_live_for_an_object_or_for_a_page() {
    for (persistence, connections) in [(Persistence::PerObject, 10), (Persistence::PerPage, 4)] {
        let mut wire = Wire::default();
        let mut browser = browser(simple(), 2, persistence);
        let mut pages = 0;
        while pages < 20 {
            wire.drive_one(&mut browser);
            let complete = wire.written.len() == 10 * (pages + 1) && wire.in_flight.is_empty();
            if complete && wire.open_connections() == 0 {
                pages += 1;
                assert_eq!(wire.paths.len(), connections * pages);
            }
        }
    }
}

#[test]
fn equal_seeds_ask_for_the_same_over_any_number_of_connections() {
    let asked = |parallel| {
        let mut wire = Wire::default();
        wire.drive(&mut browser(Mah::default(), parallel, Persistence::PerObject), 3000);
        let mut sizes = wire.sizes_on(REQUEST);
        sizes.truncate(500);
        sizes
    };
    assert_eq!(asked(1).len(), 500);
    assert_eq!(asked(1), asked(4));
}

/// Draws so many pages; gives the files of each and all exchanges.
fn pages(mut model: impl Pages, count: usize) -> (Vec<f64>, Vec<Exchange>) {
    let mut random = random();
    let mut all = Vec::new();
    let files = (0..count).map(|_| {
        let before = all.len();
        model.draw(&mut random, &mut all);
        (all.len() - before) as f64
    });
    (files.collect(), all)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((share * sorted.len() as f64) as usize).min(sorted.len() - 1)]
}

fn assert_within(value: f64, expected: f64, share: f64) {
    assert!((value / expected - 1.0).abs() < share, "{value} instead of {expected}");
}

#[test]
fn mah_s_quantiles_and_means_are_those_of_his_paper() {
    let (files, exchanges) = pages(Mah::default(), 100_000);
    let requests: Vec<f64> = exchanges.iter().map(|one| one.request as f64).collect();
    let replies: Vec<f64> = exchanges.iter().map(|one| one.response as f64).collect();
    let (mut model, mut random) = (Mah::default(), random());
    let thinking: Vec<f64> = (0..400_000).map(|_| model.reading(&mut random).as_secs_f64()).collect();
    let changes: Vec<bool> = (0..100_000).map(|_| model.leaves_server(&mut random)).collect();
    let starts: Vec<usize> = (0..changes.len()).filter(|index| changes[*index]).collect();
    let stays: Vec<f64> = starts.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    let compared = [
        (quantile(&requests, 0.5), 231.0),
        (mean(&requests), 337.0),
        (quantile(&replies, 0.5), 2112.0),
        (quantile(&replies, 0.9), 12_600.0),
        (quantile(&replies, 0.99), 67_000.0),
        (mean(&replies), 7231.0),
        (quantile(&files, 0.5), 1.0),
        (mean(&files), 2.84),
        (quantile(&stays, 0.5), 2.0),
        (mean(&stays), 4.0),
        (quantile(&thinking, 0.5), 16.2),
        (quantile(&thinking, 0.75), 61.0),
        (mean(&thinking), 1804.0),
    ];
    for (value, expected) in compared {
        assert_within(value, expected, 0.03);
    }
    assert!(quantile(&replies, 1.0) <= 1.64e6);
    conforms(
        Area::Traffic,
        "mah",
        "Mah, INFOCOM 1997",
        "medians, upper quantiles and means of request, reply, files per page, pages per server, think time",
        "13 of 13 within 3 % (10⁵ pages); the means by choice of one point of each distribution",
    );
}

/// Share of the files above x: the tail's 0.07·(133000/x)^1.1 (all of 0.07 below 133 kB) and the lognormal body's.
#[test]
fn surge_s_sizes_and_pauses_are_those_of_its_table() {
    let (objects, exchanges) = pages(Surge::new(256), 200_000);
    let sizes: Vec<f64> = exchanges.iter().map(|one| one.response as f64).collect();
    let above = |least: f64| sizes.iter().filter(|size| **size > least).count() as f64 / sizes.len() as f64;
    // 1 − Φ(0), 1 − Φ(1.8524), 1 − Φ(3.3827).
    let normal = [(9.357_f64.exp(), 0.5), (133_000.0, 0.031_98), (1e6, 0.000_359)];
    for (least, body) in normal {
        let tail = (133_000.0 / least).powf(1.1).min(1.0);
        assert_within(above(least), 0.93 * body + 0.07 * tail, 0.03);
    }
    let embedded = |count: u64| objects.iter().filter(|files| **files as u64 == count + 1).count() as f64 / 200_000.0;
    assert_within(embedded(1), 1.0 - 0.5_f64.powf(2.43), 0.01);
    assert_within(embedded(2), 0.5_f64.powf(2.43) - 3.0_f64.powf(-2.43), 0.03);
    let (mut model, mut random) = (Surge::new(256), random());
    let reading: Vec<f64> = (0..100_000).map(|_| model.reading(&mut random).as_secs_f64()).collect();
    let pauses: Vec<f64> = (0..100_000).map(|_| model.pause(&mut random).as_secs_f64()).collect();
    assert_within(quantile(&reading, 0.5), 2.0_f64.powf(1.0 / 1.5), 0.02);
    assert_within(quantile(&reading, 0.99), 100.0_f64.powf(1.0 / 1.5), 0.05);
    assert_within(quantile(&pauses, 0.5), 1.46 * 2.0_f64.ln().powf(1.0 / 0.382), 0.04);
    assert_within(quantile(&pauses, 0.9), 1.46 * 10.0_f64.ln().powf(1.0 / 0.382), 0.04);
    conforms(
        Area::Traffic,
        "surge",
        "Barford and Crovella, SIGMETRICS 1998, table 3",
        "share of files above 3 sizes, of pages with 1 and 2 embedded objects, quantiles of both pauses",
        "9 of 9 within 5 % (2·10⁵ pages)",
    );
}

#[test]
fn http_simple_s_pages_are_all_alike_and_its_pauses_exponential() {
    let (files, exchanges) = pages(simple(), 10);
    assert_eq!(files, [5.0; 10]);
    assert_eq!(exchanges.iter().map(|one| one.response).sum::<u64>(), 10 * 36_000);
    let (mut model, mut random) = (simple(), random());
    let reading: Vec<f64> = (0..100_000).map(|_| model.reading(&mut random).as_secs_f64()).collect();
    assert_within(mean(&reading), 3.0, 0.02);
    assert_within(quantile(&reading, 0.5), 3.0 * 2.0_f64.ln(), 0.02);
}
