//! The addresses of this computer at which other devices of its network can reach it.
//!
//! Owns the choice and its order. It reads the list of interfaces and sends nothing.
//! Interfaces of containers, virtual machines and tunnels are left out, because an
//! invitation that names one of them works nowhere else.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The beginnings of the names of interfaces that lead to no other computer of the network:
/// containers, virtual machines, tunnels and private networks.
const VIRTUAL_PREFIXES: [&str; 20] = [
    "br-",
    "cni",
    "docker",
    "ipsec",
    "lxc",
    "lxd",
    "podman",
    "ppp",
    "tailscale",
    "tap",
    "tun",
    "utun",
    "vboxnet",
    "veth",
    "vethernet",
    "virbr",
    "vmnet",
    "wg",
    "wsl",
    "zt",
];

/// An address of one interface.
struct Candidate {
    interface: String,
    address: IpAddr,
}

/// The addresses at which this computer can be reached, best first, as hosts of a relay
/// address. Empty without a network.
pub fn reachable() -> Vec<String> {
    let interfaces = if_addrs::get_if_addrs().unwrap_or_default();
    order(interfaces.into_iter().map(|interface| Candidate {
        address: interface.ip(),
        interface: interface.name,
    }))
}

/// The host that an invitation names when the person chose none.
pub fn host_for_invitations(reachable: &[String]) -> String {
    reachable
        .first()
        .cloned()
        .unwrap_or_else(|| Ipv4Addr::LOCALHOST.to_string())
}

fn order(candidates: impl Iterator<Item = Candidate>) -> Vec<String> {
    let mut ranked: Vec<(Rank, IpAddr)> = candidates
        .filter(|candidate| !is_virtual(&candidate.interface))
        .filter_map(|candidate| Some((Rank::of(candidate.address)?, candidate.address)))
        .collect();
    ranked.sort();
    ranked.dedup();
    ranked
        .into_iter()
        .map(|(_, address)| address.to_string())
        .collect()
}

fn is_virtual(interface: &str) -> bool {
    let name = interface.to_lowercase();
    VIRTUAL_PREFIXES
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// How good an address is in an invitation, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Private,
    Public,
    UniqueLocal,
    Global,
}

impl Rank {
    /// The rank of an address; nothing for one that only this computer or this link knows.
    fn of(address: IpAddr) -> Option<Self> {
        match address {
            IpAddr::V4(address) => Self::of_v4(address),
            IpAddr::V6(address) => Self::of_v6(address),
        }
    }

    fn of_v4(address: Ipv4Addr) -> Option<Self> {
        if address.is_loopback() || address.is_link_local() || address.is_unspecified() {
            None
        } else if address.is_private() {
            Some(Self::Private)
        } else {
            Some(Self::Public)
        }
    }

    fn of_v6(address: Ipv6Addr) -> Option<Self> {
        if address.is_loopback() || address.is_unicast_link_local() || address.is_unspecified() {
            None
        } else if address.is_unique_local() {
            Some(Self::UniqueLocal)
        } else {
            Some(Self::Global)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(list: &[(&str, &str)]) -> Vec<String> {
        order(list.iter().map(|(interface, address)| Candidate {
            interface: (*interface).to_owned(),
            address: address.parse().expect("an address"),
        }))
    }

    #[test]
    fn the_address_of_the_local_network_comes_first() {
        let list = [
            ("lo", "127.0.0.1"),
            ("lo", "::1"),
            ("tun0", "10.8.0.2"),
            ("docker0", "172.17.0.1"),
            ("br-1a2b3c", "172.18.0.1"),
            ("eth0", "fe80::1"),
            ("eth0", "2001:db8::7"),
            ("eth0", "fd00::7"),
            ("eth1", "203.0.113.9"),
            ("wlan0", "192.168.1.7"),
        ];
        assert_eq!(
            ordered(&list),
            ["192.168.1.7", "203.0.113.9", "fd00::7", "2001:db8::7"]
        );
    }

    #[test]
    fn without_a_network_an_invitation_names_this_computer_itself() {
        assert_eq!(
            ordered(&[("lo", "127.0.0.1"), ("eth0", "169.254.3.4")]),
            [""; 0]
        );
        assert_eq!(host_for_invitations(&[]), "127.0.0.1");
    }
}
