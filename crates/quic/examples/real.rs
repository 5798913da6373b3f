//! quinn over real sockets: one end of one connection, which measures what the simulator's guest is measured by.
//!
//! ```text
//! real serve ADDRESS CERTIFICATE KEY SECONDS [UNIT]    # one connection; says what came, as JSON
//! real send ADDRESS CERTIFICATE SECONDS [UNIT PERIOD]  # as much as goes, or a unit of bytes every so many seconds
//! ```
//!
//! Certificate and key are files in DER. A unit begins with the time at which it was written, so both ends must be on one machine.

use quinn::{ClientConfig, Connection, Endpoint, RecvStream, SendStream, ServerConfig};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::json;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use std::{env, fs, process};
use tokio::time::{sleep, timeout};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The name in the certificate.
const NAME: &str = "localhost";

/// The time that both ends stay open at the end: for the last acknowledgement, and to report what arrived.
const GRACE: Duration = Duration::from_millis(500);

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    if let Err(error) = runtime.block_on(run(&arguments)) {
        eprintln!("real: {error}");
        process::exit(1);
    }
}

async fn run(arguments: &[&str]) -> Outcome<()> {
    match arguments {
        ["serve", address, certificate, key, seconds, rest @ ..] => {
            let unit = rest.first().map(|unit| unit.parse()).transpose()?;
            serve(server(certificate, key)?, address.parse()?, span(seconds)?, unit).await
        }
        ["send", address, certificate, seconds] => {
            let connection = connect(certificate, address.parse()?).await?;
            pour(&connection, span(seconds)?).await
        }
        ["send", address, certificate, seconds, unit, period] => {
            let connection = connect(certificate, address.parse()?).await?;
            time(&connection, span(seconds)?, unit.parse()?, span(period)?).await
        }
        _ => {
            Err("serve ADDRESS CERTIFICATE KEY SECONDS [UNIT], or send ADDRESS CERTIFICATE SECONDS [UNIT PERIOD]"
                .into())
        }
    }
}

fn span(seconds: &str) -> Outcome<Duration> {
    Ok(Duration::try_from_secs_f64(seconds.parse()?)?)
}

fn server(certificate: &str, key: &str) -> Outcome<ServerConfig> {
    let certificate = CertificateDer::from(fs::read(certificate)?);
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(fs::read(key)?));
    Ok(ServerConfig::with_single_cert(vec![certificate], key)?)
}

async fn connect(certificate: &str, address: SocketAddr) -> Outcome<Connection> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(fs::read(certificate)?))?;
    let mut endpoint = Endpoint::client(SocketAddr::from(([0, 0, 0, 0], 0)))?;
    endpoint.set_default_client_config(ClientConfig::with_root_certificates(Arc::new(roots))?);
    Ok(endpoint.connect(address, NAME)?.await?)
}

/// Writes zeros for so long.
async fn pour(connection: &Connection, length: Duration) -> Outcome<()> {
    let mut stream = connection.open_uni().await?;
    // Whoever reads may have seen enough before.
    let _ = timeout(length, pour_into(&mut stream)).await;
    Ok(())
}

async fn pour_into(stream: &mut SendStream) -> Outcome<()> {
    let chunk = vec![0; 1 << 16];
    loop {
        stream.write_all(&chunk).await?;
    }
}

/// Writes units at their times into one stream, and waits until all are acknowledged.
async fn time(connection: &Connection, length: Duration, unit: usize, period: Duration) -> Outcome<()> {
    let mut stream = connection.open_uni().await?;
    let (start, mut written) = (now(), 0u32);
    while period * written < length {
        sleep((start + period * written).saturating_duration_since(now())).await;
        let mut bytes = vec![0; unit];
        bytes[..8].copy_from_slice(&nanoseconds().to_be_bytes());
        stream.write_all(&bytes).await?;
        written += 1;
    }
    stream.finish()?;
    stream.stopped().await?;
    sleep(GRACE).await;
    Ok(())
}

/// Reads one stream to its end, or for so long from the first packet of the connection on.
#[expect(clippy::print_stdout, reason = "what was measured is its output")]
async fn serve(config: ServerConfig, address: SocketAddr, length: Duration, unit: Option<usize>) -> Outcome<()> {
    let endpoint = Endpoint::server(config, address)?;
    let incoming = endpoint.accept().await.ok_or("closed")?;
    let end = now() + length;
    let connection = incoming.await?;
    let mut stream = connection.accept_uni().await?;
    let (mut bytes, mut delays) = (0, Delays::default());
    while let Ok(Some(chunk)) = next(&mut stream, end).await {
        bytes += chunk.len();
        if let Some(unit) = unit {
            delays.read(&chunk, unit);
        }
    }
    println!("{}", json!({ "bytes": bytes, "delays": delays.seconds }));
    // The last acknowledgement leaves after the last byte has come.
    sleep(GRACE).await;
    Ok(())
}

async fn next(stream: &mut RecvStream, end: Instant) -> Outcome<Option<bytes::Bytes>> {
    let chunk = timeout(end.saturating_duration_since(now()), stream.read_chunk(usize::MAX, true)).await??;
    Ok(chunk.map(|chunk| chunk.bytes))
}

/// The delays of units.
#[derive(Default)]
struct Delays {
    begun: Vec<u8>,
    seconds: Vec<f64>,
}

impl Delays {
    fn read(&mut self, chunk: &[u8], unit: usize) {
        self.begun.extend(chunk);
        while let Some((written, _)) = self.begun.split_first_chunk().filter(|_| self.begun.len() >= unit) {
            self.seconds.push(nanoseconds().saturating_sub(u64::from_be_bytes(*written)) as f64 / 1e9);
            self.begun.drain(..unit);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this runs in real time")]
fn now() -> Instant {
    Instant::now()
}

/// The machine's time, which both ends have.
#[expect(clippy::disallowed_methods, reason = "as above")]
fn nanoseconds() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}
