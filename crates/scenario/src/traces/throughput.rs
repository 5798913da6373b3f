//! Throughput over time, as traces for players and drive tests have it: a time and a rate per line, or CSV.

use super::useless;
use earlybird_transport::ScenarioError;

/// Bits of a delivery opportunity.
const BITS: f64 = 1500.0 * 8.0;

/// Opportunities of a trace at most: an hour at 66 Mb/s, 160 MB of memory.
const MOST: f64 = 2e7;

/// Returns whether a text has a time and a rate per line, or a header that names a rate.
pub(super) fn has_columns(text: &str) -> bool {
    let Some(first) = rows(text).into_iter().next() else { return false };
    let is_row = first.len() > 1 && first[..2].iter().all(|word| number(word).is_some());
    is_row || (first.len() > 1 && first.iter().any(|word| names_rate(word)))
}

/// Returns the milliseconds of delivery opportunities of 1500 bytes that make the same rate, and at the end its length.
pub(super) fn opportunities(text: &str, file: &str) -> Result<Vec<u64>, ScenarioError> {
    let columns = Columns::of(rows(text), file)?;
    let edges = columns.edges(file)?;
    let (mut times, mut sent) = (Vec::new(), 0.0_f64);
    for (spell, rate) in edges.windows(2).zip(&columns.rates) {
        let begin = sent;
        sent += rate * (spell[1] - spell[0]) / BITS;
        if sent > MOST {
            return Err(useless(file, "is too long", "2e7 packets of 1500 bytes at most, such as an hour at 66 Mb/s")
                .hint("Times are in seconds and rates in Mb/s, unless names say otherwise."));
        }
        // Sums of decimal numbers miss whole ones by a little.
        while ((times.len() + 1) as f64) <= sent + 1e-6 {
            let at = spell[0] + ((times.len() + 1) as f64 - begin) * BITS / rate;
            times.push((1e3 * at.min(spell[1])).ceil() as u64);
        }
    }
    let end = (1e3 * edges.last().copied().unwrap_or_default()).round() as u64;
    // mahimahi starts a trace again at its last time, which therefore is its length.
    if times.last().is_none_or(|last| *last < end) {
        times.push(end);
    }
    Ok(times)
}

/// Splits the lines that are neither empty nor comments at the separator that the first one has.
fn rows(text: &str) -> Vec<Vec<String>> {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let separator = lines().next().and_then(|line| ['\t', ';', ','].into_iter().find(|mark| line.contains(*mark)));
    let words = |line: &str| -> Vec<String> {
        match separator {
            Some(mark) => line.split(mark).map(|word| word.trim().trim_matches('"').to_owned()).collect(),
            None => line.split_whitespace().map(str::to_owned).collect(),
        }
    };
    lines().map(words).collect()
}

/// Reads a number, with a comma or a point.
fn number(word: &str) -> Option<f64> {
    word.replace(',', ".").parse().ok().filter(|value: &f64| value.is_finite())
}

fn contains_any(name: &str, parts: &[&str]) -> bool {
    let name = name.to_ascii_lowercase();
    parts.iter().any(|part| name.contains(part))
}

fn names_rate(name: &str) -> bool {
    contains_any(name, &["mb", "kb", "through", "rate", "band", "bps", "speed"])
}

fn names_time(name: &str) -> bool {
    contains_any(name, &["time", "sec", "stamp"]) || name.eq_ignore_ascii_case("t")
}

/// Returns the bits per second of one unit of a column: Mb/s unless its name says something else.
fn unit_of(name: &str) -> f64 {
    // Columns of Raca and others, "Beyond throughput", MMSys 2018 and 2020, are in kb/s.
    if contains_any(name, &["kb", "dl_bitrate", "ul_bitrate"]) {
        return 1e3;
    }
    let lower = name.to_ascii_lowercase();
    let is_plain = lower.strip_suffix("bps").is_some_and(|rest| !rest.ends_with(['m', 'k']));
    if is_plain || contains_any(name, &["bit_per_s", "bits_per_s"]) { 1.0 } else { 1e6 }
}

/// Times in seconds and rates in bits per second.
struct Columns {
    times: Vec<f64>,
    rates: Vec<f64>,
}

impl Columns {
    /// Reads the first two columns, in Mb/s, or those whose names say what they are.
    fn of(mut rows: Vec<Vec<String>>, file: &str) -> Result<Self, ScenarioError> {
        let has_names = rows.first().and_then(|row| row.last()).is_some_and(|word| number(word).is_none());
        let (mut when, mut what, mut per_second, mut unit) = (Some(0), 1, 1.0, 1e6);
        if has_names {
            let names = rows.remove(0);
            what = rate_column(&names).ok_or_else(|| {
                useless(file, "has no column that is named as a rate", "a name such as Mbps")
                    .hint(format!("its columns are {}.", names.join(", ")))
            })?;
            unit = unit_of(&names[what]);
            when = (0..names.len()).find(|place| *place != what && names_time(&names[*place]));
            per_second =
                if when.is_some_and(|place| contains_any(&names[place], &["ms", "milli"])) { 1e3 } else { 1.0 };
        }
        let known: Vec<(&Vec<String>, f64)> =
            rows.iter().filter_map(|row| Some((row, number(row.get(what)?)? * unit))).collect();
        let time = |row: &Vec<String>| Some(number(row.get(when?)?)? / per_second);
        let times: Option<Vec<f64>> = known.iter().map(|(row, _)| time(row)).collect();
        // Dates, one a second in drive tests.
        let times = times.unwrap_or_else(|| (0..known.len()).map(|second| second as f64).collect());
        Ok(Self { times, rates: known.into_iter().map(|(_, rate)| rate).collect() })
    }

    /// Returns the times at which rates begin, from 0 on, and the end of the last.
    fn edges(&self, file: &str) -> Result<Vec<f64>, ScenarioError> {
        let (first, last) = self.times.first().zip(self.times.last()).unwrap_or((&0.0, &0.0));
        let rises = self.times.windows(2).all(|pair| pair[0] <= pair[1]) && last > first;
        if !rises {
            return Err(useless(file, "has times that do not rise", "at least two lines with rising times"));
        }
        if self.rates.iter().any(|rate| *rate < 0.0) || self.rates.iter().all(|rate| *rate == 0.0) {
            return Err(useless(file, "has no rates", "rates of 0 or more, and one of them above"));
        }
        // The last line holds for as long as those before it, on average.
        let mean = (last - first) / (self.times.len() - 1) as f64;
        Ok(self.times.iter().map(|time| time - first).chain([last - first + mean]).collect())
    }
}

/// Returns the column of the rate: of the downlink if several are named.
fn rate_column(names: &[String]) -> Option<usize> {
    let rates = || (0..names.len()).filter(|place| names_rate(&names[*place]));
    rates().find(|place| contains_any(&names[*place], &["dl", "down"])).or_else(|| rates().next())
}
