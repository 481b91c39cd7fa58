//! Redis Streams.
//!
//! Set up: an append-only file that is synced after every command (`appendfsync always`), which
//! is Redis' only setting that loses nothing, and neither snapshots nor rewrites of that file
//! while it is measured. A stream per inbox; the consumer reads as a consumer group, blocks
//! while there is nothing, and acknowledges and deletes everything it got with one command
//! each, sent together with the next read.

use std::process::Command;
use std::sync::Arc;

use anyhow::{Context, bail};
use tokio_rustls::rustls::ClientConfig;

use super::super::certificate::Certificate;
use super::super::line::{Line, find_line_end};
use super::super::process::{self, Server, Start};
use super::{Consumer, InOrder, Mark, Peer, Publisher};

/// Redis, plain or over TLS.
#[derive(Clone, Debug)]
pub(in super::super) struct Redis {
    port: u16,
    tls_port: u16,
    tls: Option<Arc<ClientConfig>>,
}

impl Redis {
    pub(in super::super) fn start(
        start: &Start<'_>,
        certificate: &Certificate,
    ) -> anyhow::Result<(Server, Self)> {
        let folder = start.folder.join("redis");
        std::fs::create_dir_all(&folder)?;
        let (port, tls_port) = (process::free_port()?, process::free_port()?);
        let mut command = Command::new("redis-server");
        command.args(["--bind", "127.0.0.1", "--port", &port.to_string()]);
        command.args(["--appendonly", "yes", "--appendfsync", "always"]);
        command.args(["--save", "", "--auto-aof-rewrite-percentage", "0"]);
        command.args([
            "--tls-port",
            &tls_port.to_string(),
            "--tls-auth-clients",
            "no",
        ]);
        command.arg("--tls-cert-file").arg(&certificate.certificate);
        command.arg("--tls-key-file").arg(&certificate.key);
        command
            .arg("--tls-ca-cert-file")
            .arg(&certificate.certificate);
        command.arg("--dir").arg(&folder);
        let mut server = Server::start(&command, start)?;
        server.wait_for(port)?;
        Ok((
            server,
            Self {
                port,
                tls_port,
                tls: None,
            },
        ))
    }

    /// The same server over TLS.
    pub(in super::super) fn secured(&self, tls: &Arc<ClientConfig>) -> Self {
        Self {
            tls: Some(Arc::clone(tls)),
            ..self.clone()
        }
    }

    async fn open(&self) -> anyhow::Result<Line> {
        let port = if self.tls.is_some() {
            self.tls_port
        } else {
            self.port
        };
        Ok(Line::open(port, self.tls.as_ref()).await?)
    }

    async fn order(&self, words: &[&[u8]]) -> anyhow::Result<()> {
        let mut line = self.open().await?;
        add_command(&mut line.out, words);
        line.flush().await?;
        next_value(&mut line).await?;
        Ok(())
    }
}

fn stream(number: u64) -> String {
    format!("inbox{number}")
}

impl Peer for Redis {
    type Publisher = Adder;
    type Consumer = Reader;

    async fn make(&self, number: u64) -> anyhow::Result<()> {
        let stream = stream(number);
        self.order(&[
            b"XGROUP",
            b"CREATE",
            stream.as_bytes(),
            b"g",
            b"0",
            b"MKSTREAM",
        ])
        .await
    }

    async fn clear(&self, number: u64) -> anyhow::Result<()> {
        self.order(&[b"DEL", stream(number).as_bytes()]).await
    }

    async fn publisher(&self, number: u64) -> anyhow::Result<Adder> {
        Ok(Adder {
            line: self.open().await?,
            stream: stream(number),
            order: InOrder::default(),
        })
    }

    async fn consumer(&self, number: u64) -> anyhow::Result<Reader> {
        let mut reader = Reader {
            line: self.open().await?,
            stream: stream(number),
            ids: Vec::new(),
            unanswered: 0,
        };
        reader.ask_for_more();
        reader.line.flush().await?;
        Ok(reader)
    }
}

pub(in super::super) struct Adder {
    line: Line,
    stream: String,
    order: InOrder,
}

impl Publisher for Adder {
    async fn publish(&mut self, body: &[u8]) -> anyhow::Result<()> {
        let words: [&[u8]; 5] = [b"XADD", self.stream.as_bytes(), b"*", b"b", body];
        add_command(&mut self.line.out, &words);
        Ok(())
    }

    async fn flush(&mut self) -> anyhow::Result<()> {
        Ok(self.line.flush().await?)
    }

    async fn confirmed(&mut self, into: &mut Vec<u64>) -> anyhow::Result<()> {
        next_value(&mut self.line).await?;
        self.order.next(into);
        while let Some((_, bytes)) = Value::parse(self.line.arrived())? {
            self.line.take(bytes);
            self.order.next(into);
        }
        Ok(())
    }
}

