//! The desktop app of Sealpost: a window, a tray, and everything behind them.
//!
//! Owns the shell around the engine and the relay. [`controller`] holds all of the app's
//! logic and knows no window; [`commands`] forwards what the window asks for; [`view`] is
//! what the two of them say to each other; [`desktop`] and [`tray`] are the real screen.
//! No rule of delivery, pairing, membership or storage is here.

pub mod app;
pub mod app_error;
pub mod catalogue;
pub mod commands;
pub mod controller;
pub mod desktop;
pub mod local_address;
pub mod log;
pub mod notification;
pub mod options;
pub mod qr_code;
pub mod rendering;
pub mod screen_lock;
pub mod second_start;
pub mod settings;
pub mod start_at_login;
pub mod tray;
pub mod view;
pub mod web_process;
pub mod window;
pub mod window_frame;

#[cfg(test)]
mod bindings;
