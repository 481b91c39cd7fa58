//! A client of few words: it says what a test says and shows what comes back.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

/// What a relay answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(key, _)| key == name);
        let value = found.next().map(|(_, value)| value.as_str());
        assert!(found.next().is_none(), "{name} stands twice");
        value
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.header(name).map(|value| value.parse().unwrap())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// Status and error code, which have to agree in header and body.
    pub(crate) fn said(&self) -> (u16, &str) {
        let code = self.header("x-relay-error").unwrap_or_default();
        if self.status >= 400 && !self.body.is_empty() {
            assert_eq!(self.json()["error"], code);
            assert!(self.json()["detail"].is_string());
        }
        (self.status, code)
    }
}

/// A request in the making.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    method: String,
    path: String,
    host: Option<String>,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    pub(crate) fn new(method: &str, path: &str) -> Self {
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            host: Some("relay.test".to_owned()),
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    pub(crate) fn host(mut self, host: Option<&str>) -> Self {
        self.host = host.map(str::to_owned);
        self
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn bearer(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn body(mut self, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self
    }

    pub(crate) fn head(&self) -> String {
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        if let Some(host) = &self.host {
            text.push_str(&format!("Host: {host}\r\n"));
        }
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !self.body.is_empty() || self.method == "PUT" {
            text.push_str(&format!("Content-Length: {}\r\n", self.body.len()));
        }
        text + "\r\n"
    }

    /// Sends it on a connection of its own.
    pub(crate) async fn send(&self, port: u16) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        self.send_on(&mut stream).await
    }

    /// Sends it on a connection that stays.
    pub(crate) async fn send_on(
        &self,
        stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    ) -> Answer {
        // In one write, so that nothing waits for the acknowledgement of its first half. A
        // relay that refuses a body may close before it has read it.
        let request = [self.head().as_bytes(), &self.body].concat();
        let _ = stream.write_all(&request).await;
        read_answer(stream, self.method == "HEAD").await.unwrap()
    }
}

/// The next answer of a connection; none if it has been closed.
pub(crate) async fn read_answer(
    stream: &mut (impl AsyncRead + Unpin),
    is_head: bool,
) -> Option<Answer> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let mut answer = Answer {
        status: status.parse().unwrap(),
        headers,
        body: Vec::new(),
    };
    let length = answer.number("content-length").unwrap_or_default();
    if !is_head {
        answer.body.resize(usize::try_from(length).unwrap(), 0);
        stream.read_exact(&mut answer.body).await.ok()?;
    }
    Some(answer)
}
