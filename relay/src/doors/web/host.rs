//! What a request calls this relay, and which page it comes from.
//!
//! Owns: the checks against rebinding of names and against pages of other sites
//! (specification "paired-mailbox/1" 9.6). Pure.

use std::net::IpAddr;

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};

use crate::config::{Hosts, WebConfig};

/// A host and perhaps a port, as in a `Host` header.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Authority {
    host: String,
    port: Option<u16>,
}

impl Authority {
    /// Reads a host with or without a port. IPv6 addresses stand in brackets.
    pub fn parse(text: &str) -> Option<Self> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (address, rest) = rest.split_once(']')?;
                address.parse::<std::net::Ipv6Addr>().ok()?;
                match rest {
                    "" => (address, None),
                    rest => (address, Some(rest.strip_prefix(':')?)),
                }
            }
            None => match text.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte);
        if host.is_empty() || !host.bytes().all(is_known) {
            return None;
        }
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        let port = match port {
            Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(port.parse().ok()?)
            }
            Some(_) => return None,
            None => None,
        };
        Some(Self { host, port })
    }

    fn address(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }

    /// Whether both name the same, where `default` stands for a port that isn't there.
    fn is_same(&self, other: &Self, default: u16) -> bool {
        let port = |authority: &Self| authority.port.unwrap_or(default);
        self.host == other.host && port(self) == port(other)
    }
}

/// Where a request comes from, as far as the checks allow it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum From {
    /// No page of another site.
    Here,
    /// A page of another site that is allowed by name.
    Elsewhere(axum::http::HeaderValue),
}

/// Why a request isn't looked at further.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Stranger {
    /// It calls the relay by a name that isn't its own.
    BadHost,
    /// It comes from a page of another site.
    OriginDenied,
}

/// The names that one door answers to.
#[derive(Debug)]
pub(crate) struct Names {
    hosts: Hosts,
    /// Of `hosts`, as they are compared.
    listed: Vec<Authority>,
    origins: Vec<String>,
}

impl Names {
    pub(crate) fn new(config: &WebConfig) -> Self {
        let names = match &config.hosts {
            Hosts::Any => &[][..],
            Hosts::Listed(names) | Hosts::Own { names } => names,
        };
        Self {
            hosts: config.hosts.clone(),
            listed: names
                .iter()
                .filter_map(|name| Authority::parse(name))
                .collect(),
            origins: config.origins.clone(),
        }
    }

    /// Checks both headers of a request that arrived at `local`.
    pub(crate) fn check(&self, headers: &HeaderMap, local: IpAddr) -> Result<From, Stranger> {
        let mut hosts = headers.get_all(HOST).iter();
        let (first, second) = (hosts.next(), hosts.next());
        let host = first
            .filter(|_| second.is_none())
            .and_then(|host| host.to_str().ok())
            .and_then(Authority::parse);
        if !self.is_ours(host.as_ref(), local) {
            return Err(Stranger::BadHost);
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        match (origins.next(), origins.next()) {
            (None, _) => Ok(From::Here),
            (Some(origin), None) => self.check_origin(origin, host.as_ref()),
            (Some(_), Some(_)) => Err(Stranger::OriginDenied),
        }
    }

    fn is_ours(&self, host: Option<&Authority>, local: IpAddr) -> bool {
        let is_listed = |host: &Authority| {
            self.listed.iter().any(|name| {
                name.host == host.host && (name.port.is_none() || name.port == host.port)
            })
        };
        match (&self.hosts, host) {
            (Hosts::Any, _) => true,
            (_, None) => false,
            (Hosts::Listed(_), Some(host)) => is_listed(host),
            (Hosts::Own { .. }, Some(host)) => {
                let is_local = |address: IpAddr| address.to_canonical() == local.to_canonical();
                host.address().is_some_and(is_local) || host.host == "localhost" || is_listed(host)
            }
        }
    }

    fn check_origin(
        &self,
        origin: &axum::http::HeaderValue,
        host: Option<&Authority>,
    ) -> Result<From, Stranger> {
        let text = origin.to_str().map_err(|_| Stranger::OriginDenied)?;
        if self.origins.iter().any(|allowed| allowed == text) {
            return Ok(From::Elsewhere(origin.clone()));
        }
        let site = match (text.strip_prefix("http://"), text.strip_prefix("https://")) {
            (Some(site), _) => Authority::parse(site).map(|site| (site, 80)),
            (_, Some(site)) => Authority::parse(site).map(|site| (site, 443)),
            (None, None) => None,
        };
        match (site, host) {
            (Some((site, port)), Some(host)) if site.is_same(host, port) => Ok(From::Here),
            _ => Err(Stranger::OriginDenied),
        }
    }
}
