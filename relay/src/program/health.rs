//! `health`: asks a running relay how it is, for container health checks and scripts.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use super::arguments::Place;
use super::explanation::Explanation;
use super::print;
use super::setup::Setup;

/// The longest wait for each step of an answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Bytes of an answer that are looked at; `/healthz` says less.
const ANSWER_BYTES_MAX: u64 = 4_096;

/// Asks `/healthz` of the configured port.
pub(crate) fn check(place: &Place) -> Result<(), Explanation> {
    let setup = Setup::load(place, &[])?;
    let address = setup
        .config
        .listen_health
        .filter(|address| address.port() != 0)
        .ok_or_else(Explanation::no_health_port)?;
    let answer = ask(reachable(address)).map_err(|error| Explanation::no_health_answer(&error))?;
    match answer.split(' ').nth(1) {
        Some("200") => print("The relay is well."),
        Some("503") => Err(Explanation::unwell()),
        _ => Err(Explanation::no_health_answer(
            &io::ErrorKind::InvalidData.into(),
        )),
    }
}

/// Where this machine reaches what listens on `address`: everywhere includes the loopback.
fn reachable(address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), address.port())
    } else {
        address
    }
}

fn ask(address: SocketAddr) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: relay\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
