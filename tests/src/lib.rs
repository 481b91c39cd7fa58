//! Whole-system tests: the real programs, started, killed and looked at from outside.
//!
//! This library is the harness. It owns every process it starts: each sits in a process
//! group of its own that ends with the value that holds it, also when a test panics. It
//! never touches a process that it didn't start, and never a port, a folder, a session bus
//! or a keychain that somebody else uses.
//!
//! | noun | what it stands for |
//! |---|---|
//! | [`program`] | a built program of the workspace |
//! | [`process`] | a running process that ends with its value |
//! | [`relay_process`] | the stand-alone relay |
//! | [`device_process`] | a device: one profile of the command-line client |
//! | [`desktop`] | a screen, a session bus and a Secret Service of their own |
//! | [`session_bus`] | a tray and notifications, as a desktop has them |
//! | [`page`] | what a driver shows of a page |
//! | [`driver`] | one window of the app, driven by WebDriver |
//! | [`local_network`] | a computer and a phone on a wire of their own |
//! | [`phone`] | a phone's browser on that wire |
//! | [`conversation`] | two devices that talk while everything is killed |
//! | [`delivery_account`] | what was sent, what was shown, and the difference |
//! | [`soak`] | many devices that push and receive while the relay is killed |
//! | [`relay_session`] | a raw session with a relay, without the engine |
//! | [`stream_account`] | what a relay acknowledged, what it delivered, and the difference |
//! | [`hostile_relay`] | a relay that does what it likes |
//! | [`link_simulation`] | two linked devices, their mailbox and what goes wrong with them |
//! | [`membership_simulation`] | groups that form and lose members, without anything else |
//! | [`simulation`] | whole groups in one thread, without a program |
//! | [`stepped_clock`] | the wall clock that a real program sees, moved |
//! | [`terminal`] | what the programs of this crate say |
//! | [`log_canary`] | words that no log may contain |

pub mod conversation;
pub mod delivery_account;
pub mod desktop;
pub mod device_process;
pub mod driver;
pub mod hostile_relay;
pub mod link_simulation;
pub mod local_network;
pub mod log_canary;
pub mod membership_simulation;
pub mod page;
pub mod phone;
pub mod port;
pub mod process;
pub mod program;
pub mod relay_process;
pub mod relay_session;
pub mod secret_service;
pub mod session_bus;
pub mod simulation;
pub mod soak;
pub mod stepped_clock;
pub mod stream_account;
pub mod terminal;
