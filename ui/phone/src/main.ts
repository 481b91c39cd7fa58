import { listenForFragment, takeFragment } from "./fragment";
import { App } from "./app";
import "../../src/styles/tokens.css";
import "../../src/styles/base.css";
import "../../src/styles/controls.css";
import "./phone.css";
import "./screens.css";
import "./conversation.css";

const root = document.getElementById("app");
if (root === null) throw new Error("index.html has no #app");
const app = new App(root);
void app.start(takeFragment()).then(() => listenForFragment((fragment) => app.take(fragment)));
