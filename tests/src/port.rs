//! Free TCP ports.
//!
//! A port is free when it is handed out. Programs that can bind port 0 should do that
//! instead; this is for those whose port has to be the same after a restart.

use std::net::TcpListener;

use anyhow::Context as _;

/// Returns `N` different ports that nobody listens on.
///
/// # Errors
///
/// When the system has no free port.
pub fn free_ports<const N: usize>() -> anyhow::Result<[u16; N]> {
    // All listeners stay open until the last port is known, so the ports differ.
    let mut listeners = Vec::with_capacity(N);
    let mut ports = [0; N];
    for port in &mut ports {
        let listener = TcpListener::bind(("127.0.0.1", 0)).context("no free port")?;
        *port = listener.local_addr()?.port();
        listeners.push(listener);
    }
    Ok(ports)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_differ_and_can_be_bound() {
        let ports: [u16; 8] = free_ports().unwrap();
        let mut sorted = ports.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), ports.len());
        assert!(
            ports
                .iter()
                .all(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        );
    }
}
