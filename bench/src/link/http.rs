//! One connection that asks and is answered.

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{AUTHORIZATION, HOST};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// An open connection; it lives as long as this value.
pub(super) struct Connection {
    host: String,
    bearer: Option<String>,
    sender: SendRequest<Full<Bytes>>,
}

impl Connection {
    /// Opens one to a port of this computer.
    pub(super) async fn open(port: u16, token: Option<&str>) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self {
            host: format!("127.0.0.1:{port}"),
            bearer: token.map(|token| format!("Bearer {token}")),
            sender,
        })
    }

    /// Asks, and returns the answer once it has begun.
    pub(super) async fn begin(
        &mut self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> anyhow::Result<Response<Incoming>> {
        let mut request = Request::builder().method(method).uri(path);
        request = request.header(HOST, &self.host);
        if let Some(bearer) = &self.bearer {
            request = request.header(AUTHORIZATION, bearer);
        }
        let request = request.body(Full::new(body))?;
        self.sender.ready().await?;
        let answer = self.sender.send_request(request).await;
        let answer = answer.context("no answer")?;
        let status = answer.status();
        ensure!(status.is_success(), "{status} from {path}");
        Ok(answer)
    }

    /// Asks, and returns the whole answer.
    pub(super) async fn ask(
        &mut self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> anyhow::Result<Bytes> {
        let answer = self.begin(method, path, body).await?;
        Ok(answer.into_body().collect().await?.to_bytes())
    }
}
