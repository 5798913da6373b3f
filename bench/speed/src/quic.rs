//! QUIC, as quinn has it: one stream of one connection, each end on a thread of its own.

use crate::Result;
use quinn::rustls::RootCertStore;
use quinn::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use quinn::{ClientConfig, Endpoint, ServerConfig, VarInt};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, mpsc};
use std::thread;
use tokio::runtime::{Builder, Runtime};

const NAME: &str = "localhost";
/// Bytes of a write.
const BLOCK: usize = 1 << 17;

fn runtime() -> Result<Runtime> {
    Ok(Builder::new_current_thread().enable_all().build()?)
}

pub(crate) fn over_udp(bytes: u64) -> Result<()> {
    let own = rcgen::generate_simple_self_signed(vec![NAME.to_owned()])?;
    let certificate = CertificateDer::from(own.cert);
    let key = PrivatePkcs8KeyDer::from(own.key_pair.serialize_der());
    let config = ServerConfig::with_single_cert(vec![certificate.clone()], key.into())?;
    let (tell, address) = mpsc::channel();
    let receiver = thread::spawn(move || receive(config, &tell).map_err(|error| error.to_string()));
    let mut roots = RootCertStore::empty();
    roots.add(certificate)?;
    send(address.recv()?, ClientConfig::with_root_certificates(Arc::new(roots))?, bytes)?;
    assert_eq!(receiver.join().map_err(|_| "the receiver failed")??, bytes);
    Ok(())
}

/// Reads a stream to its end; gives how many bytes that were.
fn receive(config: ServerConfig, tell: &mpsc::Sender<SocketAddr>) -> Result<u64> {
    runtime()?.block_on(async {
        let endpoint = Endpoint::server(config, (Ipv4Addr::LOCALHOST, 0).into())?;
        tell.send(endpoint.local_addr()?)?;
        let connection = endpoint.accept().await.ok_or("nobody comes")?.await?;
        let (mut stream, mut read) = (connection.accept_uni().await?, 0);
        while let Some(chunk) = stream.read_chunk(usize::MAX, true).await? {
            read += chunk.bytes.len() as u64;
        }
        connection.close(VarInt::from_u32(0), b"");
        endpoint.wait_idle().await;
        Ok(read)
    })
}

fn send(to: SocketAddr, config: ClientConfig, bytes: u64) -> Result<()> {
    runtime()?.block_on(async {
        let mut endpoint = Endpoint::client((Ipv4Addr::LOCALHOST, 0).into())?;
        endpoint.set_default_client_config(config);
        let connection = endpoint.connect(to, NAME)?.await?;
        let mut stream = connection.open_uni().await?;
        let (block, mut rest) = (vec![7; BLOCK], bytes);
        while rest > 0 {
            let count = rest.min(BLOCK as u64);
            stream.write_all(&block[..count as usize]).await?;
            rest -= count;
        }
        stream.finish()?;
        // Who has read everything closes.
        connection.closed().await;
        Ok(())
    })
}
