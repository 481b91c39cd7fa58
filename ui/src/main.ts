import { mount } from "svelte";
import App from "./App.svelte";
import { type Channel, makeApi, tauriChannel } from "./api";
import { Desk } from "./state.svelte";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/layout.css";

const target = document.getElementById("app");
if (target === null) throw new Error("index.html has no #app");

const desk = new Desk(makeApi(await openChannel()));
mount(App, { target, props: { desk } });
await desk.open();

function openChannel(): Promise<Channel> {
  // Sample data is compiled in only where the build asks for it.
  if (__SAMPLES__) return import("./samples/channel").then(({ sampleChannel }) => sampleChannel());
  return tauriChannel();
}