pub(in super::super) struct Reader {
    line: Line,
    stream: String,
    ids: Vec<Vec<u8>>,
    /// Answers to acknowledgements that come before the next messages.
    unanswered: usize,
}

impl Reader {
    fn ask_for_more(&mut self) {
        let stream = self.stream.as_bytes();
        let words: [&[u8]; 11] = [
            b"XREADGROUP",
            b"GROUP",
            b"g",
            b"c",
            b"COUNT",
            b"256",
            b"BLOCK",
            b"0",
            b"STREAMS",
            stream,
            b">",
        ];
        add_command(&mut self.line.out, &words);
    }
}

impl Consumer for Reader {
    async fn receive(&mut self, into: &mut Vec<Mark>) -> anyhow::Result<()> {
        for _ in 0..std::mem::take(&mut self.unanswered) {
            next_value(&mut self.line).await?;
        }
        // [[stream, [[id, ["b", body]], …]]]
        let answer = next_value(&mut self.line).await?;
        let entries = answer.item(0).and_then(|stream| stream.item(1));
        let Some(Value::List(entries)) = entries else {
            bail!("an unexpected answer");
        };
        for entry in entries {
            let id = entry.item(0).and_then(Value::text).context("no id")?;
            let fields = entry.item(1).context("no fields")?;
            let body = fields.item(1).and_then(Value::text).context("no body")?;
            into.push(Mark::read(body)?);
            self.ids.push(id.to_vec());
        }
        Ok(())
    }

    async fn acknowledge(&mut self) -> anyhow::Result<()> {
        let ids: Vec<Vec<u8>> = std::mem::take(&mut self.ids);
        let stream = self.stream.as_bytes();
        let mut acknowledge: Vec<&[u8]> = vec![b"XACK", stream, b"g"];
        let mut delete: Vec<&[u8]> = vec![b"XDEL", stream];
        acknowledge.extend(ids.iter().map(Vec::as_slice));
        delete.extend(ids.iter().map(Vec::as_slice));
        add_command(&mut self.line.out, &acknowledge);
        add_command(&mut self.line.out, &delete);
        self.unanswered = 2;
        self.ask_for_more();
        Ok(self.line.flush().await?)
    }
}

fn add_command(out: &mut Vec<u8>, words: &[&[u8]]) {
    out.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
    for word in words {
        out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        out.extend_from_slice(word);
        out.extend_from_slice(b"\r\n");
    }
}

async fn next_value(line: &mut Line) -> anyhow::Result<Value> {
    loop {
        if let Some((value, bytes)) = Value::parse(line.arrived())? {
            line.take(bytes);
            return Ok(value);
        }
        line.fill().await?;
    }
}

/// An answer of Redis.
enum Value {
    Text(Vec<u8>),
    List(Vec<Self>),
    /// Numbers, states and nothing.
    Other,
}

impl Value {
    fn item(&self, at: usize) -> Option<&Self> {
        match self {
            Self::List(items) => items.get(at),
            Self::Text(_) | Self::Other => None,
        }
    }

    fn text(&self) -> Option<&[u8]> {
        match self {
            Self::Text(text) => Some(text),
            Self::List(_) | Self::Other => None,
        }
    }

    /// The first value and its length, if it is all there.
    fn parse(bytes: &[u8]) -> anyhow::Result<Option<(Self, usize)>> {
        let Some(end) = find_line_end(bytes) else {
            return Ok(None);
        };
        let head = bytes.get(..end).unwrap_or_default();
        let text = std::str::from_utf8(head)?;
        let rest = text.get(1..).unwrap_or_default();
        let mut at = end + 2;
        match head.first() {
            Some(b'-') => bail!("Redis says {rest}"),
            Some(b'$') if rest != "-1" => {
                let length: usize = rest.parse()?;
                let Some(text) = bytes.get(at..at + length) else {
                    return Ok(None);
                };
                if bytes.len() < at + length + 2 {
                    return Ok(None);
                }
                Ok(Some((Self::Text(text.to_vec()), at + length + 2)))
            }
            Some(b'*') if rest != "-1" => {
                let mut items = Vec::new();
                for _ in 0..rest.parse::<usize>()? {
                    let Some((item, length)) = Self::parse(bytes.get(at..).unwrap_or_default())?
                    else {
                        return Ok(None);
                    };
                    items.push(item);
                    at += length;
                }
                Ok(Some((Self::List(items), at)))
            }
            _ => Ok(Some((Self::Other, at))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_once_all_of_it_is_there() {
        let whole = b"*2\r\n$2\r\nid\r\n*1\r\n$4\r\nb\r\nc\r\n";
        for end in 0..whole.len() {
            assert!(Value::parse(&whole[..end]).unwrap().is_none());
        }
        let (value, bytes) = Value::parse(whole).unwrap().unwrap();
        assert_eq!(bytes, whole.len());
        assert_eq!(
            value.item(1).unwrap().item(0).unwrap().text(),
            Some(&b"b\r\nc"[..])
        );
    }
}
