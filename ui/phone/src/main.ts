import { takeFragment } from "./fragment";
import { App } from "./app";
import "../../src/styles/tokens.css";
import "../../src/styles/base.css";
import "../../src/styles/controls.css";
import "./phone.css";
import "./screens.css";
import "./conversation.css";

const root = document.getElementById("app");
if (root === null) throw new Error("index.html has no #app");
new App(root).start(takeFragment());
